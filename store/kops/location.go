package kops

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
)

// The names of the documents (pkg/apis/kops/registry/registry.go).
const (
	ConfigFile    = "config"
	CompletedFile = "cluster-completed.spec"
)

// IsClusterKey reports whether an object of that key may be a cluster's config,
// or its completed spec, and which folder it is in: the cluster, in a state
// store. Only what is in it tells for sure, because config is a common name:
// see [Parse] and [ErrNotCluster]. A completed spec may lie at the top of a
// bucket, where configBase is a bucket of its own; the cluster is then empty.
func IsClusterKey(key string) (cluster string, completed, ok bool) {
	folder := parent(key)
	cluster = lastFolder(folder)
	switch key[strings.LastIndexByte(key, '/')+1:] {
	case ConfigFile:
		ok = name.MatchString(cluster)
	case CompletedFile:
		completed, ok = true, key == CompletedFile || name.MatchString(cluster)
	}
	if !ok {
		return "", false, false
	}
	return cluster, completed, true
}

// StateFile reports whether a file, by its path relative to a cluster's folder in
// the state store, is one that kops cannot do without besides the cluster's own
// documents: its certificates and keys, its secrets, its instance groups
// (pkg/client/simple/vfsclientset, upup/pkg/fi/vfs_castore.go).
func StateFile(rel string) bool {
	dir, _, below := strings.Cut(rel, "/")
	return below && (dir == "pki" || dir == "secrets" || dir == "instancegroup")
}

// Location splits a backup store's URL as kops and etcd-manager do
// (util/pkg/vfs: BuildVfsPath in context.go, newS3Path and Join in s3fs.go). For
// s3, and do and scw which are S3 by other names, bucket and prefix are where to
// look: the prefix has no slash at its end. One at its start belongs to the keys,
// of s3://bucket//prefix.
//
// Other schemes (gs, azureblob, swift, oss, k8s, vault, memfs and what may come)
// are no error: they have to be named to the owner. Neither is a directory, which
// is file with or without saying so, and has no bucket.
func Location(backupStore string) (scheme, bucket, prefix string, err error) {
	scheme, rest, ok := strings.Cut(backupStore, "://")
	switch {
	case backupStore == "":
		return "", "", "", errors.New("no location is given")
	case !ok && strings.HasPrefix(backupStore, "/"):
		return "file", "", path.Clean(backupStore), nil
	case !ok:
		// kops takes s3:/bucket for a directory.
		return "", "", "", fmt.Errorf("%s is not a location: want s3://BUCKET/PREFIX or another URL", quote(backupStore))
	case !isScheme(scheme):
		return "", "", "", fmt.Errorf("%s is not a location: %s is not a scheme", quote(backupStore), quote(scheme))
	case scheme == "file" || scheme == "memfs":
		return scheme, "", path.Clean(rest), nil
	}
	u, err := url.Parse(backupStore)
	if err == nil {
		bucket, prefix = u.Host, strings.TrimPrefix(u.Path, "/")
	}
	if prefix = path.Clean(prefix); prefix == "." {
		prefix = ""
	}
	if likeS3 := scheme == "s3" || scheme == "do" || scheme == "scw"; likeS3 && (bucket == "" || prefix == "/") {
		return "", "", "", fmt.Errorf("%s is not a location: want %s://BUCKET/PREFIX", quote(backupStore), scheme)
	}
	return scheme, bucket, prefix, nil
}

// isScheme reports whether s can be a scheme. kops knows them in lower case only.
func isScheme(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789+.-") == "" && s[0] >= 'a'
}

// normal spells a location in one way, so that two that are one place compare as
// equal. What is no location stays as it is.
func normal(backupStore string) string {
	scheme, bucket, prefix, err := Location(backupStore)
	if err != nil {
		return backupStore
	}
	return strings.TrimSuffix(scheme+"://"+bucket+"/"+prefix, "/")
}

// A SharedStore is one location that several etcd clusters name as theirs. They
// then read each other's control files and restore each other's backups.
type SharedStore struct {
	Location string // as the first of the users spells it
	Users    []User
}

// A User is an etcd cluster that uses a store.
type User struct{ Cluster, Etcd string }

// Shared gives the stores that two etcd clusters have, of one cluster or of two,
// in the order in which they come. kops refuses two etcd clusters of one name and
// does not look at where their backups go (pkg/apis/kops/validation).
//
// A cluster that comes twice, as from a copied state store, shares nothing with
// itself: it has one name and one configBase. Directories are on every node's own
// disk and so are left out, and so is what etcd-manager does not run.
func Shared(clusters []Cluster) []SharedStore {
	type user struct{ cluster, base, etcd string }
	users, order := map[string][]user{}, []string{}
	spelled := map[string]string{}
	for _, c := range clusters {
		for _, e := range c.Etcd {
			at := normal(e.BackupStore)
			if scheme, _, _, err := Location(e.BackupStore); err != nil || scheme == "file" || scheme == "memfs" || e.Legacy {
				continue
			}
			if _, known := users[at]; !known {
				order, spelled[at] = append(order, at), e.BackupStore
			}
			u := user{c.Name, normal(c.ConfigBase), e.Name}
			if !slices.Contains(users[at], u) {
				users[at] = append(users[at], u)
			}
		}
	}
	var shared []SharedStore
	for _, at := range order {
		if len(users[at]) < 2 {
			continue
		}
		s := SharedStore{Location: spelled[at]}
		for _, u := range users[at] {
			s.Users = append(s.Users, User{u.cluster, u.etcd})
		}
		shared = append(shared, s)
	}
	return shared
}
