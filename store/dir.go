package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"backstop/audit"
)

// DirFacts is the name of the optional file beside a copied store that tells
// what a directory cannot: versioning, lifecycle, versions. Its format is in
// docs/directories.md.
const DirFacts = "bucket.json"

// A Dir is a directory that stands for a bucket: a copy of one, or etcd-manager's
// own file:// store. Modification times stand for LastModified.
type Dir struct {
	root  string // as people name it
	fsys  fs.FS
	facts dirFacts
}

var _ Bucket = (*Dir)(nil)

// dirFacts is the content of bucket.json. Each part is what the AWS CLI prints,
// fields that are not read here included. A part that is not there is unseen;
// one that is null is unset.
type dirFacts struct {
	Format int    `json:"backstop_bucket"`
	Root   string `json:"root"`
	// Name and Region are the copied bucket's, for people.
	Name   string `json:"name"`
	Region string `json:"region"`
	// Versioning is the output of `aws s3api get-bucket-versioning`.
	Versioning json.RawMessage `json:"versioning"`
	// Lifecycle is the output of get-bucket-lifecycle-configuration, or a
	// string that holds the XML document.
	Lifecycle json.RawMessage `json:"lifecycle"`
	// ObjectLock, PublicAccessBlock, PolicyStatus, Encryption and Uploads are
	// the outputs of get-object-lock-configuration, get-public-access-block,
	// get-bucket-policy-status, get-bucket-encryption and
	// list-multipart-uploads.
	ObjectLock        json.RawMessage `json:"object_lock"`
	PublicAccessBlock json.RawMessage `json:"public_access_block"`
	PolicyStatus      json.RawMessage `json:"policy_status"`
	Encryption        json.RawMessage `json:"encryption"`
	Uploads           json.RawMessage `json:"uploads"`
	// Versions is the output of list-object-versions.
	Versions json.RawMessage `json:"versions"`
	// Listing is the output of list-objects-v2. It gives back what copying
	// lost: LastModified, ETag and storage class.
	Listing json.RawMessage `json:"listing"`
	// Tags maps keys to tags.
	Tags json.RawMessage `json:"tags"`

	byKey    map[string]dirObject
	versions struct{ Versions, DeleteMarkers []dirVersion }
	tags     map[string]map[string]string
}

type dirObject struct {
	Key          string
	Size         int64
	LastModified time.Time
	ETag         string
	StorageClass string
}

type dirVersion struct {
	dirObject
	VersionID string `json:"VersionId"`
	IsLatest  bool
}

// OpenDir opens a directory as a bucket, and gives the key prefix in it that
// dir stands for. Without a bucket.json the directory itself is the bucket.
// With one, in dir or a directory above it, the bucket is the directory that
// the file's "root" names.
func OpenDir(dir string) (*Dir, string, error) {
	dir = filepath.Clean(dir)
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, "", &Error{Op: "open directory", Object: dir, Cause: audit.CauseNoBucket, Err: errors.New("there is no such directory; an S3 bucket is written s3://NAME")}
	case err != nil:
		return nil, "", &Error{Op: "open directory", Object: dir, Cause: pathCause(err), Err: err}
	case !info.IsDir():
		return nil, "", &Error{Op: "open directory", Object: dir, Cause: audit.CauseNoBucket, Err: errors.New("it is a file; STORE is a directory or s3://BUCKET[/PREFIX]")}
	}
	facts, root, err := findDirFacts(dir)
	if err != nil {
		return nil, "", err
	}
	prefix := ""
	if root == "" {
		root = dir
	} else if prefix, err = relativeKey(root, dir); err != nil {
		return nil, "", &Error{Op: "open directory", Object: dir, Cause: audit.CauseOther, Err: err}
	}
	// os.Root keeps a symbolic link in a copied store from leading out of it.
	opened, err := os.OpenRoot(root)
	if err != nil {
		return nil, "", &Error{Op: "open directory", Object: root, Cause: pathCause(err), Err: err}
	}
	return &Dir{root: root, fsys: opened.FS(), facts: facts}, prefix, nil
}

// DirFS makes a Dir of any file system, without facts beside it.
func DirFS(name string, fsys fs.FS) *Dir { return &Dir{root: name, fsys: fsys} }

