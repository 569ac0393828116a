package main

import (
	"math/rand/v2"
	"strings"
	"time"
)

// A manager is the etcd-manager of one etcd cluster, with the etcd that it runs. It
// follows what was observed of the real program: see docs/reliability.md.
type manager struct {
	*cluster
	etcd   string
	rng    *rand.Rand
	bucket *bucket
	root   string // of the store, with a slash at its end

	// How the process was started: kops's flags, read when the node boots.
	interval      time.Duration
	hourly, daily time.Duration

	up      bool // the leader's process runs, and has its peers
	leading bool
	looking bool // a cycle is due
	spec    *etcdSpec
	queue   []command

	formed  bool   // there is an etcd with data
	version string // that it runs
	members int
	keys    int
	busy    int // the keys that it comes back to

	lastBackup, lastCleanup time.Time
	counter                 []int // backups of each member's process
	rounds                  int   // futile new clusters, of which real ones make no end
	skew                    time.Duration
	denied, uncleaned       bool   // S3 refuses its writes; its deletions
	broken                  string // how its backups are spoilt: see the action spoil

	stored  time.Time // when its last backup was complete
	stopped time.Time // when the first backup was missed; zero while none was
	lost    time.Time // when a control file was first lost
}

// cycle is how often etcd-manager looks.
const cycle = 10 * time.Second

// wake makes the manager look at its next cycle.
func (m *manager) wake(in time.Duration) {
	if !m.looking && m.up {
		m.looking = true
		m.clock.after(in, m.look)
	}
}

// noticed is told of every change in the manager's bucket. It stands in for a look
// every ten seconds: between two changes every look has the same end.
func (m *manager) noticed(key string) {
	if rel, own := strings.CutPrefix(key, m.root); own && strings.HasPrefix(rel, "control/") {
		m.stirred = m.now
		m.noteLoss(rel)
		m.wake(cycle)
	}
}

func (m *manager) noteLoss(rel string) {
	if rel != createdPath && rel != specPath || !m.lost.IsZero() || !m.formed {
		return
	}
	if v := m.bucket.current(m.root + rel); v == nil || v.Archived() || v.unreadable != "" || len(v.body) == 0 {
		m.lost = m.clock.now
	}
}

// start starts the leader's process cold; counters of the others go on.
func (m *manager) start() {
	m.up, m.leading, m.queue, m.spec, m.stirred = true, false, nil, nil, m.now
	m.lastBackup, m.lastCleanup = time.Time{}, time.Time{}
	if len(m.counter) > 0 {
		m.counter[0] = 0
	}
	m.wake(cycle)
}

func (m *manager) stop() { m.up, m.leading = false, false }

// configure reads the flags that kops gives to a node that boots.
func (m *manager) configure() {
	k := m.kops
	m.interval, m.hourly, m.daily = 15*time.Minute, 7*day, 2*365*day
	if k.interval > 0 {
		m.interval = k.interval
	}
	if k.retention > 0 {
		m.daily = k.retention
	}
	m.bucket, m.root = m.world.locate(m.cluster.storeURL(m.etcd))
}

// look is one cycle of the controller's loop.
func (m *manager) look() {
	m.looking = false
	if !m.up {
		return
	}
	next := m.act()
	if m.stopped.IsZero() && m.formed && !m.lastBackup.IsZero() && m.clock.now.Sub(m.lastBackup) > m.interval+time.Minute {
		m.stopped = m.clock.now
	}
	if next > 0 {
		m.wake(next)
	}
}

// act does what a cycle does, and says when the next one is worth a look; 0 is when
// something changes.
func (m *manager) act() time.Duration {
	if !m.leading {
		if !m.refresh() {
			return 0
		}
		m.leading = true
	}
	switch state, ok := m.marker(); {
	case !ok:
		return 0 // an error: nothing more in this cycle, nor in the next
	case state == markerMissing:
		return m.unborn()
	}
	switch {
	case m.spec == nil:
		return 0 // no cluster spec set: nothing below happens
	case m.restoring() != nil:
		return m.restore(m.restoring())
	}
	return m.work()
}

// work is what follows when the cluster is known to exist.
func (m *manager) work() time.Duration {
	if !m.formed {
		return 0 // 0 members: it waits for a restore-backup command
	}
	if m.clock.now.Sub(m.lastBackup) >= m.interval {
		m.backup()
	}
	if m.knows(m.spec.version) {
		m.resize()
		m.upgrade()
	}
	return m.interval - m.clock.now.Sub(m.lastBackup)
}

// unborn is what happens while etcd-cluster-created is missing: a spec makes a new
// cluster, whatever there was.
func (m *manager) unborn() time.Duration {
	if !m.refresh() || m.spec == nil || !m.knows(m.spec.version) || m.spec.members < 1 || m.spec.members > m.kops.members {
		return 0
	}
	m.create()
	if m.denied {
		return m.again() // the marker could not be written
	}
	m.bucket.put(upload{key: m.root + createdPath, body: createdBody(m.clock.now)})
	return time.Second
}

// create stops etcd wherever it runs, moves its data away, and starts a new one. It
// writes the spec in its own spelling.
func (m *manager) create() {
	m.formed, m.keys = true, 0
	m.version, m.members = m.spec.version, m.spec.members
	m.counter = resized(m.counter, m.members)
	m.lastBackup = time.Time{}
	if !m.denied {
		m.bucket.put(upload{key: m.root + specPath, body: m.spec.written()})
	}
	m.clock.after(time.Minute, func() { m.keys = max(m.keys, m.busy/10) }) // what Kubernetes writes at once
	m.clock.after(time.Hour, func() { m.keys = max(m.keys, m.busy/2) })
}

// restore replaces the cluster by a backup. It looks the backup up after the old
// cluster is gone.
func (m *manager) restore(c *command) time.Duration {
	m.create()
	if data := m.bucket.current(m.root + c.backup + "/" + dataFile); data == nil || m.bucket.current(m.root+c.backup+"/"+metaFile) == nil {
		return m.again()
	}
	m.keys = m.busy
	m.queue = nil
	m.bucket.remove(m.root + c.path)
	return time.Second
}

// again is the next of several futile attempts: a few stand for all that would come.
func (m *manager) again() time.Duration {
	if m.rounds++; m.rounds > 5 {
		return 0
	}
	return cycle
}

func (m *manager) restoring() *command {
	for i := range m.queue {
		if m.queue[i].backup != "" {
			return &m.queue[i]
		}
	}
	return nil
}

// knows says which versions of etcd the program has.
func (m *manager) knows(version string) bool {
	for _, known := range []string{"3.4.", "3.5.", "3.6.", "3.7."} {
		if strings.HasPrefix(version, known) {
			return true
		}
	}
	return false
}

// resize adds members one at a time, or removes them, with a backup before.
func (m *manager) resize() {
	if want := min(m.spec.members, m.kops.members); m.spec.members >= 1 && want != m.members {
		m.backup()
		m.members = want
		m.counter = resized(m.counter, m.members)
	}
}

func (m *manager) upgrade() {
	if m.version != m.spec.version {
		m.backup()
		m.version = m.spec.version
	}
}

func resized(counter []int, n int) []int {
	for len(counter) < n {
		counter = append(counter, 0)
	}
	return counter[:n]
}
