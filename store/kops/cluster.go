package kops

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// A Cluster is what a state store says of one kops cluster.
type Cluster struct {
	Name string
	// APIVersion is the document's: kops.k8s.io/v1alpha2 today, kops/v1alpha2 in
	// the old days, kops.k8s.io/v1alpha3 where someone tries the next one.
	APIVersion string
	// Created is when kops first wrote the cluster, UTC; zero where the
	// document does not tell.
	Created time.Time
	// ConfigBase is where the cluster's own files are, as the document spells
	// it; empty where it is not given and [Parse] was told no URL.
	ConfigBase string
	// Etcd are the etcd clusters in the order of the document: main and events,
	// cilium and leases where there are some.
	Etcd []Etcd

	// Applied says that a completed spec was there, so that kops has made the
	// cluster, or begun to. Without one this is what config asks for, whether
	// nobody ever applied it or nobody could look. Merge sets it.
	Applied bool
	// Pending is what config says otherwise than the completed spec: the next
	// `kops update cluster --yes` applies it. Merge sets it.
	Pending []Change
}

// An Etcd is one etcd cluster of a kops cluster.
type Etcd struct {
	Name string
	// Members is the number of etcdMembers, which kops writes to etcd-manager's
	// control/etcd-cluster-spec as memberCount; 0 where none are given.
	Members int
	// Version is the version of etcd that is asked for, as it is spelled; kops
	// fills in its own where it is not given, so it is empty in config alone.
	Version string
	// BackupStore is where the backups go: backups.backupStore, or kops's
	// default below ConfigBase; see [Location]. It is empty only where neither
	// is known.
	BackupStore string
	// Overridden says that BackupStore is another place than kops's default.
	// The completed spec holds the default too, so having a value is not it.
	Overridden bool
	// Interval is how often a backup is made; 0 where it is not given, which to
	// etcd-manager is DefaultInterval. It is never shorter than Cycle.
	Interval  time.Duration
	Retention Retention
	// Legacy says that kops runs this etcd without etcd-manager (provider:
	// Legacy, which kops no longer has), so there is no store to look for.
	Legacy bool
	// Pending says that config alone names this etcd cluster while a completed
	// spec is there: it does not run yet, and has no store. Merge sets it.
	Pending bool
}

// etcd-manager's own (cmd/etcd-manager/main.go, pkg/controller/controller.go).
const (
	DefaultInterval = 15 * time.Minute // --backup-interval
	Cycle           = 10 * time.Second // between two looks at whether a backup is due
)

// Every is how often etcd-manager makes a backup.
func (e Etcd) Every() time.Duration {
	if e.Interval == 0 {
		return DefaultInterval
	}
	return e.Interval
}

// Limits of what is read. A completed spec has 5 to 50 KiB, kops knows four etcd
// clusters, and an owner who writes a hundred environment variables is thorough.
// The YAML parser needs some 100 bytes and a microsecond or more for each thing
// in a document, and so a gigabyte and half a minute for 4 MiB of nothing but
// commas: marks bounds that.
const (
	DocumentLimit = 4 << 20 // bytes of a document
	markLimit     = 1 << 18 // of the characters that make things in YAML: marks
	etcdLimit     = 16      // etcd clusters
	entryLimit    = 1000    // entries of a mapping or a list that is looked into
)

// ErrNotCluster says that a document is not one of a kops cluster: config is a
// common name. Where Parse fails otherwise, it is one, and backstop does not
// know what it says.
var ErrNotCluster = errors.New("not a kops cluster")

// apiVersions are the versions that are read. The group was kops at first and is
// kops.k8s.io now; v1alpha3 has the same fields but configStore.base for
// configBase, which in its first months it had too.
var apiVersions = map[string]bool{
	"kops.k8s.io/v1alpha2": true,
	"kops/v1alpha2":        true,
	"kops.k8s.io/v1alpha3": true,
	"kops/v1alpha3":        true,
}

