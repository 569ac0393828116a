package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/term"

	"backstop/audit"
	"backstop/rules/lint"
	"backstop/store"
)

// s3Settings are what tests change of how S3 is reached.
type s3Settings = store.S3Options

// A target is one place to look at, with what is expected of the stores there.
type target struct {
	configTarget
	policy  audit.Policy
	namedBy string // "configuration" when a file says that it must exist
}

// A sight is one observed store and the policy to judge it by.
type sight struct {
	Observation *audit.Observation `json:"observation"`
	Policy      audit.Policy       `json:"policy"`

	// again looks at the store once more; nil for a recording. bucket is its.
	again  func(ctx context.Context) *audit.Observation
	bucket store.Bucket
}

// A viewer is shown the stores of a run, and keeps of them what it needs.
type viewer interface {
	// expect gives the policies of all stores, before the first is shown.
	expect(policies []audit.Policy)
	// show shows a store by its index among them. It may be called by several
	// goroutines at a time, in any order.
	show(i int, s sight)
}

// see shows what there is to judge, by looking or from a recording. It gives the
// places without a store to report on, and what was asked of S3 that stands in no
// observation.
func (p *program) see(ctx context.Context, args []string, o *options, v viewer) ([]audit.Problem, audit.Usage, error) {
	if o.replay != "" {
		problems, err := p.replay(args, o, v)
		return problems, audit.Usage{}, err
	}
	ts, pace, err := p.targets(args, o)
	if err != nil {
		return nil, audit.Usage{}, err
	}
	if o.record == "" {
		return p.look(ctx, ts, pace, o, v)
	}
	r := &recorder{viewer: v}
	problems, usage, err := p.look(ctx, ts, pace, o, r)
	if err == nil {
		err = writeRecording(o.record, r.sights, problems, o.places)
	}
	return problems, usage, err
}

// look observes every store of every target.
func (p *program) look(ctx context.Context, ts []target, pace store.Pace, o *options, v viewer) ([]audit.Problem, audit.Usage, error) {
	begun := p.now()
	var problems []audit.Problem
	var opened []target
	survey := &store.Survey{Now: p.now, Concurrency: o.concurrency, Progress: p.progress(o), Proposed: o.proposed, Shard: o.shard, Charm: o.charm}
	for _, t := range ts {
		b, prefix, err := p.open(ctx, t, pace, o)
		if err != nil {
			problems = append(problems, store.Problem(t.URL, err))
			continue
		}
		opened = append(opened, t)
		survey.Places = append(survey.Places, store.Place{URL: t.URL, Bucket: b, Prefix: prefix, NamedBy: t.namedBy})
	}
	survey.Open = func(ctx context.Context, bucket string, like int) (store.Bucket, error) {
		t := opened[like]
		t.URL, t.Region = "s3://"+bucket, ""
		b, _, err := p.open(ctx, t, pace, o)
		return b, err
	}
	found, err := survey.Find(ctx)
	if err != nil {
		return nil, audit.Usage{}, err
	}
	policies := policiesOf(opened, found.Places)
	answerElsewhere(policies, policiesOf(opened, found.Fleet))
	v.expect(policies)
	bill := bill{log: p.logger(o), begun: begun, stores: len(policies)}
	bill.total.Add(found.Usage)
	var broken sync.Map // places in which a store was not listed
	err = found.Observe(ctx, func(i int, seen *audit.Observation) {
		if !seen.Listing.Seen() {
			broken.Store(found.Places[i], true)
		}
		bill.add(seen)
		seen.Store.Endpoint = masked(seen.Store.Endpoint)
		siblings := seen.Siblings
		v.show(i, sight{Observation: seen, Policy: policies[i], bucket: found.Bucket(i), again: func(ctx context.Context) *audit.Observation {
			o := found.Again(ctx, i, siblings)
			o.Store.Endpoint = masked(o.Store.Endpoint)
			return o
		}})
	})
	if err == nil {
		bill.print(p.now())
	}
	problems = append(problems, found.Problems...)
	if !o.shard.Partial() {
		o.places = listedPlaces(survey.Places, problems, &broken)
	}
	return problems, found.Usage, err
}

// policiesOf gives the policy of each store, by the target that it belongs to.
func policiesOf(ts []target, of []int) []audit.Policy {
	policies := make([]audit.Policy, len(of))
	for i, at := range of {
		policies[i] = ts[at].policy
	}
	return policies
}

// listedPlaces are the places of which everything was listed: those without a
// problem, but for the one that nothing is there, and without a store that was not
// listed.
func listedPlaces(places []store.Place, problems []audit.Problem, broken *sync.Map) []lint.Place {
	var all []lint.Place
	for i, p := range places {
		_, not := broken.Load(i)
		if !not && !slices.ContainsFunc(problems, func(pr audit.Problem) bool { return pr.Target == p.URL && pr.Cause != audit.CauseNoStore }) {
			all = append(all, lint.Place{URL: p.URL, Bucket: p.Bucket.Name(), Prefix: p.Prefix})
		}
	}
	return all
}

