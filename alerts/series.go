package alerts

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"backstop/audit"
	"backstop/store/etcdmanager"
)

// series makes the metrics of results.
func series(b Build, r Results) []prometheus.Metric {
	s := &sink{}
	s.add(NameBuild, 1, b.Version, b.Revision, b.GoVersion)
	s.add(NameRun, seconds(r.Ran))
	s.add(NameStores, float64(len(r.Stores)))
	type place struct{ name, cause string }
	places := map[place]bool{}
	for _, p := range r.Problems {
		if at := (place{valid(p.Target), valid(string(p.Cause))}); !places[at] {
			places[at] = true
			s.add(NameUnaudited, 1, at.name, at.cause)
		}
	}
	s.usage(r)
	if r.Reload != nil {
		s.add(NameReload, oneIf(r.Reload.OK))
		s.add(NameReloadTime, seconds(r.Reload.Succeeded))
	}
	taken := names{}
	for _, one := range r.Stores {
		s.store(one, taken.own(Label(one.Store)))
	}
	s.buckets(r.Stores)
	return s.metrics
}

// A sink collects metrics.
type sink struct{ metrics []prometheus.Metric }

func (s *sink) add(name string, value float64, labels ...string) {
	kind := prometheus.GaugeValue
	if Named(name).Kind == Counter {
		kind = prometheus.CounterValue
	}
	s.metrics = append(s.metrics, prometheus.MustNewConstMetric(descs[name], kind, value, labels...))
}

func (s *sink) usage(r Results) {
	for op, n := range r.Usage.Requests {
		s.add(NameRequests, float64(n), valid(op))
	}
	for cause, n := range r.Usage.Errors {
		s.add(NameErrors, float64(n), valid(cause))
	}
	s.add(NameReceived, float64(r.Usage.Bytes))
	for k, n := range r.Notifications {
		s.add(NameNotifications, float64(n), valid(k.Channel), k.Outcome)
	}
}

// store makes the metrics of one store.
func (s *sink) store(one Result, name string) {
	own := func(metric string, value float64, labels ...string) {
		s.add(metric, value, append([]string{name, valid(one.Store.Cluster), valid(one.Store.Etcd)}, labels...)...)
	}
	r := one.Report
	if r == nil {
		own(NameAudit, 0)
		return
	}
	if p := one.Probe; p != nil {
		own(NameProbe, seconds(p.Succeeded))
		own(NameProbeOK, oneIf(p.OK))
	}
	role := r.Role
	if role == "" {
		role = audit.Live
	}
	own(NameStoreInfo, 1, valid(one.Store.Bucket), valid(one.Store.Prefix), string(role))
	own(NameAudit, seconds(r.Observed))
	own(NameDuration, r.Observed.Sub(r.Began).Seconds())
	stateSet(own, NameVerdict, strings.ToLower(string(r.Verdict)), verdicts)
	stateSet(own, NameReset, r.State.Name, states)
	own(NamePending, pending(r))
	for k, n := range counts(r.Findings) {
		own(NameFindings, float64(n), k.rule, string(k.severity))
	}
	unseen(own, r)
	for _, c := range r.Control {
		control(own, c)
	}
	snapshots(own, r)
	own(NameInterval, r.Interval.Seconds())
	own(NameAuditRequests, sum(r.Usage.Requests))
	own(NameAuditErrors, troubles(r.Usage.Errors))
}

// pending is known where a restore command was read, or the whole queue was.
func pending(r *audit.StoreReport) float64 {
	if !r.State.RestorePending && blind(r, audit.FactQueue) {
		return math.NaN()
	}
	return oneIf(r.State.RestorePending)
}

// own adds a metric of one store.
type own = func(metric string, value float64, labels ...string)

var (
	verdicts = []string{"ok", "warning", "unknown", "critical"}
	states   = func() []string {
		var all []string
		for _, s := range etcdmanager.States {
			all = append(all, string(s))
		}
		return all
	}()
)

