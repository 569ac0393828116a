package recovery

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"backstop/audit"
	"backstop/rules/forecast"
	"backstop/store/etcdmanager"
	"backstop/store/snapshot"
)

// A snap is a snapshot of a test store, some minutes before noon, and what opening
// it gives.
type snap struct {
	minutes int
	size    int64 // 0 means 5000
	half    string
	class   string
	verdict snapshot.Verdict // empty means intact
	keys    int64            // 0 means 10, -1 none
	version string           // of its meta; empty means 3.5.9, "bad" one that does not parse
	noMeta  bool             // its meta file cannot be read
}

func (s snap) name() string {
	return etcdmanager.FormatName(noon.Add(-time.Duration(s.minutes)*time.Minute), 1)
}

// searchOf searches the store that holds the snaps. It counts what is opened.
func searchOf(snaps []snap, opened *int) Search {
	o := observation()
	o.Listing.Value.Snapshots = nil
	by := map[string]snap{}
	for _, s := range snaps {
		x := audit.Snapshot{Name: s.name(), Taken: noon.Add(-time.Duration(s.minutes) * time.Minute)}
		if s.size == 0 {
			s.size = 5000
		}
		x.Data = &audit.Object{Key: o.Store.Key(s.name(), etcdmanager.DataFile), Size: max(s.size, 0), StorageClass: s.class}
		x.Meta = &audit.Object{Key: o.Store.Key(s.name(), etcdmanager.MetaFile), Size: 137}
		switch s.half {
		case "data":
			x.Meta = nil
		case "meta":
			x.Data = nil
		}
		by[x.Name] = s
		o.Listing.Value.Snapshots = append(o.Listing.Value.Snapshots, x)
	}
	o.Spec = audit.Is(audit.Document{Body: []byte(`{"memberCount":3,"etcdVersion":"3.5.30"}`)})
	return Search{
		Observation: o, Now: noon, Limit: 5, Filled: 2048,
		Unrestorable: func(v string) string {
			if strings.HasPrefix(v, "3.4") {
				return "no programs of 3.4"
			}
			return ""
		},
		Open: func(x audit.Snapshot) Opened { *opened++; return by[x.Name].open() },
	}
}

func (s snap) open() Opened {
	var o Opened
	o.Result.Verdict = s.verdict
	switch s.verdict {
	case snapshot.Damaged:
		o.Result.Reason = "its pages do not rise"
	case snapshot.Unverified:
		o.Result.Cause, o.Result.Reason = snapshot.NotRead, "refused"
	default:
		keys := max(s.keys, 0)
		if s.keys == 0 {
			keys = 10
		}
		o.Result.Verdict = snapshot.Intact
		o.Result.Facts = &snapshot.Facts{Keys: keys, Revision: int64(100 - s.minutes), Members: make([]snapshot.Member, 3), Resources: []snapshot.Resource{{Name: "pods", Keys: keys}}}
	}
	version := s.version
	if version == "" {
		version = "3.5.9"
	}
	body := fmt.Sprintf(`{"etcdVersion":%q,"timestamp":"1","clusterSpec":{"memberCount":3,"etcdVersion":"3.5.30"}}`, version)
	if version == "bad" {
		body = "{"
	}
	o.Meta = audit.Is(audit.Document{Body: []byte(body)})
	if s.noMeta {
		o.Meta = audit.Unknown[audit.Document](audit.Why{Reason: "AccessDenied"})
	}
	return o
}