// A bill is what a run has asked of S3, for the log.
type bill struct {
	log    zerolog.Logger
	begun  time.Time
	stores int

	mu    sync.Mutex
	total audit.Usage
}

// add logs a store, and adds it to the total.
func (b *bill) add(o *audit.Observation) {
	b.log.Info().Str("store", o.Store.URL).Any("requests", o.Usage.Requests).
		Int64("bytes", o.Usage.Bytes).Dur("took", o.Ended.Sub(o.Begun)).Msg("observed")
	b.mu.Lock()
	defer b.mu.Unlock()
	b.total.Add(o.Usage)
}

// print logs the total. That S3 asked to slow down is worth a warning: the run took
// longer for it, and others who use the bucket may suffer too.
func (b *bill) print(now time.Time) {
	n := 0
	for _, of := range b.total.Requests {
		n += of
	}
	b.log.Info().Int("stores", b.stores).Int("requests", n).Any("by_kind", b.total.Requests).
		Int64("bytes", b.total.Bytes).Int("throttled", b.total.Throttled).Dur("took", now.Sub(b.begun)).Msg("looked at all stores")
	if b.total.Throttled > 0 {
		b.log.Warn().Int("throttled", b.total.Throttled).Int("requests", n).
			Msg("S3 asked to slow down; a lower --max-requests-per-second or --concurrency spares the bucket's other users")
	}
}

// progress tells on a terminal how many stores have been looked at, where there
// are many.
func (p *program) progress(*options) func(done, of int) {
	f, isFile := p.stderr.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return func(done, of int) {
		if of < 10 {
			return
		}
		end := ""
		if done == of {
			end = "\r\x1b[K"
		}
		fmt.Fprintf(p.stderr, "\rlooked at %d of %d stores%s", done, of, end)
	}
}

// open opens the bucket of a target and gives the key prefix to look below.
func (p *program) open(ctx context.Context, t target, pace store.Pace, o *options) (store.Bucket, string, error) {
	at, err := store.ParseTarget(t.URL)
	if err != nil {
		return nil, "", err
	}
	if at.Dir != "" {
		return store.OpenDir(at.Dir)
	}
	in := store.S3Options{
		Bucket: at.Bucket, Region: t.Region, Profile: t.Profile, RoleARN: t.RoleARN, ExternalIDFile: t.ExternalIDFile,
		EndpointURL: t.EndpointURL, ForcePathStyle: t.ForcePathStyle, Timeout: o.timeout, Pace: pace, Now: p.now,
	}
	if p.testOnlyS3 != nil {
		p.testOnlyS3(&in)
	}
	b, err := store.OpenS3(ctx, in)
	if err != nil {
		return nil, "", err
	}
	return b, at.Prefix, nil
}

// statusOf gives the exit status for a report.
func statusOf(r audit.Report, failOn audit.Verdict, exitZero bool) int {
	if exitZero {
		return exitOK
	}
	if r.Verdict == audit.VerdictUnknown {
		if s, ok := blindStatus(r); ok {
			return s
		}
	}
	if !r.Verdict.Worse(audit.OK) || failOn.Worse(r.Verdict) && r.Verdict != audit.VerdictUnknown {
		return exitOK
	}
	return map[audit.Verdict]int{audit.VerdictWarning: exitWarning, audit.VerdictCritical: exitCritical, audit.VerdictUnknown: exitUnknown}[r.Verdict]
}

// blindStatus gives the status for a run in which nothing at all was seen of
// any store, always for one reason.
func blindStatus(r audit.Report) (int, bool) {
	var causes []audit.Cause
	for _, pr := range r.Problems {
		causes = append(causes, pr.Cause)
	}
	for _, s := range r.Stores {
		var own []audit.Cause
		for _, u := range s.Unseen {
			switch u.Fact {
			case audit.FactListing, audit.FactCreated, audit.FactSpec:
				own = append(own, u.Cause)
			}
		}
		if len(own) < 3 {
			return 0, false
		}
		causes = append(causes, own...)
	}
	if len(causes) == 0 {
		return 0, false
	}
	status := map[audit.Cause]int{
		audit.CauseDenied: exitDenied, audit.CauseCredentials: exitDenied,
		audit.CauseUnreachable: exitUnavailable, audit.CauseThrottled: exitTryAgain,
	}
	first, ok := status[causes[0]]
	for _, c := range causes {
		if status[c] != first {
			return 0, false
		}
	}
	return first, ok
}
