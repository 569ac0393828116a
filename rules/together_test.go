package rules

// What holds for all rules together. Whole situations, from the bucket to the
// report, are in cmd/backstop.

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"backstop/audit"
	"backstop/store/etcdmanager"
)

// named makes the store that of another etcd of the cluster.
func named(etcd string) func(o *audit.Observation) {
	return func(o *audit.Observation) { o.Store.Etcd = etcd }
}

// afterReset is a store in a versioned bucket whose cluster was replaced two
// hours ago, after a week without control files.
var afterReset = all(
	bornAtTime(noon.Add(-2*time.Hour)),
	specIs(specGood, noon.Add(-2*time.Hour-time.Second)),
	snapshotsAre(taken(8*audit.Day, 50_000), taken(7*audit.Day, 50_000), taken(2*time.Hour-time.Second, 690), taken(time.Hour, 900), taken(time.Minute, 5500)),
	func(o *audit.Observation) {
		o.ControlVersions = audit.Is(slices.Concat(
			[]audit.Version{version(o.Created.Value, "v2", true)}, under(hidden(etcdmanager.CreatedPath, noon.Add(-7*audit.Day))),
			[]audit.Version{version(o.Spec.Value, "v2", true)}, under(hidden(etcdmanager.SpecPath, noon.Add(-7*audit.Day)))))
	},
)

// under are versions that are no longer the latest.
func under(list []audit.Version) []audit.Version {
	for i := range list {
		list[i].Latest = false
	}
	return list
}

// copiedStore was copied to its place two days ago, and runs there since.
var copiedStore = all(
	snapshotsAre(storedLate(30*audit.Day, 28*audit.Day), storedLate(10*audit.Day, 8*audit.Day), storedLate(3*audit.Day, audit.Day), taken(20*time.Minute, 50_000), taken(5*time.Minute, 50_000)),
	createdIs(string(etcdmanager.FormatCreated(birth)), noon.Add(-2*audit.Day)),
	specIs(specGood, noon.Add(-2*audit.Day)),
)

// rulesOf gives each finding as "severity rule".
func rulesOf(found []audit.Finding) []string {
	var list []string
	for _, f := range found {
		list = append(list, string(f.Severity)+" "+f.Rule)
	}
	return list
}

