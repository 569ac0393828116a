package audit

import (
	"testing"
	"time"
)

// A measured snapshot was written so long before noon; size is that of its data,
// 0 for one without.
func measured(name string, age time.Duration, size int64, meta bool) Snapshot {
	at := policyNoon.Add(-age)
	s := Snapshot{Name: name, Taken: at}
	if size > 0 {
		s.Data = &Object{Key: name + "/etcd.backup.gz", Size: size, LastModified: at}
	}
	if meta {
		s.Meta = &Object{Key: name + "/_etcd_backup.meta", Size: 1, LastModified: at}
	}
	return s
}

func TestMeasures(t *testing.T) {
	byHand := measured("by-hand", 90*Day, 7, true)
	byHand.Taken = time.Time{}
	o := &Observation{Begun: policyNoon.Add(-time.Minute), Listing: Is(Listing{Snapshots: []Snapshot{
		measured("oldest", 3*time.Hour, 100, true), measured("newest", time.Hour, 20, true), measured("uploading", time.Minute, 5, false), measured("meta alone", 2*time.Hour, 0, true), byHand,
	}})}
	set := Ruleset{Control: func(*Observation, time.Time) []ControlFile {
		return []ControlFile{{File: "etcd-cluster-created", State: Set}}
	}}
	m := o.measure(set, DefaultPolicy(), policyNoon)
	if m.Snapshots != 2 || m.SnapshotBytes != 120 || m.Incomplete != 2 || m.Newest.Name != "newest" || m.Oldest.Name != "oldest" {
		t.Errorf("%+v, newest %+v, oldest %+v", m, m.Newest, m.Oldest)
	}
	if !m.Newest.At.Equal(policyNoon.Add(-time.Hour)) || !m.Oldest.At.Equal(policyNoon.Add(-3*time.Hour)) || m.Interval != 15*time.Minute || !m.Began.Equal(o.Begun) {
		t.Errorf("%+v, newest %+v, oldest %+v", m, m.Newest, m.Oldest)
	}
	if len(m.Control) != 1 {
		t.Errorf("control files %+v", m.Control)
	}
	empty := (&Observation{}).measure(Ruleset{}, DefaultPolicy(), policyNoon)
	if empty.Newest != nil || empty.Oldest != nil || empty.Snapshots != 0 || empty.Control != nil {
		t.Errorf("of nothing: %+v", empty)
	}
}

// In a copied store the ages are by the names, of the oldest as of the newest.
func TestOldestOfACopy(t *testing.T) {
	late := func(name string, age time.Duration) Snapshot {
		s := measured(name, age, 1, true)
		s.Data.LastModified, s.Meta.LastModified = policyNoon, policyNoon
		return s
	}
	l := Listing{Snapshots: []Snapshot{late("a", 30*Day), late("b", 10*Day)}}
	if s, at, ok := l.Oldest(); !ok || s.Name != "a" || !at.Equal(policyNoon.Add(-30*Day)) {
		t.Errorf("oldest %s at %v, %t", s.Name, at, ok)
	}
}

func TestUsageAdds(t *testing.T) {
	var u Usage
	u.Add(Usage{Requests: map[string]int{"GetObject": 2}, Errors: map[string]int{"throttled": 1}, Bytes: 5})
	u.Add(Usage{Requests: map[string]int{"GetObject": 1}, Errors: map[string]int{"throttled": 2, "timeout": 1}, Bytes: 1})
	if u.Requests["GetObject"] != 3 || u.Errors["throttled"] != 3 || u.Errors["timeout"] != 1 || u.Bytes != 6 {
		t.Errorf("%+v", u)
	}
}
