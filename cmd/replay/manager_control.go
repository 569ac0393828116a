package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"
)

// The names of etcd-manager's objects below the root of a store.
const (
	createdPath = "control/etcd-cluster-created"
	specPath    = "control/etcd-cluster-spec"
	commandFile = "_command.json"
	dataFile    = "etcd.backup.gz"
	metaFile    = "_etcd_backup.meta"
)

// An etcdSpec is the content of etcd-cluster-spec.
type etcdSpec struct {
	members int
	version string
}

// A command is a queued command.
type command struct {
	path   string // below the root
	at     int64
	backup string
}

type markerState int

const (
	markerPresent markerState = iota
	markerMissing
)

// marker reads etcd-cluster-created, in every cycle. What is in it does not matter,
// as long as it is something.
func (m *manager) marker() (markerState, bool) {
	v := m.bucket.current(m.root + createdPath)
	switch {
	case v == nil:
		return markerMissing, true
	case v.Archived() || v.unreadable != "" || len(v.body) == 0:
		return markerPresent, false
	}
	return markerPresent, true
}

// refresh reads the queue and the spec, as at a change of the leader. It fails when a
// command or the spec cannot be read; a spec that is missing is none.
func (m *manager) refresh() bool {
	m.spec, m.queue = nil, nil
	for _, s := range m.bucket.below(m.root + "control/") {
		v := s.versions[0]
		if v.Marker || !strings.HasSuffix(s.key, "/"+commandFile) {
			continue
		}
		c, ok := parseCommand(v)
		if !ok {
			return false
		}
		c.path = s.key[len(m.root):]
		m.queue = append(m.queue, c)
	}
	sort.SliceStable(m.queue, func(i, j int) bool { return m.queue[i].at < m.queue[j].at })
	v := m.bucket.current(m.root + specPath)
	if v == nil {
		return true
	}
	spec, ok := parseSpec(v)
	if ok {
		m.spec = &spec
	}
	return ok
}

// strictly reads JSON as protojson does: an unknown field is an error.
func strictly(v *version, into any) bool {
	if v.Archived() || v.unreadable != "" {
		return false
	}
	d := json.NewDecoder(bytes.NewReader(v.body))
	d.DisallowUnknownFields()
	return d.Decode(into) == nil
}

func parseSpec(v *version) (etcdSpec, bool) {
	var doc struct {
		MemberCount int    `json:"memberCount"`
		EtcdVersion string `json:"etcdVersion"`
	}
	ok := strictly(v, &doc)
	return etcdSpec{doc.MemberCount, doc.EtcdVersion}, ok
}

func parseCommand(v *version) (command, bool) {
	var doc struct {
		Timestamp     string `json:"timestamp"`
		RestoreBackup struct {
			ClusterSpec map[string]any `json:"clusterSpec"`
			Backup      string         `json:"backup"`
		} `json:"restoreBackup"`
	}
	ok := strictly(v, &doc)
	at, _ := strconv.ParseInt(doc.Timestamp, 10, 64) // missing is the first
	return command{at: at, backup: doc.RestoreBackup.Backup}, ok
}

// written is the spec in etcd-manager's own spelling, which has two spaces.
func (s etcdSpec) written() []byte {
	return fmt.Appendf(nil, "{\n  \"memberCount\":  %d,\n  \"etcdVersion\":  %q\n}", s.members, s.version)
}

// byKops is the spec as kops spells it.
func (s etcdSpec) byKops() []byte {
	return fmt.Appendf(nil, "{\n  \"memberCount\": %d,\n  \"etcdVersion\": %q\n}", s.members, s.version)
}

func createdBody(at time.Time) []byte {
	return fmt.Appendf(nil, `{"timestamp":%d}`, at.UnixNano())
}

func metaBody(version string, at time.Time, spec etcdSpec) []byte {
	return fmt.Appendf(nil, "{\n  \"etcdVersion\":  %q,\n  \"timestamp\":  \"%d\",\n  \"clusterSpec\":  %s\n}", version, at.Unix(), spec.written())
}

func commandBody(at time.Time, backup string, spec etcdSpec) []byte {
	return fmt.Appendf(nil, "{\n  \"timestamp\":  \"%d\",\n  \"restoreBackup\":  {\n    \"clusterSpec\":  %s,\n    \"backup\":  %q\n  }\n}", at.UnixNano(), spec.written(), backup)
}