func relativeKey(root, dir string) (string, error) {
	absRoot, err := filepath.Abs(root)
	if err != nil {
		return "", err
	}
	absDir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(absRoot, absDir)
	if err != nil {
		return "", err
	}
	if rel == "." {
		return "", nil
	}
	return filepath.ToSlash(rel), nil
}

// findDirFacts looks for a bucket.json in dir and above it, and takes the
// nearest whose root holds dir.
func findDirFacts(dir string) (facts dirFacts, root string, err error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return dirFacts{}, "", &Error{Op: "open directory", Object: dir, Cause: audit.CauseOther, Err: err}
	}
	for at := abs; ; at = filepath.Dir(at) {
		name := filepath.Join(at, DirFacts)
		body, err := os.ReadFile(name)
		switch {
		case err == nil:
			facts, err := parseDirFacts(body)
			if err != nil {
				return dirFacts{}, "", &Error{Op: "read", Object: name, Cause: audit.CauseMalformed, Err: fmt.Errorf("%w; its format is in docs/directories.md", err)}
			}
			root := filepath.Join(at, filepath.FromSlash(facts.Root))
			if abs == root || strings.HasPrefix(abs, strings.TrimSuffix(root, string(filepath.Separator))+string(filepath.Separator)) {
				return facts, root, nil
			}
		case !errors.Is(err, fs.ErrNotExist) && at == abs:
			return dirFacts{}, "", &Error{Op: "read", Object: name, Cause: pathCause(err), Err: err}
		}
		if at == filepath.Dir(at) {
			return dirFacts{}, "", nil
		}
	}
}

// parseDirFacts reads a bucket.json strictly: a misspelt part would be a fact
// that is silently unseen.
func parseDirFacts(body []byte) (dirFacts, error) {
	var f dirFacts
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return dirFacts{}, err
	}
	switch {
	case f.Format != 1:
		return dirFacts{}, fmt.Errorf(`"backstop_bucket" is %d, want 1`, f.Format)
	case f.Root == "":
		return dirFacts{}, errors.New(`"root" is missing: it names the directory that stands for the bucket, relative to this file ("." is the directory that the file is in)`)
	}
	var listing struct{ Contents []dirObject }
	for part, read := range map[string]struct {
		raw  json.RawMessage
		into any
	}{"listing": {f.Listing, &listing}, "versions": {f.Versions, &f.versions}, "tags": {f.Tags, &f.tags}} {
		if read.raw == nil {
			continue
		}
		if err := json.Unmarshal(read.raw, read.into); err != nil {
			return dirFacts{}, fmt.Errorf("%q: %w", part, err)
		}
	}
	f.byKey = map[string]dirObject{}
	for _, o := range listing.Contents {
		f.byKey[o.Key] = o
	}
	return f, nil
}

func pathCause(err error) audit.Cause {
	if errors.Is(err, fs.ErrPermission) {
		return audit.CauseDenied
	}
	return audit.CauseOther
}

// Name implements Bucket.
func (d *Dir) Name() string { return cmp.Or(d.facts.Name, d.root) }

// Region implements Bucket.
func (d *Dir) Region() string { return d.facts.Region }

// Endpoint implements Bucket.
func (d *Dir) Endpoint() string { return "" }

// URL implements Bucket: a path.
func (d *Dir) URL(key string) string { return filepath.Join(d.root, filepath.FromSlash(key)) }

// Fork implements Bucket. A directory costs nothing worth counting.
func (d *Dir) Fork() Bucket { return d }

// Usage implements Bucket.
func (d *Dir) Usage() audit.Usage { return audit.Usage{} }

// ClockOffset implements Bucket: a directory has no clock of its own.
func (d *Dir) ClockOffset() audit.Fact[time.Duration] { return audit.None[time.Duration]() }

// List implements Bucket.
func (d *Dir) List(ctx context.Context, in ListInput) iter.Seq2[audit.Object, error] {
	return func(yield func(audit.Object, error) bool) {
		d.walk(ctx, ".", in, func(o audit.Object, err error) bool { return yield(o, err) })
	}
}

