package lint

import (
	"fmt"
	"slices"
	"strings"

	"backstop/audit"
	"backstop/rules/lifecycle/infra"
	"backstop/store/etcdmanager"
	"backstop/store/kops"
)

// An object is an object of a file that may be one of a backup store's.
type object struct {
	infra.Object
	file *File
}

// objectsOf are the objects of all files.
func objectsOf(in *Input) []object {
	var all []object
	for i := range in.Files {
		for _, o := range in.Files[i].Objects {
			all = append(all, object{o, &in.Files[i]})
		}
	}
	return all
}

// A lot is a bucket change with its file.
type lot struct {
	infra.BucketChange
	file *File
}

// buckets are the buckets that the files delete.
func (j *judgement) buckets() []lot {
	var all []lot
	for i := range j.Files {
		for _, b := range j.Files[i].Buckets {
			all = append(all, lot{b, &j.Files[i]})
		}
	}
	return all
}

// found begins a finding about the object.
func (o object) found(severity audit.Severity, format string, args ...any) audit.LintFinding {
	return audit.LintFinding{Finding: audit.Found(severity, format, args...), File: o.file.Name, Line: o.Line, Source: o.Source}
}

// controlFile gives the root of the store that a key is a control file of.
func controlFile(key string) (root, name string, ok bool) {
	for _, path := range []string{etcdmanager.CreatedPath, etcdmanager.SpecPath} {
		if key == path {
			return "", path, true
		}
		if root, ok := strings.CutSuffix(key, "/"+path); ok {
			return root, path, true
		}
	}
	return "", "", false
}

// concerns reports whether the object is a control file, or tells etcd-manager
// where its store is.
func (o object) concerns() bool {
	for _, key := range []string{o.At.Key, o.Was.Key} {
		if _, _, ok := controlFile(key); ok {
			return true
		}
	}
	return len(backupStores(o.Object.At.Key, o.Content))+len(backupStores(o.Object.Was.Key, o.Before)) > 0
}

// mayConcern reports whether an object whose key is not known may lie in a bucket
// of the stores.
func (o object) mayConcern(stores []Store) bool {
	for i := range stores {
		b := o.At.Bucket
		if !b.New && (b.Name == "" || stores[i].bucket() == "" || stores[i].bucket() == b.Name) {
			return true
		}
	}
	return false
}

// storeAt finds the store of a place among those that were given.
func (j *judgement) storeAt(bucket, root string) *Store {
	for i := range j.Stores {
		st := &j.Stores[i]
		if st.prefix() == strings.Trim(root, "/") && (st.bucket() == "" || bucket == "" || st.bucket() == bucket) {
			return st
		}
	}
	return nil
}

// placeName names a store that is not among those that were given.
func placeName(b infra.BucketRef, root string) string {
	bucket := b.Name
	if bucket == "" {
		bucket = "(a bucket that is known only when the code is applied)"
	}
	return strings.TrimSuffix("s3://"+bucket+"/"+root, "/")
}

// listed reports whether everything was listed where a store would lie.
func (j *judgement) listed(bucket, root string) bool {
	return slices.ContainsFunc(j.Places, func(p Place) bool { return p.holds(bucket, root) })
}

// isNewIn reports whether the object is the spec of a store that is still to come
// to a place.
func (o object) isNewIn(p Place) bool {
	root, path, ok := controlFile(o.At.Key)
	return ok && path == etcdmanager.SpecPath && o.Change == infra.Creates && p.holds(o.At.Bucket.Name, root)
}

// backupStores gives the location of each etcd cluster's store that a document of
// kops tells: its cluster documents, and the manifests of etcd-manager.
func backupStores(key string, content *string) map[string]string {
	if content == nil {
		return nil
	}
	if _, _, ok := kops.IsClusterKey(key); ok {
		return clusterStores(key, *content)
	}
	return manifestStores(key, *content)
}

func clusterStores(key, content string) map[string]string {
	if len(content) > kops.DocumentLimit {
		return nil
	}
	c, err := kops.Parse([]byte(content), key)
	if err != nil {
		return nil
	}
	stores := map[string]string{}
	for _, e := range c.Etcd {
		if e.BackupStore != "" {
			stores[c.Name+"/"+e.Name] = e.BackupStore
		}
	}
	return stores
}

// manifestStores reads the flag of etcd-manager in a manifest.
func manifestStores(key, content string) map[string]string {
	const flag = "--backup-store="
	_, after, ok := strings.Cut(content, flag)
	if !ok || !strings.Contains(content, "etcd-manager") {
		return nil
	}
	end := strings.IndexAny(after, " \t\r\n\"'")
	if end < 0 {
		end = len(after)
	}
	if after[:end] == "" {
		return nil
	}
	return map[string]string{"the etcd-manager of " + key: after[:end]}
}

var deletesControlFile = Rule{
	ID:         "lint/deletes-control-file",
	Title:      "the code deletes a control file of a backup store",
	Severities: []audit.Severity{audit.Critical},
	whole: func(j *judgement) []audit.LintFinding {
		var all []audit.LintFinding
		for _, o := range j.objects {
			root, path, ok := controlFile(o.Was.Key)
			if !ok || o.Change != infra.Deletes && o.Change != infra.Replaces || o.moves() {
				continue
			}
			then := "Backups stop when the leader next changes."
			if path == etcdmanager.CreatedPath {
				then = "If etcd-cluster-spec is there, etcd-manager then makes a NEW, EMPTY cluster within seconds; if not, the next write of it does."
			}
			f := o.found(audit.Critical, "%s deletes %s of the store %s. %s", o.Source, path, placeName(o.Was.Bucket, root), then)
			f.Key, f.Expected = o.Was.Key, "no plan that deletes a control file"
			f.Finding = f.Saw("it is deleted", "a control file is never deleted").Todo("Do NOT apply it.",
				"If the resource should only leave Terraform's care, take it out of the state: terraform state rm '"+o.Source+"', or a removed block with destroy = false.")
			all = append(all, f)
		}
		return all
	},
}

var deletesBucket = Rule{
	ID:         "lint/deletes-bucket",
	Title:      "the code deletes a bucket that holds backup stores",
	Severities: []audit.Severity{audit.Critical, audit.Warning},
	whole: func(j *judgement) []audit.LintFinding {
		var all []audit.LintFinding
		for _, b := range j.buckets() {
			var inside []string
			for i := range j.Stores {
				if st := &j.Stores[i]; b.Bucket.Name != "" && st.bucket() == b.Bucket.Name {
					inside = append(inside, st.url())
				}
			}
			if len(inside) == 0 {
				continue
			}
			severity, how := audit.Warning, "S3 refuses to delete a bucket that is not empty, so that this change fails, or the next one empties it."
			if b.Force {
				severity, how = audit.Critical, "With force_destroy everything in it is deleted, all versions included."
			}
			f := audit.LintFinding{Finding: audit.Found(severity, "%s deletes the bucket %s, which holds %s: %s. %s", b.Source, b.Bucket.Name, plural(len(inside), "store"), list(inside), how),
				File: b.file.Name, Line: b.Line, Source: b.Source}
			f.Finding = f.Todo("Do NOT apply it.", fmt.Sprintf("If %s should only leave Terraform's care: terraform state rm '%s'.", b.Bucket.Name, b.Source))
			all = append(all, f)
		}
		return all
	},
}
