package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"backstop/audit"
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
}

// targets are the STOREs of the command line, else the configuration's, else
// kops's state store.
func (p *program) targets(args []string, o *options) ([]target, error) {
	policy := audit.DefaultPolicy()
	var c config
	if o.config != "" {
		var err error
		if c, err = readConfig(o.config); err != nil {
			return nil, err
		}
		policy = c.Defaults.policy(policy)
	}
	if o.interval != "" {
		d, err := parseDuration(o.interval)
		if err != nil || d == 0 {
			return nil, usagef("--interval: %q is not a length of time; want one such as 15m", o.interval)
		}
		policy.Interval = d
	}
	if len(args) == 0 && len(c.Stores) == 0 {
		if kops, ok := p.env("KOPS_STATE_STORE"); ok && kops != "" {
			args = []string{kops}
		}
	}
	var ts []target
	for _, a := range args {
		if _, err := store.ParseTarget(a); err != nil {
			return nil, &failure{status: exitUsage, err: err}
		}
		ts = append(ts, target{policy: policy, configTarget: configTarget{
			URL: a, Region: o.region, Profile: o.profile, EndpointURL: o.endpoint, ForcePathStyle: o.pathStyle,
		}})
	}
	if len(args) > 0 {
		return ts, nil
	}
	for _, t := range c.Stores {
		ts = append(ts, target{configTarget: t.or(o), policy: t.policy(policy), namedBy: "configuration"})
	}
	if len(ts) == 0 {
		return nil, &failure{status: exitUsage, err: errors.New("no STORE: want s3://BUCKET[/PREFIX] or a directory"),
			hint: "or give --config with stores, or set KOPS_STATE_STORE"}
	}
	return ts, nil
}

// or gives the target with the flags that were set in place of the file's.
func (t configTarget) or(o *options) configTarget {
	pick := func(flag, file string) string {
		if flag != "" {
			return flag
		}
		return file
	}
	t.Region, t.Profile, t.EndpointURL = pick(o.region, t.Region), pick(o.profile, t.Profile), pick(o.endpoint, t.EndpointURL)
	t.ForcePathStyle = t.ForcePathStyle || o.pathStyle
	return t
}

// look observes every store of every target. Places without a store to report
// on come back as problems.
func (p *program) look(ctx context.Context, ts []target, o *options) ([]sight, []audit.Problem, error) {
	var sights []sight
	var problems []audit.Problem
	seen := map[string]bool{}
	for _, t := range ts {
		found, problem, err := p.lookAt(ctx, t, o)
		if err != nil {
			return nil, nil, err
		}
		if problem != nil {
			problems = append(problems, *problem)
		}
		for _, s := range found {
			// Two arguments may lead to one store.
			id := s.Observation.Store.Endpoint + "\x00" + s.Observation.Store.URL
			if !seen[id] {
				seen[id] = true
				sights = append(sights, s)
			}
		}
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
	}
	return sights, problems, nil
}

func (p *program) lookAt(ctx context.Context, t target, o *options) ([]sight, *audit.Problem, error) {
	b, prefix, err := p.open(ctx, t, o)
	if err != nil {
		return nil, problemOf(t, err), nil
	}
	roots, err := store.Discover(ctx, b, prefix)
	if cerr := ctx.Err(); cerr != nil {
		return nil, nil, cerr
	}
	var e *store.Error
	switch {
	case err == nil && len(roots) == 0 && t.namedBy == "":
		return nil, noStore(t), nil
	case errors.As(err, &e) && e.Cause == audit.CauseCredentials,
		errors.As(err, &e) && e.Cause == audit.CauseNoBucket && t.namedBy == "":
		return nil, problemOf(t, err), nil
	}
	bucket := store.ObserveBucket(ctx, b)
	if err != nil {
		// What cannot be listed is still reported on: the control files may
		// tell something, and the refusals belong in the report.
		s := t.store(b, prefix)
		o := store.ObserveUnlisted(ctx, b, bucket, s, p.now, err)
		o.Usage.Add(b.Usage())
		return []sight{{Observation: o, Policy: t.policy}}, nil, ctx.Err()
	}
	if len(roots) == 0 {
		roots = []string{prefix} // it has vanished, and the rules say so
	}
	sights := make([]sight, len(roots))
	var g errgroup.Group
	g.SetLimit(o.concurrency)
	for i, at := range roots {
		g.Go(func() error {
			sights[i] = sight{Observation: store.Observe(ctx, b, bucket, t.store(b, at), p.now), Policy: t.policy}
			return nil
		})
	}
	_ = g.Wait() // Observe never fails
	addUsage(sights, b.Usage())
	return sights, nil, ctx.Err()
}