// walk lists dir in the byte order of keys, which is not the order of a walk
// over directories: "a-b" comes before "a/b". It reports whether to go on.
func (d *Dir) walk(ctx context.Context, dir string, in ListInput, yield func(audit.Object, error) bool) bool {
	entries, err := fs.ReadDir(d.fsys, dir)
	if err != nil {
		yield(audit.Object{}, &Error{Op: "list", Object: d.URL(dir), Cause: pathCause(err), Err: err})
		return false
	}
	keys := make([]string, 0, len(entries))
	byKey := make(map[string]fs.DirEntry, len(entries))
	for _, e := range entries {
		key := strings.TrimPrefix(path.Join(dir, e.Name()), "./")
		if e.IsDir() {
			key += "/"
		}
		keys = append(keys, key)
		byKey[key] = e
	}
	slices.Sort(keys)
	for _, key := range keys {
		if !d.visit(ctx, key, byKey[key], in, yield) {
			return false
		}
	}
	return true
}

func (d *Dir) visit(ctx context.Context, key string, e fs.DirEntry, in ListInput, yield func(audit.Object, error) bool) bool {
	if err := ctx.Err(); err != nil {
		yield(audit.Object{}, &Error{Op: "list", Object: d.URL(in.Prefix), Cause: audit.CauseTimeout, Err: err})
		return false
	}
	if e.IsDir() {
		below := strings.HasPrefix(key, in.Prefix) || strings.HasPrefix(in.Prefix, key)
		if !below || key+"\U0010FFFF" <= in.StartAfter {
			return true
		}
		return d.walk(ctx, strings.TrimSuffix(key, "/"), in, yield)
	}
	if !strings.HasPrefix(key, in.Prefix) || key <= in.StartAfter || key == DirFacts {
		return true
	}
	// Stat follows a symbolic link, as far as it stays inside the root.
	info, err := fs.Stat(d.fsys, key)
	switch {
	case errors.Is(err, fs.ErrNotExist) && e.Type()&fs.ModeSymlink == 0:
		return true // deleted since the directory was read
	case err != nil:
		return yield(audit.Object{}, &Error{Op: "list", Object: d.URL(key), Cause: pathCause(err), Err: err}) && false
	case !info.Mode().IsRegular():
		err := fmt.Errorf("it is neither a file nor a directory (%v), and was not followed; take it out of the copy", info.Mode().Type())
		return yield(audit.Object{}, &Error{Op: "list", Object: d.URL(key), Cause: audit.CauseOther, Err: err}) && false
	}
	return yield(d.object(key, info), nil)
}

// object is what the listing beside the copy says of a file, if there is one,
// and else what the file system says.
func (d *Dir) object(key string, info fs.FileInfo) audit.Object {
	o := audit.Object{Key: key, Size: info.Size(), LastModified: info.ModTime().UTC()}
	if known, ok := d.facts.byKey[key]; ok {
		o.LastModified, o.ETag, o.StorageClass = known.LastModified.UTC(), known.ETag, known.StorageClass
	}
	return o
}

// Folders implements Bucket: a directory is listed at once.
func (d *Dir) Folders(context.Context, string) ([]string, error) { return nil, nil }

// ListVersions implements Bucket from the versions beside the copy.
func (d *Dir) ListVersions(ctx context.Context, prefix string) iter.Seq2[audit.Version, error] {
	return func(yield func(audit.Version, error) bool) {
		status, err := d.Versioning(ctx)
		switch {
		case err == nil && status.Status == "":
			// Of a bucket that was never versioned the files are all there is.
			for o, err := range d.List(ctx, ListInput{Prefix: prefix}) {
				if !yield(audit.Version{Object: o, VersionID: "null", Latest: true}, err) || err != nil {
					return
				}
			}
			return
		case d.facts.Versions == nil:
			yield(audit.Version{}, d.untold("list versions", "versions", "s3:ListBucketVersions"))
			return
		}
		var all []audit.Version
		add := func(vs []dirVersion, marker bool) {
			for _, v := range vs {
				if strings.HasPrefix(v.Key, prefix) {
					all = append(all, audit.Version{
						Object:    audit.Object{Key: v.Key, Size: v.Size, LastModified: v.LastModified.UTC(), ETag: v.ETag, StorageClass: v.StorageClass},
						VersionID: v.VersionID, Latest: v.IsLatest, Marker: marker,
					})
				}
			}
		}
		add(d.facts.versions.Versions, false)
		add(d.facts.versions.DeleteMarkers, true)
		slices.SortStableFunc(all, func(a, b audit.Version) int {
			return cmp.Or(cmp.Compare(a.Key, b.Key), boolCompare(b.Latest, a.Latest), b.LastModified.Compare(a.LastModified))
		})
		for _, v := range all {
			if !yield(v, nil) {
				return
			}
		}
	}
}

