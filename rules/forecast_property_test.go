package rules

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"backstop/audit"
	"backstop/rules/forecast"
	"backstop/rules/lifecycle"
	"backstop/store/etcdmanager"
)

// randomRules makes a lifecycle configuration that S3 accepts.
func randomRules(r *rand.Rand) string {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	var b strings.Builder
	for i := range 1 + r.IntN(3) {
		filter := pick("", prefixed(""), prefixed(mainRoot), prefixed(mainRoot+"control/"), prefixed(mainRoot+"20"), prefixed(mainRoot+"control/etcd-cluster-created"),
			prefixed(mainRoot+"control/etcd-cluster-spec"), prefixed("logs/"), "<ObjectSizeGreaterThan>500</ObjectSizeGreaterThan>", "<Tag><Key>a</Key><Value>b</Value></Tag>")
		days := 1 + r.IntN(500)
		action := pick(
			fmt.Sprintf("<Expiration><Days>%d</Days></Expiration>", days),
			fmt.Sprintf("<Expiration><Date>%s</Date></Expiration>", midnight.AddDate(0, 0, days-200).Format(time.RFC3339)),
			fmt.Sprintf("<NoncurrentVersionExpiration><NoncurrentDays>%d</NoncurrentDays></NoncurrentVersionExpiration>", days),
			fmt.Sprintf("<Transition><Days>%d</Days><StorageClass>%s</StorageClass></Transition>", days, pick("GLACIER", "DEEP_ARCHIVE", "GLACIER_IR")),
			fmt.Sprintf("<Expiration><Days>%d</Days></Expiration><NoncurrentVersionExpiration><NoncurrentDays>%d</NoncurrentDays></NoncurrentVersionExpiration>", days, 1+r.IntN(90)),
		)
		fmt.Fprintf(&b, "<Rule><ID>r%d</ID><Status>%s</Status><Filter>%s</Filter>%s</Rule>", i, pick("Enabled", "Enabled", "Enabled", "Disabled"), filter, action)
	}
	return b.String()
}

// randomStore changes the healthy store in random ways.
func randomStore(r *rand.Rand, o *audit.Observation) {
	age := func() time.Duration { return time.Duration(r.Int64N(int64(450 * audit.Day))) }
	aged(age(), age())(o)
	if r.IntN(3) > 0 {
		daily(1 + r.IntN(100))(o)
	}
	changes := []func(o *audit.Observation){unversioned, suspended, keeps90, loseCreated, loseSpec, loseBoth, noSnapshots, archiveCreated, archiveSpec, specIs("{", noon),
		newestAt(40 * audit.Day), queuedBody("{", noon), lockedFor(30 * audit.Day), sizeDefault(lifecycle.AllClasses128K), sizeDefault(lifecycle.VariesByClass), behind("https://s3.example.org")}
	for range r.IntN(3) {
		changes[r.IntN(len(changes))](o)
	}
	lifecycleRules(randomRules(r))(o)
}

// fault says how a timeline contradicts itself.
func fault(tl forecast.Timeline) string {
	last := tl.From
	for i, e := range tl.Events {
		run := e.At
		if run.Before(tl.From) {
			run = tl.From
		}
		switch {
		case run.Before(last):
			return fmt.Sprintf("event %d lies before the one before it", i)
		case e.At.After(tl.To):
			return fmt.Sprintf("event %d lies beyond the end", i)
		case e.Overdue != !e.At.After(tl.From) && e.Actor == forecast.ByLifecycle && e.Action != forecast.Loses:
			return fmt.Sprintf("event %d at %v is overdue: %t", i, e.At, e.Overdue)
		case !e.To.IsZero() && e.To.Before(e.At), !e.Late.IsZero() && !e.Late.After(e.At):
			return fmt.Sprintf("event %d ends before it begins", i)
		case e.State == "" || e.Severity == "" || e.Describe() == "":
			return fmt.Sprintf("event %d lacks its state, severity or words", i)
		case e.IfReset != nil && e.IfReset.Count > e.Window.Count:
			return fmt.Sprintf("event %d: a reset makes more of it", i)
		case e.Snapshots != nil && e.Snapshots.Count == 0:
			return fmt.Sprintf("event %d is about no snapshot", i)
		}
		last = run
	}
	if !tl.Lost.IsZero() && tl.FinalWindow.Count > 0 {
		return "everything is lost, and something is left"
	}
	if !tl.Reset.IsZero() && tl.Reset.Before(tl.NoReturn) && !tl.NoReturn.IsZero() && tl.Reset.After(tl.From) {
		return "the reset comes before the point of no return"
	}
	return ""
}