// One cause makes one finding: the lesser one becomes its evidence.
func TestSupersession(t *testing.T) {
	lateAt, staleAt := newestAt(3*time.Hour), newestAt(14*audit.Day)
	for name, c := range map[string]struct {
		seen   func(o *audit.Observation)
		rule   string
		lesser []string
	}{
		"armed and late":             {all(lateAt, loseBoth), "control/reset-armed", []string{"snapshot/late"}},
		"armed and stale":            {all(staleAt, loseBoth), "control/reset-armed", []string{"snapshot/stale"}},
		"imminent and late":          {all(lateAt, loseCreated), "control/reset-imminent", []string{"snapshot/late"}},
		"imminent and stale":         {all(staleAt, loseCreated), "control/reset-imminent", []string{"snapshot/stale"}},
		"stuck and stale":            {all(staleAt, loseSpec), "control/spec-missing", []string{"snapshot/stale"}},
		"blocked and late":           {all(lateAt, createdIs("", birth)), "control/blocked", []string{"snapshot/late"}},
		"blocked and stale":          {all(staleAt, createdIs("", birth)), "control/blocked", []string{"snapshot/stale"}},
		"archived and stale":         {all(staleAt, archiveCreated), "control/blocked", []string{"snapshot/stale"}},
		"not read again":             {all(staleAt, bornAtTime(noon.Add(-14*audit.Day+time.Second)), specIs(specGood, noon.Add(-time.Hour)), createdIs(string(etcdmanager.FormatCreated(noon.Add(-14*audit.Day-4*time.Second))), noon.Add(-14*audit.Day+time.Second))), "control/not-reread", []string{"snapshot/stale"}},
		"reset, and created altered": {afterReset, "control/reseeded", []string{"control/altered"}},
		"events late, main is not":   {all(lateAt, named("events"), beside("main", 0)), "snapshot/late", []string{"snapshot/events-behind"}},
		"events stale, main is not":  {all(staleAt, named("events"), beside("main", 0)), "snapshot/stale", []string{"snapshot/events-behind"}},
		"locked, and not cleaned up": {all(spaced(2000, 15*time.Minute), lockedFor(30*audit.Day)), "retention/writer-locked", []string{"retention/cleanup-ineffective"}},
		"an old tree, late":          {all(elsewhere, lateAt), "bucket/duplicate-tree", []string{"snapshot/late"}},
		"an old tree, stale":         {all(elsewhere, staleAt), "bucket/duplicate-tree", []string{"snapshot/stale"}},
		"an old tree, without any":   {all(elsewhere, noSnapshots), "bucket/duplicate-tree", []string{"snapshot/none"}},
		"a restore of nothing":       {queued("nothing", audit.Day), "queue/bad-restore", []string{"queue/pending-restore"}},
		"vanished, and armed":        {all(vanishedStore, versionsAre(hidden(etcdmanager.CreatedPath, noon)...)), "audit/store-vanished", []string{"control/reset-armed"}},
		"vanished, with strays":      {all(vanishedStore, strays(1)), "audit/store-vanished", []string{"control/stray"}},
		"vanished with its cluster":  {all(vanishedStore, orphan, versionsAre(hidden(etcdmanager.CreatedPath, noon.Add(-time.Hour))...)), "audit/store-vanished", []string{"bucket/orphan-store"}},
		"vanished, and not known":    {all(vanishedStore, unseen(audit.FactControlVersions)), "audit/store-vanished", []string{"control/unseen"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := healthy()
			c.seen(o)
			alone := map[string]int{} // findings of each rule, unjudged
			for _, r := range All {
				alone[r.ID] = len(r.Check(o, audit.DefaultPolicy(), noon))
			}
			r := audit.Judge(Set, o, audit.DefaultPolicy(), noon)
			i := slices.IndexFunc(r.Findings, func(f audit.Finding) bool { return f.Rule == c.rule })
			if i < 0 {
				t.Fatalf("%s does not speak: %q", c.rule, rulesOf(r.Findings))
			}
			var evidence []string
			for _, e := range r.Findings[i].Evidence {
				evidence = append(evidence, e.Rule)
			}
			for _, lesser := range c.lesser {
				switch {
				case alone[lesser] == 0:
					t.Errorf("%s would not speak alone", lesser)
				case slices.ContainsFunc(r.Findings, func(f audit.Finding) bool { return f.Rule == lesser }):
					t.Errorf("%s speaks beside %s", lesser, c.rule)
				case !slices.Contains(evidence, lesser):
					t.Errorf("%s is not among the evidence of %s: %q", lesser, c.rule, evidence)
				}
			}
		})
	}
}

// A bad restore explains that its own command waits, and no other's.
func TestBadRestoreSupersedesItsOwnCommandAlone(t *testing.T) {
	o := healthy()
	all(queued(earlier, 8*audit.Day), queued("nothing", 7*audit.Day))(o)
	r := audit.Judge(Set, o, audit.DefaultPolicy(), noon)
	if got := rulesOf(r.Findings); !slices.Equal(got, []string{"critical queue/bad-restore", "critical queue/pending-restore"}) {
		t.Fatalf("findings %q", got)
	}
	if r.Findings[0].Key == r.Findings[1].Key || !strings.Contains(r.Findings[1].Message, earlier) {
		t.Errorf("pending-restore is left for %q: %s", r.Findings[1].Key, r.Findings[1].Message)
	}
}

// heralds are the rules that announce a state.
var heralds = map[string]string{
	"imminent": "control/reset-imminent", "armed": "control/reset-armed",
	"latent": "control/spec-missing", "stuck": "control/spec-missing", "blocked": "control/blocked",
	"bootstrapping": "control/never-initialised", "uninitialised": "control/never-initialised",
}

// In every combination of what can be seen of a store, its state and its
// findings say the same, and nothing is well of which a part was not seen.
func TestStateAndFindingsAgree(t *testing.T) {
	created := map[string]func(o *audit.Observation){
		"unseen": unseen(audit.FactCreated), "missing": loseCreated, "empty": createdIs("", birth), "archived": archiveCreated, "present": func(*audit.Observation) {},
	}
	spec := map[string]func(o *audit.Observation){
		"unseen": unseen(audit.FactSpec), "missing": loseSpec, "empty": specIs("", birth), "cut short": specIs("{", birth), "archived": archiveSpec,
		"braces": specIs("{}", birth), "good": func(*audit.Observation) {}, "good and young": specIs(specGood, noon.Add(-time.Minute)),
	}
	snapshots := map[string]func(o *audit.Observation){
		"unseen": unseen(audit.FactListing), "none": noSnapshots, "fresh": func(*audit.Observation) {}, "late": newestAt(3 * time.Hour), "stale": newestAt(14 * audit.Day),
	}
	versions := map[string]func(o *audit.Observation){
		"unseen": unseen(audit.FactControlVersions), "none": versionsAre(), "a marker": versionsAre(hidden(etcdmanager.CreatedPath, noon.Add(-time.Hour))...),
	}
	for c, changeCreated := range created {
		for s, changeSpec := range spec {
			for n, changeSnapshots := range snapshots {
				for v, changeVersions := range versions {
					o := healthy()
					all(changeCreated, changeSpec, changeSnapshots, changeVersions)(o)
					r := audit.Judge(Set, o, audit.DefaultPolicy(), noon)
					if fault := disagreement(r); fault != "" {
						t.Errorf("created %s, spec %s, snapshots %s, versions %s: state %s, verdict %s, %q: %s", c, s, n, v, r.State.Name, r.Verdict, rulesOf(r.Findings), fault)
					}
				}
			}
		}
	}
}