func TestChoose(t *testing.T) {
	type want struct {
		minutes    int    // of the chosen; -1 for none
		unverified string // words of why
		passed     []string
		opened     int
	}
	for name, c := range map[string]struct {
		snaps  []snap
		change func(s *Search)
		want   want
	}{
		"the newest is good": {[]snap{{minutes: 30}, {minutes: 15}}, nil, want{15, "", nil, 1}},
		"a damaged one is passed over": {[]snap{{minutes: 30}, {minutes: 15, verdict: snapshot.Damaged}}, nil,
			want{30, "", []string{"damaged: its pages do not rise"}, 3}},
		"one that is not read is not taken for damaged": {[]snap{{minutes: 30}, {minutes: 15, verdict: snapshot.Unverified}}, nil,
			want{30, "", []string{"could not be verified (not-read: refused)"}, 3}},
		"none could be read: the newest, and it is said": {[]snap{{minutes: 30, verdict: snapshot.Unverified}, {minutes: 15, verdict: snapshot.Unverified}}, nil,
			want{15, "could not be verified", nil, 3 - 1}},
		"damaged, and then none could be read": {[]snap{{minutes: 30, verdict: snapshot.Unverified}, {minutes: 15, verdict: snapshot.Damaged}}, nil,
			want{30, "could not be verified", []string{"damaged"}, 3}},
		"all are damaged":            {[]snap{{minutes: 30, verdict: snapshot.Damaged}, {minutes: 15, verdict: snapshot.Damaged}}, nil, want{-1, "", []string{"damaged"}, 2}},
		"it holds nothing":           {[]snap{{minutes: 30}, {minutes: 15, keys: -1}}, nil, want{30, "", []string{"there is no key in it"}, 3}},
		"by its size":                {[]snap{{minutes: 30}, {minutes: 15, size: 600}}, nil, want{30, "", []string{"by its size (600 bytes; not opened)"}, 2}},
		"all are small":              {[]snap{{minutes: 30, size: 700}, {minutes: 15, size: 600}}, nil, want{15, "", nil, 1}},
		"at the bound of emptiness":  {[]snap{{minutes: 30}, {minutes: 15, size: 2048}}, nil, want{15, "", nil, 1}},
		"data alone":                 {[]snap{{minutes: 30}, {minutes: 15, half: "data"}}, nil, want{30, "", []string{"its meta file is missing"}, 1}},
		"meta alone":                 {[]snap{{minutes: 30}, {minutes: 15, half: "meta"}}, nil, want{30, "", []string{"its data is missing"}, 1}},
		"archived":                   {[]snap{{minutes: 30}, {minutes: 15, class: "GLACIER"}}, nil, want{30, "", []string{"archived (class GLACIER)"}, 1}},
		"of a version without tools": {[]snap{{minutes: 30}, {minutes: 15, version: "3.4.13"}}, nil, want{30, "", []string{"etcd-manager cannot restore it: no programs of 3.4"}, 3}},
		"a meta that does not parse": {[]snap{{minutes: 30}, {minutes: 15, version: "bad"}}, nil, want{30, "", []string{"cannot be parsed"}, 3}},
		"a meta that is not read":    {[]snap{{minutes: 15, noMeta: true}}, nil, want{15, "its meta file could not be read (AccessDenied)", nil, 1}},
		"of the new cluster": {[]snap{{minutes: 30}, {minutes: 15}, {minutes: 10}}, func(s *Search) { s.Formed = noon.Add(-15*time.Minute + 999*time.Millisecond) },
			want{30, "", []string{"taken from the new cluster"}, 2}},
		"before the owner's time": {[]snap{{minutes: 30}, {minutes: 15}}, func(s *Search) { s.Before = noon.Add(-15 * time.Minute) },
			want{30, "", []string{"not taken before 2026-11-30 11:45:00Z"}, 2}},
		"the limit": {[]snap{{minutes: 45}, {minutes: 30, verdict: snapshot.Damaged}, {minutes: 15, verdict: snapshot.Damaged}}, func(s *Search) { s.Limit = 2 },
			want{45, "2 newer snapshots opened in vain, which is the limit (--open)", []string{"damaged"}, 3}},
		"a recording": {[]snap{{minutes: 30}, {minutes: 15, size: 600}}, func(s *Search) { s.Open = nil },
			want{30, "this is a recording", []string{"by its size"}, 0}},
		"near another": {[]snap{{minutes: 40}, {minutes: 31}, {minutes: 15}}, func(s *Search) { s.Near = noon.Add(-30 * time.Minute) },
			want{31, "", nil, 2}},
		"the nearest is damaged": {[]snap{{minutes: 40}, {minutes: 31, verdict: snapshot.Damaged}, {minutes: 15}}, func(s *Search) { s.Near = noon.Add(-30 * time.Minute) },
			want{40, "", []string{"damaged"}, 3}},
		"nothing": {nil, nil, want{-1, "", nil, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			opened := 0
			s := searchOf(c.snaps, &opened)
			if c.change != nil {
				c.change(&s)
			}
			got := s.Choose()
			minutes := -1
			if got.Chosen != nil {
				minutes = int(noon.Sub(got.Chosen.Snapshot.Taken).Minutes())
			}
			if minutes != c.want.minutes || !strings.Contains(got.Unverified, c.want.unverified) || (got.Unverified == "") != (c.want.unverified == "") {
				t.Errorf("chose %d (%q), want %d (%q)", minutes, got.Unverified, c.want.minutes, c.want.unverified)
			}
			if opened != c.want.opened {
				t.Errorf("%d were opened, want %d", opened, c.want.opened)
			}
			if len(got.Passed) != len(c.want.passed) {
				t.Fatalf("passed over: %+v, want %q", got.Passed, c.want.passed)
			}
			for i, p := range got.Passed {
				if !strings.Contains(p.Why, c.want.passed[i]) {
					t.Errorf("passed over because %q, want %q", p.Why, c.want.passed[i])
				}
			}
			if text := strings.Join(got.Explain(), "\n"); strings.Contains(text, "NOT VERIFIED") != (c.want.unverified != "") || strings.Contains(text, "no snapshot here") != (minutes < 0) {
				t.Errorf("it says:\n%s", text)
			}
		})
	}
}