// addUsage gives what the bucket's own documents and the discovery cost to the
// first store, so that the run's total is whole.
func addUsage(sights []sight, u audit.Usage) {
	if len(sights) > 0 {
		sights[0].Observation.Usage.Add(u)
	}
}

// store names the store at a root.
func (t target) store(b store.Bucket, at string) audit.Store {
	s := store.StoreAt(b, at)
	s.NamedBy = t.namedBy
	return s
}

// open opens the bucket of a target and gives the key prefix to look below.
func (p *program) open(ctx context.Context, t target, o *options) (store.Bucket, string, error) {
	at, err := store.ParseTarget(t.URL)
	if err != nil {
		return nil, "", err
	}
	if at.Dir != "" {
		return store.OpenDir(at.Dir)
	}
	in := store.S3Options{
		Bucket: at.Bucket, Region: t.Region, Profile: t.Profile, RoleARN: t.RoleARN, ExternalIDFile: t.ExternalIDFile,
		EndpointURL: t.EndpointURL, ForcePathStyle: t.ForcePathStyle, Timeout: o.timeout, Now: p.now,
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

func noStore(t target) *audit.Problem {
	return &audit.Problem{Target: t.URL, Cause: audit.CauseNoStore,
		Message: "there is no etcd-manager backup store below " + t.URL + ": no control/etcd-cluster-created, control/etcd-cluster-spec, and no dated snapshot",
		Do:      "Check the bucket and the prefix; kops keeps stores at s3://STATE-STORE/CLUSTER/backups/etcd/NAME unless backupStore in `kops get cluster -o yaml` says otherwise."}
}

func problemOf(t target, err error) *audit.Problem {
	pr := &audit.Problem{Target: t.URL, Cause: audit.CauseOther, Message: err.Error()}
	var e *store.Error
	if errors.As(err, &e) {
		pr.Cause = e.Cause
	} else {
		pr.Cause = audit.CauseCredentials // the SDK's configuration, as a profile that does not exist
	}
	switch {
	case !strings.HasPrefix(t.URL, "s3://"):
	case pr.Cause == audit.CauseNoBucket:
		pr.Do = "Check the name, and --endpoint-url if the bucket is not on AWS."
	case pr.Cause == audit.CauseCredentials:
		pr.Do = "Give backstop valid credentials: AWS_PROFILE or --profile, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a role; `aws sts get-caller-identity` shows whether they work."
	}
	return pr
}

// judge makes the report.
func (p *program) judge(sights []sight, problems []audit.Problem, set audit.Ruleset, at time.Time, recorded bool) audit.Report {
	var reports []audit.StoreReport
	latest := at
	for _, s := range sights {
		now := at
		if now.IsZero() {
			clock := p.now().UTC()
			if recorded {
				clock = s.Observation.Ended
			}
			now = s.Observation.Clock(clock)
		}
		if now.After(latest) {
			latest = now
		}
		reports = append(reports, audit.Judge(set, s.Observation, s.Policy, now))
	}
	if latest.IsZero() {
		latest = p.now().UTC()
	}
	return audit.NewReport(latest, reports, problems)
}

// see gives what there is to judge: by looking, or from a recording.
func (p *program) see(ctx context.Context, args []string, o *options) (sights []sight, problems []audit.Problem, err error) {
	if o.replay != "" {
		if len(args) > 0 {
			return nil, nil, usagef("--replay judges what was recorded; give no STORE with it")
		}
		return readRecording(o.replay, o.interval)
	}
	ts, err := p.targets(args, o)
	if err != nil {
		return nil, nil, err
	}
	log := p.logger(o)
	sights, problems, err = p.look(ctx, ts, o)
	for _, s := range sights {
		log.Info().Str("store", s.Observation.Store.URL).Any("requests", s.Observation.Usage.Requests).
			Int64("bytes", s.Observation.Usage.Bytes).Dur("took", s.Observation.Ended.Sub(s.Observation.Begun)).Msg("observed")
	}
	if err == nil && o.record != "" {
		err = writeRecording(o.record, sights, problems)
	}
	return sights, problems, err
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