// name is what a cluster or an etcd cluster may be called. kops wants DNS names;
// this keeps slashes and control characters out of locations and reports.
var name = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?$`)

// metalStore is where etcd-manager keeps backups on bare metal, whatever the
// spec says (pkg/model/components/etcdmanager/model.go, CloudProviderMetal).
const metalStore = "file:///mnt/disks/backups"

// Parse reads a config or a cluster-completed.spec, YAML or JSON: the first
// document in it of kind Cluster in one of kops's API groups. It passes over
// fields that it does not know, because kops adds some with every release, and
// wants those that it reads to have kops's types.
//
// at is the URL of the document, or its key where that is all that is known.
// Errors name it. It also stands in for what the document leaves out, as in
// kops: a name is that of the last folder, and with a URL configBase is the
// folder (pkg/client/simple/vfsclientset/cluster.go, find).
func Parse(body []byte, at string) (Cluster, error) {
	c, err := parse(body, at)
	if err != nil {
		return Cluster{}, fmt.Errorf("%s: %w", at, err)
	}
	return c, nil
}

func parse(body []byte, at string) (Cluster, error) {
	root, err := find(body)
	if err != nil {
		return Cluster{}, err
	}
	p := &problem{}
	c := Cluster{APIVersion: root.get(p, "apiVersion").text(p)}
	if p.err == nil && !apiVersions[c.APIVersion] {
		return Cluster{}, fmt.Errorf("apiVersion %q is not one that is known: want v1alpha2 or v1alpha3", c.APIVersion)
	}
	folder := parent(at)
	meta, spec := root.get(p, "metadata"), root.get(p, "spec")
	nameField := meta.get(p, "name")
	c.Name = nameField.text(p)
	if c.Name == "" {
		c.Name = lastFolder(folder)
	}
	if !name.MatchString(c.Name) {
		p.at(nameField, "want the name of a cluster, found %s", quote(c.Name))
	}
	c.Created = meta.get(p, "creationTimestamp").time(p)
	c.ConfigBase = configBase(p, spec, c.APIVersion)
	if c.ConfigBase == "" && strings.Contains(folder, "://") {
		c.ConfigBase = folder
	}
	metal := isMetal(p, meta)
	seen := map[string]bool{}
	for _, f := range spec.get(p, "etcdClusters").list(p, etcdLimit) {
		e := etcd(p, f, c.ConfigBase, metal)
		if seen[e.Name] {
			p.at(f.get(p, "name"), "%s is given twice", quote(e.Name))
		}
		seen[e.Name] = true
		c.Etcd = append(c.Etcd, e)
	}
	return c, p.err
}

// configBase gives configBase, or what v1alpha3 made of it. A configStore that
// is text is another thing, of v1alpha2 and of v1alpha3's first months.
func configBase(p *problem, spec field, apiVersion string) string {
	if strings.HasSuffix(apiVersion, "/v1alpha3") {
		if s := spec.get(p, "configStore"); !s.isText() {
			if base := s.get(p, "base").text(p); base != "" {
				return base
			}
		}
	}
	return spec.get(p, "configBase").text(p)
}

// isMetal reports whether kops runs the cluster on bare metal, which it notes in
// a label of its own (cmd/kops, create cluster: AlphaLabelCloudProvider).
func isMetal(p *problem, meta field) bool {
	labels := meta.get(p, "labels")
	for _, key := range labels.keys(p) {
		domain, _, _ := strings.Cut(key, "/")
		if (domain == "kops.k8s.io" || strings.HasSuffix(domain, ".kops.k8s.io")) && labels.get(p, key).text(p) == "metal" {
			return true
		}
	}
	return false
}

func etcd(p *problem, f field, base string, metal bool) Etcd {
	e := Etcd{
		Name:    f.get(p, "name").text(p),
		Version: f.get(p, "version").text(p),
		Legacy:  f.get(p, "provider").text(p) == "Legacy",
	}
	if !name.MatchString(e.Name) {
		p.at(f.get(p, "name"), "want the name of an etcd cluster, found %s", quote(e.Name))
	}
	for _, m := range f.get(p, "etcdMembers").list(p, entryLimit) {
		m.keys(p)
		e.Members++
	}
	def := DefaultStore(base, e.Name)
	e.BackupStore = f.get(p, "backups").get(p, "backupStore").text(p)
	if e.BackupStore == "" {
		e.BackupStore = def
	}
	if metal {
		e.BackupStore = metalStore
	}
	e.Overridden = normal(e.BackupStore) != normal(def)
	manager := f.get(p, "manager")
	if i := manager.get(p, "backupInterval"); i.given() {
		e.Interval = max(i.duration(p), Cycle)
	}
	e.Retention = retention(p, manager)
	return e
}

// DefaultStore is where kops puts the backups of an etcd cluster that has no
// backupStore (pkg/model/components/etcdmanager/options.go, pkg/urls/join.go).
// It is empty where configBase is.
func DefaultStore(configBase, etcd string) string {
	if configBase == "" {
		return ""
	}
	return strings.TrimSuffix(configBase, "/") + "/backups/etcd/" + etcd
}

// parent gives what comes before the last slash.
func parent(s string) string {
	i := strings.LastIndexByte(s, '/')
	return s[:max(i, 0)]
}

// lastFolder gives the last part of a folder's key or URL; a bucket is no folder.
func lastFolder(s string) string {
	if _, rest, ok := strings.Cut(s, "://"); ok {
		_, s, _ = strings.Cut(rest, "/")
	}
	return s[strings.LastIndexByte(s, '/')+1:]
}