// What is said of a choice besides.
func TestExplain(t *testing.T) {
	for name, c := range map[string]struct {
		snaps  []snap
		change func(s *Search)
		says   []string
	}{
		"what the newest holds more": {[]snap{{minutes: 30, keys: 7}, {minutes: 15, keys: 9}}, func(s *Search) { s.Before = noon.Add(-20 * time.Minute) },
			[]string{"lost is what was written after 2026-11-30 11:30:00Z, which is 30m ago", "against the newest snapshot, " + snap{minutes: 15}.name() + " (9 keys): it has more of pods 2"}},
		"what it lacks": {[]snap{{minutes: 30, keys: 7}, {minutes: 15, keys: -1}}, nil,
			[]string{"by their number no key of it would be lost; it lacks pods 7"}},
		"a row": {[]snap{{minutes: 30}, {minutes: 15}, {minutes: 10}, {minutes: 5}}, func(s *Search) { s.Formed = noon.Add(-20 * time.Minute) },
			[]string{"passed over: " + snap{minutes: 5}.name() + " and 2 before it, back to " + snap{minutes: 15}.name(), "10m before the new cluster was formed", "written to the new one since (20m)"}},
		"the spec of then": {[]snap{{minutes: 15}}, nil, []string{"the store's spec asks for 3 members of etcd 3.5.30, as at the time", "etcd 3.5.9, which etcd-manager restores with etcd 3.5.30"}},
		"another spec": {[]snap{{minutes: 15}}, func(s *Search) {
			s.Observation.Spec = audit.Is(audit.Document{Body: []byte(`{"memberCount":1,"etcdVersion":"3.6.11"}`)})
		}, []string{"CHECK: the store's spec asks for 1 member of etcd 3.6.11, and at the time of the snapshot it was 3 members of etcd 3.5.30"}},
		"no spec": {[]snap{{minutes: 15}}, func(s *Search) { s.Observation.Spec = audit.None[audit.Document]() }, []string{"no etcd-cluster-spec that could be used"}},
		"not listed": {[]snap{{minutes: 15}}, func(s *Search) {
			s.Observation.Listing = audit.Unknown[audit.Listing](audit.Why{Reason: "AccessDenied"})
		},
			[]string{"could not be listed, so that nobody knows what could be restored: AccessDenied"}},
		"rules that were not seen": {[]snap{{minutes: 15}}, func(s *Search) { s.Observation.Bucket.Lifecycle = audit.Unknown[audit.Document](audit.Why{}) },
			[]string{"nothing is foreseen that deletes it; but the bucket's lifecycle rules were not seen"}},
		"it stays": {[]snap{{minutes: 15}}, nil, []string{"nothing is foreseen that deletes it"}},
		"it is thinned": {[]snap{{minutes: 50, size: 600}, {minutes: 30}}, func(s *Search) {
			s.Ends = []forecast.End{{Snapshot: audit.Snapshot{Name: snap{minutes: 30}.name()}, At: noon.Add(30 * time.Minute), Actor: forecast.ByRetention, Rule: "the earliest of each hour", Action: forecast.Deletes}}
		}, []string{"deletes it on 2026-11-30 12:30:00Z, in 30m. What it keeps is the earliest of that hour, " + snap{minutes: 50}.name() + ", though that holds nothing, by its size (600 bytes)"}},
		"a rule takes it": {[]snap{{minutes: 50}, {minutes: 30}}, func(s *Search) {
			s.Ends = []forecast.End{{Snapshot: audit.Snapshot{Name: snap{minutes: 30}.name()}, At: noon, Actor: forecast.ByLifecycle, Rule: "prune", Action: forecast.Hides}}
		}, []string{`lifecycle rule "prune" hides it at any moment`}},
	} {
		t.Run(name, func(t *testing.T) {
			opened := 0
			s := searchOf(c.snaps, &opened)
			if c.change != nil {
				c.change(&s)
			}
			text := strings.Join(s.Choose().Explain(), "\n")
			for _, want := range c.says {
				if !strings.Contains(text, want) {
					t.Errorf("it does not say %q:\n%s", want, text)
				}
			}
		})
	}
}

