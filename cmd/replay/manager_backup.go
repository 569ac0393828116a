package main

import (
	"fmt"
	"strings"
	"time"
)

// backup takes a backup: a member names it by its own clock and its process's
// counter, uploads the data, and then the meta file, which makes it one.
func (m *manager) backup() {
	m.lastBackup = m.clock.now
	if m.denied {
		return // `error during backup` in a log
	}
	member := m.rng.IntN(m.members)
	m.counter[member]++
	m.grow()
	at := m.clock.now.Add(m.skew)
	name := fmt.Sprintf("%s-%06d", at.UTC().Format(time.RFC3339), m.counter[member])
	meta := metaBody(m.version, at, *m.spec)
	size, b, root := int64(620+62*m.keys), m.bucket, m.root
	took := time.Duration(1+m.rng.IntN(4)) * time.Second
	m.clock.after(took, func() {
		if m.broken != "no-data" {
			b.put(upload{key: root + name + "/" + dataFile, size: m.spoiltSize(size)})
		}
		m.clock.after(time.Second, func() {
			if m.broken != "no-meta" {
				b.put(upload{key: root + name + "/" + metaFile, body: m.spoiltMeta(meta)})
			}
			m.stored = m.clock.now
			m.cleanup()
		})
	})
}

// spoiltSize and spoiltMeta are what is uploaded, where an action has spoilt it.
func (m *manager) spoiltSize(size int64) int64 {
	if m.broken == "empty" {
		return 0
	}
	return size
}

func (m *manager) spoiltMeta(meta []byte) []byte {
	if m.broken == "bad-meta" {
		return []byte("{")
	}
	return meta
}

// grow lets the number of keys wander about.
func (m *manager) grow() {
	if m.keys > 0 {
		m.keys = max(m.busy/20, m.keys+m.rng.IntN(m.busy/20+3)-m.busy/40-1)
		if m.keys > 2*m.busy {
			m.keys = m.busy
		}
	}
}

// cleanup follows a backup, once an hour.
func (m *manager) cleanup() {
	if m.uncleaned || m.clock.now.Sub(m.lastCleanup) <= time.Hour {
		return
	}
	m.lastCleanup = m.clock.now
	var names []string
	for _, s := range m.bucket.below(m.root) {
		dir, isMeta := strings.CutSuffix(s.key[len(m.root):], "/"+metaFile)
		if isMeta && !s.versions[0].Marker {
			names = append(names, dir)
		}
	}
	for _, name := range thinned(names, m.clock.now.Add(m.skew), m.hourly, m.daily) {
		m.bucket.removeAll(m.root + name + "/" + metaFile)
		m.bucket.removeAll(m.root + name + "/" + dataFile)
	}
}

// thinned gives those of the names, which are sorted, that etcd-manager's cleanup
// deletes: it keeps everything for an hour, then the earliest backup of each clock
// hour, then the earliest of each day in UTC, then nothing. A name that it cannot
// read, or that lies in the future, stays.
func thinned(names []string, now time.Time, hourly, daily time.Duration) []string {
	var gone []string
	taken := map[string]bool{}
	for _, name := range names {
		at, ok := timeOf(name)
		if !ok {
			continue
		}
		var slot string
		switch age := now.Sub(at); {
		case age < time.Hour:
			continue
		case age < hourly:
			slot = at.Format("2006-01-02T15")
		case age < daily:
			slot = at.Format("2006-01-02")
		}
		if slot == "" || taken[slot] {
			gone = append(gone, name)
		}
		taken[slot] = true
	}
	return gone
}

// timeOf reads the time in a backup's name.
func timeOf(name string) (time.Time, bool) {
	stamp, _, ok := strings.Cut(name, "Z-")
	t, err := time.Parse("2006-01-02T15:04:05", strings.TrimSuffix(stamp, "Z"))
	return t, err == nil && (ok || strings.HasSuffix(name, "Z"))
}