// stateSet is 1 for the state that is, and 0 for all others.
func stateSet(add own, metric, is string, all []string) {
	for _, state := range all {
		add(metric, oneIf(state == is), state)
	}
}

// unseen says of each fact whether it was not seen.
func unseen(add own, r *audit.StoreReport) {
	for _, fact := range audit.Facts {
		not := blind(r, fact)
		if not || fact.IsNecessary() {
			add(NameUnseen, oneIf(not), string(fact))
		}
	}
}

func blind(r *audit.StoreReport, fact audit.FactName) bool {
	return slices.ContainsFunc(r.Unseen, func(u audit.UnseenFact) bool { return u.Fact == fact })
}

// control makes the metrics of a control file. What is not known is NaN, and
// nothing else is.
func control(add own, c audit.ControlFile) {
	present, modified, expiry := math.NaN(), math.NaN(), math.NaN()
	switch c.State {
	case audit.Set:
		present = 1
		if !c.LastModified.IsZero() {
			modified = seconds(c.LastModified)
		}
		switch c.Expires.State {
		case audit.Set:
			expiry = seconds(c.Expires.Value)
		case audit.Unset:
			expiry = math.Inf(1)
		}
	case audit.Unset:
		present = 0
	}
	add(NameControlPresent, present, c.File)
	add(NameControlModified, modified, c.File)
	add(NameControlExpiry, expiry, c.File)
}

// snapshots makes the metrics of what the listing told.
func snapshots(add own, r *audit.StoreReport) {
	number := func(n float64) float64 {
		if blind(r, audit.FactListing) {
			return math.NaN()
		}
		return n
	}
	when := func(n *audit.Newest) float64 {
		if n == nil {
			return number(0)
		}
		return number(seconds(n.At))
	}
	add(NameSnapshots, number(float64(r.Snapshots)))
	add(NameIncomplete, number(float64(r.Incomplete)))
	add(NameBytes, number(float64(r.SnapshotBytes)))
	add(NameNewest, when(r.Newest))
	add(NameOldest, when(r.Oldest))
}

// A kind tells findings apart as far as metrics do.
type kind struct {
	rule     string
	severity audit.Severity
}

// counts counts a store's own findings.
func counts(found []audit.Finding) map[kind]int {
	n := map[kind]int{}
	for _, f := range found {
		if f.Scope != "bucket" {
			n[kind{f.Rule, f.Severity}]++
		}
	}
	return n
}

// buckets adds what concerns whole buckets: once, and not for each store.
func (s *sink) buckets(stores []Result) {
	type finding struct {
		kind
		label, key, message string
	}
	known := map[finding]bool{}
	type series struct {
		kind
		label string
	}
	n := map[series]int{}
	for _, one := range stores {
		if one.Report == nil {
			continue
		}
		for _, f := range one.Report.Findings {
			about := finding{kind{f.Rule, f.Severity}, BucketLabel(one.Store), f.Key, f.Message}
			if f.Scope != "bucket" || known[about] {
				continue
			}
			known[about] = true
			n[series{about.kind, about.label}]++
		}
	}
	for k, count := range n {
		s.add(NameFindings, float64(count), k.label, "", "", k.rule, string(k.severity))
	}
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// seconds since 1970, or 0 for no time at all.
func seconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}

func sum(counts map[string]int) float64 {
	n := 0
	for _, of := range counts {
		n += of
	}
	return float64(n)
}

// troubles counts the errors that are S3's, or of the way to it. What is refused
// for good is no trouble of the moment: the facts that stay unseen tell of it.
func troubles(errors map[string]int) float64 {
	n := 0
	for _, cause := range []audit.Cause{audit.CauseThrottled, audit.CauseServer, audit.CauseTimeout, audit.CauseUnreachable, audit.CauseMalformed} {
		n += errors[string(cause)]
	}
	return float64(n)
}