// restoreSteps plans the restore of one store in a state.
func restoreSteps(state etcdmanager.State, change func(o *audit.Observation)) []Step {
	opened := 0
	s := searchOf([]snap{{minutes: 15}}, &opened)
	if change != nil {
		change(s.Observation)
	}
	return Restore([]Choice{s.Choose()}, func(audit.Store) etcdmanager.State { return state })
}

// The queue is emptied before anything is queued, the control files stand before
// that, and the copy comes first.
func TestOrderOfRestore(t *testing.T) {
	const (
		freeze  = "Do NOT delete volumes"
		away    = "Copy the snapshots away"
		prove   = "try them on another machine"
		created = "Put etcd-cluster-created back FIRST"
		read    = "Read etcd-cluster-created back"
		spec    = "Now put etcd-cluster-spec back"
		empty   = "must be empty before anything is queued"
		drain   = "Empty the command queue first (1 command)"
		queue   = "Queue the restores"
		readQ   = "Read the queue back"
		restart = "Restart etcd-manager on every control-plane node"
		watch   = "Watch the leader's log"
		after   = "Revisions begin anew"
		check   = "The queue must be empty again"
	)
	noSpec := func(o *audit.Observation) { o.Spec = audit.None[audit.Document]() }
	for name, c := range map[string]struct {
		state  etcdmanager.State
		change func(o *audit.Observation)
		want   []string
	}{
		"running": {etcdmanager.Running, nil, []string{freeze, away, prove, empty, queue, readQ, restart, watch, after, check}},
		"queued":  {etcdmanager.Running, func(o *audit.Observation) { command(o, restore) }, []string{freeze, away, prove, drain, queue, readQ, restart, watch, after, check}},
		"armed":   {etcdmanager.Armed, noSpec, []string{"The store is armed. If etcd still answers", away, prove, created, read, spec, empty, queue, readQ, restart, watch, after, check}},
		"latent":  {etcdmanager.Latent, noSpec, []string{"do NOT restore", away, prove, spec, empty, queue, readQ, restart, watch, after, check}},
		"rules": {etcdmanager.Running, func(o *audit.Observation) { o.Bucket.Lifecycle = audit.Is(audit.Document{Body: []byte("x")}) },
			[]string{freeze, away, prove, "lifecycle rule", empty, queue, readQ, restart, watch, after, check}},
	} {
		t.Run(name, func(t *testing.T) {
			steps := restoreSteps(c.state, c.change)
			if len(steps) != len(c.want) {
				t.Fatalf("%d steps, want %d: %q", len(steps), len(c.want), Titles(steps))
			}
			for i, s := range steps {
				if !strings.Contains(s.Do, c.want[i]) {
					t.Errorf("step %d is %q, want %q", i+1, s.Do, c.want[i])
				}
				if out, err := exec.Command("sh", "-n", "-c", strings.Join(s.Commands, "\n")).CombinedOutput(); err != nil {
					t.Errorf("step %d: %v %s", i+1, err, out)
				}
			}
		})
	}
}

func TestNothingToRestore(t *testing.T) {
	opened := 0
	if steps := Restore([]Choice{searchOf(nil, &opened).Choose()}, nil); steps != nil {
		t.Errorf("got %q", Titles(steps))
	}
}