// Whatever the store and the rules, a timeline does not contradict itself, and the
// audit's word on the control files is the same.
func TestForecastOfAnything(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	spoke, gone := 0, 0
	for n := range 300 {
		o, p := healthy(), audit.DefaultPolicy()
		randomStore(r, o)
		p.HorizonWarning = 20 * 365 * audit.Day
		tl := Forecast(o, p, noon, 20*365*audit.Day, nil)
		describe := func() string { return fmt.Sprintf("case %d, rules %s", n, o.Bucket.Lifecycle.Value.Body) }
		if f := fault(tl); f != "" {
			t.Fatalf("%s: %s", describe(), f)
		}
		findings := lifecycleDeletesControl.Check(o, p.For(o), noon)
		for i := range 2 {
			doc, path := []audit.Fact[audit.Document]{o.Created, o.Spec}[i], []string{etcdmanager.CreatedPath, etcdmanager.SpecPath}[i]
			d, dies := deletion(o, doc, path, noon)
			fate := tl.Control[i]
			archived, archives := archival(o, doc, noon, "")
			switch {
			case !tl.Reset.IsZero() && dies && (d.at.After(tl.Reset) || !tl.Reset.After(noon)):
				continue // etcd-manager writes it anew before the rule's next run
			case archives && fate.Action == forecast.Archives:
				if !fate.Gone.Equal(archived.At) || fate.Rule != archived.Rule {
					t.Errorf("%s: %s is archived %v by %s, and in the forecast %v by %s", describe(), path, archived.At, archived.Rule, fate.Gone, fate.Rule)
				}
			case dies && fate.Action != forecast.Archives:
				gone++
				if !fate.Gone.Equal(d.at) || fate.Rule != d.rule || (fate.Action == forecast.Hides) != d.hides {
					t.Errorf("%s: the audit says of %s %s, the forecast %v by %s (%s)", describe(), path, d, fate.Gone, fate.Rule, fate.Action)
				}
			case !dies && !archives && !fate.Gone.IsZero():
				t.Errorf("%s: the forecast alone says that %s goes %v by %s", describe(), path, fate.Gone, fate.Rule)
			}
		}
		if len(findings) > 0 && o.Created.IsSet() {
			spoke++
			if _, after, ok := strings.Cut(findings[0].Message, "Point of no return: "); ok && !strings.HasPrefix(after, audit.Stamp(tl.NoReturn)) {
				t.Errorf("%s: the audit says %s, the forecast %v", describe(), findings[0].Message, tl.NoReturn)
			}
		}
	}
	if spoke < 50 || gone < 100 {
		t.Errorf("the audit spoke %d times, %d files went: that proves little", spoke, gone)
	}
}

// What is not seen is never taken for nothing: the timeline names it, and its verdict
// is not OK without a necessary fact.
func TestForecastNamesWhatIsUnseen(t *testing.T) {
	for _, fact := range audit.Facts {
		o := healthy()
		kopsSays(nil)(o)
		unseen(fact)(o)
		tl := Forecast(o, audit.DefaultPolicy(), noon, 0, nil)
		named := false
		for _, g := range tl.Gaps {
			named = named || g.Fact == fact
		}
		// The newest meta and what the bucket is like decide nothing that is told.
		switch fact {
		case audit.FactNewestMeta, audit.FactRestoreMeta, audit.FactVersions, audit.FactKopsState, audit.FactKops, audit.FactClock, audit.FactObjectLock,
			audit.FactPublicAccessBlock, audit.FactPublicPolicy, audit.FactEncryption, audit.FactUploads:
			continue
		}
		if !named {
			t.Errorf("%s is unseen, and no gap names it", fact)
		}
		if fact.IsNecessary() && tl.Verdict != audit.VerdictUnknown {
			t.Errorf("%s is unseen, and the verdict is %s", fact, tl.Verdict)
		}
	}
	if tl := Forecast(&audit.Observation{}, audit.DefaultPolicy(), noon, 0, nil); tl.Verdict != audit.VerdictUnknown || tl.State != "unknown" {
		t.Errorf("of nothing: %s, %s", tl.Verdict, tl.State)
	}
}