func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// Get implements Bucket.
func (d *Dir) Get(ctx context.Context, key string, limit int64) (audit.Document, error) {
	failed := func(cause audit.Cause, err error) (audit.Document, error) {
		return audit.Document{}, &Error{Op: "read", Object: d.URL(key), Cause: cause, Err: err}
	}
	if err := ctx.Err(); err != nil {
		return failed(audit.CauseTimeout, err)
	}
	f, err := d.fsys.Open(key)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrInvalid), errors.Is(err, syscall.ENOTDIR):
		return failed(audit.CauseOther, ErrMissing)
	case err != nil:
		return failed(pathCause(err), err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return failed(pathCause(err), err)
	}
	if info.IsDir() {
		return failed(audit.CauseOther, ErrMissing)
	}
	doc := audit.Document{Object: d.object(key, info)}
	switch {
	case doc.Archived():
		doc.Unreadable = "archived in storage class " + doc.StorageClass
		return doc, nil
	case info.Size() > limit:
		return failed(audit.CauseTooBig, fmt.Errorf("it has %d bytes, and at most %d are read of such a document", info.Size(), limit))
	}
	doc.Body, err = io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return failed(pathCause(err), err)
	}
	doc.Size = int64(len(doc.Body))
	return doc, nil
}

// Unchanged implements Bucket, by what the file system says of the file.
func (d *Dir) Unchanged(_ context.Context, seen audit.Object) (bool, error) {
	info, err := fs.Stat(d.fsys, seen.Key)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrInvalid), errors.Is(err, syscall.ENOTDIR), err == nil && info.IsDir():
		return false, &Error{Op: "read", Object: d.URL(seen.Key), Cause: audit.CauseOther, Err: ErrMissing}
	case err != nil:
		return false, &Error{Op: "read", Object: d.URL(seen.Key), Cause: pathCause(err), Err: err}
	}
	return d.object(seen.Key, info) == seen, nil
}

// Tags implements Bucket.
func (d *Dir) Tags(_ context.Context, key string) (map[string]string, error) {
	if d.facts.Tags == nil {
		return nil, d.untold("read tags", "tags", "")
	}
	return d.facts.tags[key], nil
}

// Versioning implements Bucket.
func (d *Dir) Versioning(context.Context) (Versioning, error) {
	var v struct{ Status, MFADelete string }
	if err := d.read("versioning", d.facts.Versioning, &v); err != nil && !errors.Is(err, ErrMissing) {
		return Versioning{}, err
	}
	out, err := versioningOf(v.Status, v.MFADelete)
	return out, d.wrong("versioning", err)
}

// ObjectLock implements Bucket.
func (d *Dir) ObjectLock(context.Context) (audit.ObjectLock, error) {
	var doc struct {
		ObjectLockConfiguration struct {
			ObjectLockEnabled string
			Rule              struct {
				DefaultRetention struct {
					Mode        string
					Days, Years int32
				}
			}
		}
	}
	if err := d.read("object_lock", d.facts.ObjectLock, &doc); err != nil {
		return audit.ObjectLock{}, err
	}
	c := doc.ObjectLockConfiguration
	r := c.Rule.DefaultRetention
	out, err := objectLockOf(c.ObjectLockEnabled, r.Mode, r.Days, r.Years)
	return out, d.wrong("object_lock", err)
}

// PublicAccessBlock implements Bucket.
func (d *Dir) PublicAccessBlock(context.Context) (audit.PublicAccessBlock, error) {
	var doc struct {
		PublicAccessBlockConfiguration struct {
			BlockPublicAcls, IgnorePublicAcls, BlockPublicPolicy, RestrictPublicBuckets *bool
		}
	}
	if err := d.read("public_access_block", d.facts.PublicAccessBlock, &doc); err != nil {
		return audit.PublicAccessBlock{}, err
	}
	c := doc.PublicAccessBlockConfiguration
	out, err := publicAccessBlockOf(c.BlockPublicAcls, c.IgnorePublicAcls, c.BlockPublicPolicy, c.RestrictPublicBuckets)
	return out, d.wrong("public_access_block", err)
}

