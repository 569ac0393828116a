package report_test

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"backstop/audit"
	"backstop/audit/report"
	"backstop/rules/forecast"
	"backstop/rules/recovery"
	"backstop/store/etcdmanager"
)

// future is the timeline of a store of which a rule hides both control files in 30
// days, of 90 snapshots.
func future(s audit.Store, rule string) forecast.Timeline {
	in := func(days int) time.Time { return judged.AddDate(0, 0, days) }
	window := forecast.Window{Known: true, Count: 90, Oldest: in(-90), Newest: judged}
	return forecast.Timeline{
		Store: s, From: judged, To: in(730), Verdict: audit.VerdictWarning, State: etcdmanager.Running, Window: window,
		FinalState: etcdmanager.Armed, FinalWindow: forecast.Window{Known: true}, NoReturn: in(30), Lost: in(100),
		Retention: forecast.Retention{Hourly: 7 * audit.Day, Daily: 90 * audit.Day, By: "kops"},
		Control: []forecast.Fate{
			{Path: etcdmanager.CreatedPath, Presence: "present", Gone: in(30), Rule: rule, Action: forecast.Hides, Until: in(60)},
			{Path: etcdmanager.SpecPath, Presence: "present", Gone: in(40), Rule: rule, Action: forecast.Deletes},
		},
		Events: []forecast.Event{
			{At: in(30), Actor: forecast.ByLifecycle, Rule: rule, Action: forecast.Hides, Paths: []string{etcdmanager.CreatedPath}, State: etcdmanager.Imminent, Window: window, Severity: audit.Warning, Meaning: "of " + rule},
			{At: in(31), Actor: forecast.ByEtcdManager, Action: forecast.Resets, State: etcdmanager.Running, Window: window, Severity: audit.Warning},
			{At: in(100), Actor: forecast.ByLifecycle, Action: forecast.Loses, State: etcdmanager.Running, Window: forecast.Window{Known: true}, Severity: audit.Warning, Unsure: rule},
		},
		Gaps:    []forecast.Gap{{Fact: audit.FactListing, Reason: "of " + rule, Means: "who knows"}},
		Assumes: []string{"of " + rule},
	}
}

// drawn gives every store of a report a detail.
func drawn(r audit.Report, name string) map[string]report.Detail {
	all := map[string]report.Detail{}
	for _, s := range r.Stores {
		t := future(s.Store, name)
		d := report.Detail{Timeline: &t, Repair: []recovery.Step{{Do: "Put back " + name, Commands: []string{"echo " + name + "\necho"}}}}
		for days := range 60 {
			if days != 20 && days != 21 {
				d.Snapshots = append(d.Snapshots, report.Dot{At: judged.AddDate(0, 0, days-60), Size: int64(days) << 20, Damaged: days == 30, Verified: days > 40, Revision: int64(1000 * days), Keys: 7})
			}
		}
		all[s.Store.ID()] = d
	}
	return all
}

// svgs are the drawings of a page by what they say to who cannot see them.
func svgs(t *testing.T, page string) map[string]*html.Node {
	t.Helper()
	all := map[string]*html.Node{}
	for _, n := range elements(parsed(t, page), "svg") {
		if says, ok := attribute(n, "aria-label"); ok {
			all[says] = n
		}
	}
	return all
}

func onePage(t *testing.T) string {
	t.Helper()
	r := good()
	return render(t, "html", r, report.Options{Details: drawn(r, "rule")})
}

// The timeline is to scale: half of the time is half of the width.
func TestTimelineIsToScale(t *testing.T) {
	page := onePage(t)
	for says, n := range svgs(t, page) {
		if !strings.Contains(says, "POINT OF NO RETURN") {
			continue
		}
		var at []string
		for _, line := range elements(n, "line") {
			if class, _ := attribute(line, "class"); strings.HasPrefix(class, "pole") {
				x, _ := attribute(line, "x1")
				at = append(at, class+" "+x)
			}
		}
		// Drawn are 115 days: the last of the dates, 100 days ahead, and some more.
		if got := strings.Join(at, ", "); got != "pole noreturn 26.09%, pole lost 86.96%" {
			t.Errorf("the dates lie at %s", got)
		}
		return
	}
	t.Error("there is no timeline")
}

func TestCalendar(t *testing.T) {
	page := onePage(t)
	text := textOf(t, page)
	for _, want := range []string{"thinned by etcd-manager: 38", "present: 0", "missing: 3", "damaged: 1", "verified: 19"} {
		if !strings.Contains(squeeze(text), squeeze(want)) {
			t.Errorf("it does not say %q", want)
		}
	}
	found := false
	for says := range svgs(t, page) {
		found = found || strings.Contains(says, "3 days missing") && strings.Contains(says, "1 day damaged")
	}
	if !found {
		t.Error("the calendar does not say it in words")
	}
	day := func(n int) string { return judged.AddDate(0, 0, n-60).Format(time.DateOnly) }
	for _, want := range []string{"Missing: " + day(20) + " to " + day(21) + ", " + day(60), "Damaged: " + day(30)} {
		if !strings.Contains(squeeze(text), squeeze(want)) {
			t.Errorf("it does not say %q", want)
		}
	}
}

// Revision and keys are plotted of what was verified.
func TestPlots(t *testing.T) {
	for _, want := range []string{"Size, compressed: 0 bytes on", "Revision, of what was verified: 41000 on", "Keys, of what was verified: 7 on"} {
		found := false
		for says := range svgs(t, onePage(t)) {
			found = found || strings.HasPrefix(says, want)
		}
		if !found {
			t.Errorf("no plot says %q", want)
		}
	}
}

func TestNewDetail(t *testing.T) {
	object := func(size int64, ago time.Duration) *audit.Object {
		return &audit.Object{Size: size, LastModified: judged.Add(-ago)}
	}
	o := &audit.Observation{Store: audit.Store{URL: "s3://kops/x"}, Listing: audit.Is(audit.Listing{Snapshots: []audit.Snapshot{
		{Name: "uploading", Taken: judged.Add(-time.Minute), Data: object(5, time.Minute)},
		{Name: "half", Taken: judged.Add(-time.Hour), Data: object(5, time.Hour)},
		{Name: "empty", Taken: judged.Add(-2 * time.Hour), Data: object(0, 2*time.Hour), Meta: object(1, 2*time.Hour)},
		{Name: "opened", Taken: judged.Add(-3 * time.Hour), Data: object(7, 3*time.Hour), Meta: object(1, 3*time.Hour)},
		{Name: "broken", Taken: judged.Add(-4 * time.Hour), Data: object(7, 4*time.Hour), Meta: object(1, 4*time.Hour)},
		{Name: "rewritten", Taken: judged.Add(-5 * time.Hour), Data: object(7, 5*time.Hour), Meta: object(1, 5*time.Hour)},
		{Name: "by hand", Data: object(7, 0), Meta: object(1, 0)},
	}})}
	d := report.NewDetail(o, judged, forecast.Timeline{}, nil, map[string]report.Proof{"s3://kops/x/opened": {Good: true, Revision: 9, Keys: 3}, "s3://kops/x/broken": {}, "s3://kops/x/rewritten": {Good: true, Size: 6}})
	var got []string
	for _, s := range d.Snapshots {
		got = append(got, judged.Sub(s.At).String()+map[bool]string{true: " damaged"}[s.Damaged]+map[bool]string{true: " verified"}[s.Verified])
	}
	if want := "5h0m0s, 4h0m0s damaged, 3h0m0s verified, 2h0m0s damaged, 1h0m0s damaged"; strings.Join(got, ", ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, ", "), want)
	}
}
