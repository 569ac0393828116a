package drill

import (
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"backstop/store/snapshot"
)

// Tools are the programs of one etcd release.
type Tools struct {
	// Version is that of Etcd, as 3.6.16.
	Version string `json:"version"`
	// Etcd is the server's path, and Restore that of the tool that restores:
	// etcdutl, or etcdctl, which was the only one until 3.4.
	Etcd    string `json:"etcd"`
	Restore string `json:"restore"`
	// Etcdctl is empty where it is not there, or of another minor version.
	Etcdctl string `json:"etcdctl,omitempty"`
}

// Minor gives the minor version of etcd that wrote a snapshot, as 3.6, and how that
// shows. From 3.6 on the database holds it (storageVersion); 3.5 was the first to
// store the raft term; older ones leave the version that the cluster had agreed on.
func Minor(f *snapshot.Facts) (minor, because string) {
	switch {
	case f.StorageVersion != "":
		return minorOf(f.StorageVersion), "its storage version is " + f.StorageVersion
	case f.Term != 0:
		return "3.5", "it holds the raft term, and no storage version yet"
	case f.ClusterVersion != "":
		return minorOf(f.ClusterVersion), "its cluster version is " + f.ClusterVersion
	}
	return "3.4", "it holds neither a raft term nor a version"
}

// minorOf cuts 3.6.0 to 3.6.
func minorOf(version string) string {
	parts := strings.SplitN(version, ".", 3)
	return strings.Join(parts[:min(len(parts), 2)], ".")
}

// A Missing says that the programs that a drill needs are not there.
type Missing struct {
	Minor   string
	Because string // why it has to be that minor version
	// Seen are programs that were looked at and are of another version, or do not
	// run, each with its path.
	Seen []string
}

// Error says what was looked for, what there is, and what to do.
func (m *Missing) Error() string {
	there := "no etcd was found there"
	if len(m.Seen) > 0 {
		there = "there: " + strings.Join(m.Seen, "; ")
	}
	tool := "etcdutl"
	if m.Minor == "3.4" {
		tool = "etcdctl"
	}
	return fmt.Sprintf("the snapshot needs etcd and %s of version %s (%s), and they are not on PATH or in --etcd-bin: %s", tool, m.Minor, m.Because, there)
}

// Hint says how to get them.
func (m *Missing) Hint() string {
	return fmt.Sprintf("unpack a release of etcd %s (https://github.com/etcd-io/etcd/releases), and give its directory with --etcd-bin", m.Minor)
}

// find looks for the programs of a minor version, in dirs and then on PATH.
func find(ctx context.Context, minor, because string, dirs []string) (Tools, error) {
	m := &Missing{Minor: minor, Because: because}
	var t Tools
	t.Etcd, t.Version = m.program(ctx, "etcd", dirs)
	t.Restore, _ = m.program(ctx, "etcdutl", dirs)
	t.Etcdctl, _ = m.program(ctx, "etcdctl", dirs)
	if t.Restore == "" && (minor == "3.4" || minor == "3.5") { // later ones cannot
		t.Restore = t.Etcdctl
	}
	if err := ctx.Err(); err != nil {
		return Tools{}, err
	}
	if t.Etcd == "" || t.Restore == "" {
		return Tools{}, m
	}
	return t, nil
}

// versionArgs ask each program for its version.
var versionArgs = map[string]string{"etcd": "--version", "etcdutl": "version", "etcdctl": "version"}

var versionLine = regexp.MustCompile(`(?m)^etcd\w* [Vv]ersion: v?(\d+\.\d+\.\d+\S*)`)

// program gives the path and the version of a program of the wanted minor version;
// empty where there is none. What else it meets it notes.
func (m *Missing) program(ctx context.Context, name string, dirs []string) (path, version string) {
	for _, candidate := range candidates(name, dirs) {
		c := command(ctx, candidate, versionArgs[name])
		out, err := c.CombinedOutput()
		found := versionLine.FindSubmatch(out)
		switch {
		case found != nil && minorOf(string(found[1])) == m.Minor:
			return candidate, string(found[1])
		case found != nil:
			m.Seen = append(m.Seen, fmt.Sprintf("%s is %s", candidate, found[1]))
		case name != "etcdutl" || err == nil: // etcd's older etcdutl do not matter
			m.Seen = append(m.Seen, fmt.Sprintf("%s does not tell its version (%v)", candidate, cmp.Or(fmt.Sprint(err), "no error")))
		}
	}
	return "", ""
}

// candidates are the places of a program that there are.
func candidates(name string, dirs []string) []string {
	var all []string
	add := func(name string) {
		path, err := exec.LookPath(name)
		if err == nil { // it is run in another directory
			path, err = filepath.Abs(path)
		}
		if err == nil && !slices.Contains(all, path) {
			all = append(all, path)
		}
	}
	for _, dir := range dirs {
		add(filepath.Join(dir, name))
	}
	add(name)
	return all
}