// PolicyStatus implements Bucket.
func (d *Dir) PolicyStatus(context.Context) (bool, error) {
	var doc struct{ PolicyStatus struct{ IsPublic *bool } }
	if err := d.read("policy_status", d.facts.PolicyStatus, &doc); err != nil {
		return false, err
	}
	public, err := policyStatusOf(doc.PolicyStatus.IsPublic)
	return public, d.wrong("policy_status", err)
}

// Encryption implements Bucket.
func (d *Dir) Encryption(context.Context) (string, error) {
	var doc struct {
		ServerSideEncryptionConfiguration struct {
			Rules []struct{ ApplyServerSideEncryptionByDefault struct{ SSEAlgorithm string } }
		}
	}
	if err := d.read("encryption", d.facts.Encryption, &doc); err != nil {
		return "", err
	}
	var algorithms []string
	for _, r := range doc.ServerSideEncryptionConfiguration.Rules {
		algorithms = append(algorithms, r.ApplyServerSideEncryptionByDefault.SSEAlgorithm)
	}
	out, err := encryptionOf(algorithms)
	return out, d.wrong("encryption", err)
}

// Uploads implements Bucket.
func (d *Dir) Uploads(_ context.Context, prefix string) (audit.Uploads, error) {
	var doc struct {
		Uploads []struct {
			Key       string
			Initiated time.Time
		}
		IsTruncated bool
	}
	if err := d.read("uploads", d.facts.Uploads, &doc); err != nil && !errors.Is(err, ErrMissing) {
		return audit.Uploads{}, err
	}
	out := audit.Uploads{More: doc.IsTruncated}
	for _, u := range doc.Uploads {
		if u.Initiated.IsZero() {
			return audit.Uploads{}, d.wrong("uploads", faultf(audit.CauseMalformed, "an upload of %q does not say when it was begun", u.Key))
		}
		if strings.HasPrefix(u.Key, prefix) {
			countUpload(&out, u.Initiated)
		}
	}
	return out, nil
}

// read reads a part of the file beside the copy. One that is null is ErrMissing.
func (d *Dir) read(part string, raw json.RawMessage, into any) error {
	switch {
	case raw == nil:
		return d.untold("read "+part, part, "")
	case string(raw) == "null":
		return &Error{Op: "read " + part, Object: d.root, Cause: audit.CauseOther, Err: ErrMissing}
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return d.wrong(part, faultf(audit.CauseMalformed, "%w", err))
	}
	return nil
}

// wrong is the error of a part that does not say what it should.
func (d *Dir) wrong(part string, err error) error {
	var f *faulty
	if !errors.As(err, &f) {
		return err
	}
	return &Error{Op: "read " + part, Object: filepath.Join(d.root, DirFacts), Cause: f.cause, Err: f.err}
}

// Lifecycle implements Bucket.
func (d *Dir) Lifecycle(context.Context) (Lifecycle, error) {
	switch {
	case d.facts.Lifecycle == nil:
		return Lifecycle{}, d.untold("read lifecycle configuration", "lifecycle", "")
	case string(d.facts.Lifecycle) == "null":
		return Lifecycle{}, &Error{Op: "read lifecycle configuration", Object: d.root, Cause: audit.CauseOther, Err: ErrMissing}
	}
	var xml string
	if json.Unmarshal(d.facts.Lifecycle, &xml) == nil {
		return Lifecycle{Body: []byte(xml)}, nil
	}
	return Lifecycle{Body: d.facts.Lifecycle}, nil
}

// untold is the answer of a directory to what only a bucket knows.
func (d *Dir) untold(op, part, permission string) error {
	return &Error{
		Op: op, Object: d.root, Cause: audit.CauseNotRecorded, Permission: permission,
		Err: fmt.Errorf("a directory cannot tell; put %q into a %s beside the copy (docs/directories.md)", part, DirFacts),
	}
}