// disagreement says where the parts of a report contradict each other.
func disagreement(r audit.StoreReport) string {
	speaks := func(rule string) bool {
		return slices.ContainsFunc(r.Findings, func(f audit.Finding) bool { return f.Rule == rule })
	}
	herald := heralds[r.State.Name]
	for _, rule := range heralds {
		if rule != herald && speaks(rule) {
			// A missing spec is critical even where nobody knows whether
			// backups still run.
			if rule == "control/spec-missing" && r.State.Name == "unknown" {
				continue
			}
			return rule + " speaks in another state than its own"
		}
	}
	if herald != "" && !speaks(herald) {
		return herald + " is silent in its state"
	}
	switch r.State.Name {
	case "imminent", "armed", "latent", "stuck", "blocked":
		if r.Verdict != audit.VerdictCritical {
			return "the verdict is not CRITICAL"
		}
		if speaks("snapshot/stale") || r.State.Name != "latent" && speaks("snapshot/late") {
			return "the state explains the age of the snapshots"
		}
	case "unknown":
		if !slices.ContainsFunc(r.Findings, func(f audit.Finding) bool { return f.Severity == audit.Unsure }) {
			return "nothing says what was not seen"
		}
	case "uninitialised":
		if r.Verdict == audit.OK {
			return "the verdict is OK"
		}
	case "running", "bootstrapping":
	default:
		return "no such state"
	}
	if r.Verdict == audit.OK && !r.Checked() {
		return "the verdict is OK, and a necessary fact was not seen"
	}
	return ""
}

// storeWide are rules whose findings are about the store, and no one object.
var storeWide = []string{"lifecycle/cuts-ladder", "control/unseen", "snapshot/copied-store", "audit/store-vanished", "audit/clock-skew", "audit/blind", "audit/assumed", "audit/ignore", "bucket/orphan-store", "bucket/duplicate-tree"}

// Whatever a rule finds comes with its facts: the object, what was seen and what
// should be there, and what to do, of which "do not" comes first.
func TestFindingsAreWhole(t *testing.T) {
	told := map[string]bool{}
	for _, r := range All {
		for name, c := range allCases[r.ID].cases {
			o, p := healthy(), audit.DefaultPolicy()
			if c.seen != nil {
				c.seen(o)
			}
			if c.policy != nil {
				c.policy(&p)
			}
			p = p.For(o) // as Judge does
			for _, f := range r.Check(o, p, noon.Add(c.at)) {
				if fault := lacking(r, f); fault != "" && !told[fault] {
					told[fault] = true
					t.Errorf("%s, case %q: %s", r.ID, name, fault)
				}
			}
		}
	}
}

// lacking says what a finding lacks.
func lacking(r audit.Rule, f audit.Finding) string {
	switch {
	case f.Message == "" || strings.Contains(textOf([]audit.Finding{f}), "%!"):
		return fmt.Sprintf("the message is %q", f.Message)
	case f.Observed == "" || f.Expected == "":
		return fmt.Sprintf("observed %q, expected %q", f.Observed, f.Expected)
	case f.Key == "" && r.Scope != "bucket" && !slices.Contains(storeWide, r.ID):
		return "no object is named"
	case len(f.Do) == 0 && f.Severity != audit.Info:
		return "nothing is to be done"
	}
	// Where seconds count, what to do comes first.
	if r.ID == "control/reset-imminent" {
		return ""
	}
	for i, step := range f.Do {
		if i > 0 && isDoNot(step) && !isDoNot(f.Do[i-1]) {
			return fmt.Sprintf("%q comes after %q", step, f.Do[i-1])
		}
	}
	return ""
}

func isDoNot(step string) bool { return strings.HasPrefix(strings.ToLower(step), "do not ") }
