package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/robfig/cron/v3"
	"github.com/rs/zerolog"

	"backstop/alerts"
	"backstop/alerts/board"
	"backstop/alerts/notify"
	"backstop/audit"
	"backstop/rules"
	"backstop/store"
)

// configPoll is how often the configuration file is looked at. A file is read and
// compared, because Kubernetes changes mounted files by way of symbolic links.
const configPoll = 5 * time.Second

// A service audits on a schedule and keeps what stands.
type service struct {
	p     *program
	o     *serveOptions
	args  []string
	log   zerolog.Logger
	board *board.Board

	collector *alerts.Collector

	asked chan string // stores to audit at once; empty for all
	busy  sync.Mutex  // held by the audit that is going on

	telling sync.Mutex // held while people are told

	mu       sync.Mutex
	settings serveSettings
	reloaded alerts.Reload
	usage    audit.Usage              // since the start, that of probes among it
	sent     notify.Counts            // likewise
	followed map[string]*followed     // by Store.ID
	probes   map[string]*alerts.Probe // likewise
}

// serveSettings are what the configuration says, as far as it can change while serve runs.
type serveSettings struct {
	targets []target
	pace    store.Pace
	notify  notifyConfig
}

// followed is what a probe needs to know of a store.
type followed struct {
	sight sight
	// seen has the control files as they were observed, and nothing else.
	seen *audit.Observation
}

// newService reads the configuration and the state of an earlier run.
func (p *program) newService(args []string, o *serveOptions) (*service, error) {
	s := &service{p: p, o: o, args: args, log: p.logger(&o.options), board: board.New(), collector: alerts.NewCollector(built()), asked: make(chan string, 1), followed: map[string]*followed{}, probes: map[string]*alerts.Probe{}, sent: notify.Counts{}}
	if err := s.read(); err != nil {
		return nil, err
	}
	if o.state != "" {
		if err := s.board.Load(o.state); err != nil {
			// The first audit makes a new one.
			s.log.Warn().Err(err).Msg("the results of the last run are lost")
		}
		s.tell(audit.Usage{})
	}
	return s, nil
}

// start begins one audit, and the schedule. The channel is closed when nothing runs
// any more after the context has ended.
func (s *service) start(ctx context.Context) <-chan struct{} {
	logger := cronLog{s.log}
	audits := cron.NewChain(cron.Recover(logger), cron.SkipIfStillRunning(logger)).Then(cron.FuncJob(func() { s.audit(ctx) }))
	probes := cron.NewChain(cron.Recover(logger), cron.SkipIfStillRunning(logger)).Then(cron.FuncJob(func() { s.probe(ctx) }))
	c := cron.New(cron.WithLocation(time.UTC), cron.WithLogger(logger))
	// The schedules were checked with the flags.
	_, _ = c.AddFunc(s.o.auditSchedule, func() {
		if wait(ctx, rand.N(s.o.jitter+1)) {
			audits.Run()
		}
	})
	// Alertmanager forgets what it is not told again and again.
	_, _ = c.AddJob("* * * * *", cron.NewChain(cron.Recover(logger), cron.SkipIfStillRunning(logger)).Then(cron.FuncJob(func() { s.repeat(ctx) })))
	if s.o.probeSchedule != "" {
		_, _ = c.AddJob(s.o.probeSchedule, probes)
	}
	var all sync.WaitGroup
	all.Go(func() { s.repeat(ctx) })
	all.Go(audits.Run)
	all.Go(func() { s.answer(ctx) })
	all.Go(func() { s.follow(ctx) })
	c.Start()
	done := make(chan struct{})
	go func() {
		<-ctx.Done()
		<-c.Stop().Done()
		all.Wait()
		close(done)
	}()
	return done
}

// wait waits, and reports whether the context has not ended meanwhile.
func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// ask asks for an audit at once, of one store or, with an empty URL, of all. One
// that is waiting already serves.
func (s *service) ask(url string) {
	select {
	case s.asked <- url:
	default:
	}
}

// answer carries out what was asked for.
func (s *service) answer(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case url := <-s.asked:
			if w := s.find(url); w != nil {
				s.lookAgain(ctx, w)
				continue
			}
			s.audit(ctx)
		}
	}
}

func (s *service) find(url string) *followed {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.followed {
		if w.seen.Store.URL == url {
			return w
		}
	}
	return nil
}

// audit looks at all stores and publishes the outcome, if there is one.
func (s *service) audit(ctx context.Context) {
	s.busy.Lock()
	defer s.busy.Unlock()
	if ctx.Err() != nil {
		return
	}
	s.mu.Lock()
	set := s.settings
	s.mu.Unlock()
	began := s.p.now().UTC()
	s.board.Begin(began)
	end := s.watched(ctx, set.notify)
	v := &watcher{judge: &judge{p: s.p, set: rules.Set}, followed: map[string]*followed{}, details: s.drawing()}
	v.each = v.details.keep
	problems, usage, err := s.p.look(ctx, set.targets, set.pace, &s.o.options, v)
	ended := s.p.now().UTC()
	if err != nil {
		s.board.Fail(err, ended)
		if ctx.Err() == nil {
			s.log.Error().Err(err).Msg("the audit came to no outcome; what stood before stands")
			end(audit.Report{}, err)
		}
		return
	}
	r := v.report(problems, usage)
	s.mu.Lock()
	s.followed = v.followed
	s.mu.Unlock()
	s.board.Publish(r, v.details.byStore, ended)
	s.tell(r.Usage)
	s.log.Info().Str("verdict", string(r.Verdict)).Int("stores", r.Total).Int("checked", r.Checked).Dur("took", ended.Sub(began)).Msg("audited")
	s.save()
	s.notify(ctx, "")
	end(r, nil)
}

// drawing begins the details of an audit. What was verified is no reason not to audit.
func (s *service) drawing() *details {
	d, err := newDetails(s.o.verified)
	s.warn(err)
	return d
}

// tell hands the metrics what stands, and adds what was asked of S3.
func (s *service) tell(cost audit.Usage) {
	r := alerts.Of(s.board.Report(s.p.now().UTC()))
	if !s.board.Ready() {
		r = alerts.Results{}
	}
	s.mu.Lock()
	s.usage.Add(cost)
	for i := range r.Stores {
		if p := s.probes[r.Stores[i].Store.ID()]; p != nil {
			probe := *p
			r.Stores[i].Probe = &probe
		}
	}
	if s.o.config != "" {
		reload := s.reloaded
		r.Reload = &reload
	}
	r.Notifications = maps.Clone(s.sent)
	r.Usage.Requests, r.Usage.Errors = maps.Clone(s.usage.Requests), maps.Clone(s.usage.Errors)
	r.Usage.Bytes, r.Usage.Throttled = s.usage.Bytes, s.usage.Throttled
	s.mu.Unlock()
	s.collector.Set(r)
	if _, err := s.collector.Text(); err != nil { // not in a scrape
		s.log.Error().Err(err).Msg("the metrics cannot be written")
	}
}

func (s *service) save() {
	if s.o.state == "" {
		return
	}
	if err := s.board.Save(s.o.state); err != nil {
		s.log.Error().Err(err).Msg("the results will not survive a restart")
	}
}

// A watcher judges, and remembers of each store what a probe needs.
type watcher struct {
	*judge
	details *details // guarded by the judge

	mu       sync.Mutex
	followed map[string]*followed
}

// show implements viewer.
func (v *watcher) show(i int, seen sight) {
	w := followedOf(seen)
	v.mu.Lock()
	v.followed[seen.Observation.Store.ID()] = w
	v.mu.Unlock()
	v.judge.show(i, seen)
}

func followedOf(seen sight) *followed {
	o := seen.Observation
	w := &followed{sight: seen, seen: &audit.Observation{Store: o.Store, Created: o.Created, Spec: o.Spec}}
	w.sight.Observation = nil
	return w
}

// probe asks of every store whether its control files are as they were.
func (s *service) probe(ctx context.Context) {
	s.mu.Lock()
	var all []*followed
	for _, w := range s.followed {
		all = append(all, w)
	}
	s.mu.Unlock()
	var group sync.WaitGroup
	slots := make(chan struct{}, s.o.concurrency)
	for _, w := range all {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			s.probeOne(ctx, w)
		})
	}
	group.Wait()
	s.tell(audit.Usage{})
}

func (s *service) probeOne(ctx context.Context, w *followed) {
	b := w.sight.bucket.Fork()
	same, err := store.Probe(ctx, b, w.seen)
	s.mu.Lock()
	s.usage.Add(b.Usage())
	s.mu.Unlock()
	if ctx.Err() == nil {
		s.probed(w, err == nil)
	}
	switch {
	case ctx.Err() != nil:
	case err != nil:
		// The next audit says UNKNOWN, if that is not over by then.
		s.log.Warn().Err(err).Str("store", w.seen.Store.URL).Msg("the control files could not be probed")
	case !same:
		s.log.Info().Str("store", w.seen.Store.URL).Msg("the control files have changed")
		s.lookAgain(ctx, w)
	}
}

// probed notes whether a probe had an answer.
func (s *service) probed(w *followed, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := w.seen.Store.ID()
	if s.probes[id] == nil {
		s.probes[id] = &alerts.Probe{}
	}
	s.probes[id].OK = ok
	if ok {
		s.probes[id].Succeeded = s.p.now().UTC()
	}
}

// lookAgain looks at one store whole and publishes what is found.
func (s *service) lookAgain(ctx context.Context, w *followed) {
	o := w.sight.again(ctx)
	if ctx.Err() != nil {
		return
	}
	now := o.Clock(s.p.now().UTC())
	p := w.sight.Policy
	p.Windows = begun(p.Windows, now)
	// Whether an exception is idle the next audit of all stores tells.
	p.Elsewhere = append(p.Elsewhere[:len(p.Elsewhere):len(p.Elsewhere)], p.Names()...)
	r := audit.Judge(rules.Set, o, p, now)
	again := w.sight
	again.Observation = o
	s.mu.Lock()
	if _, ok := s.followed[o.Store.ID()]; ok {
		s.followed[o.Store.ID()] = followedOf(again)
	}
	s.mu.Unlock()
	s.board.Update(r, detailOf(o, p, r, s.drawing().proofs))
	s.tell(r.Usage)
	s.log.Info().Str("store", o.Store.URL).Str("verdict", string(r.Verdict)).Str("state", r.State.Name).Msg("audited one store")
	s.save()
	s.notify(ctx, alerts.Label(o.Store))
}

// follow reads the configuration again at SIGHUP and when its file has changed, and
// audits anew.
func (s *service) follow(ctx context.Context) {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	tick := time.NewTicker(configPoll)
	defer tick.Stop()
	last := s.digest()
	for {
		asked := false
		select {
		case <-ctx.Done():
			return
		case <-hangup:
			asked = true
		case <-tick.C:
		}
		if now := s.digest(); asked || !bytes.Equal(now, last) {
			last = now
			if s.reload() {
				s.audit(ctx)
			}
		}
	}
}

// digest tells one content of the configuration file from another.
func (s *service) digest() []byte {
	if s.o.config == "" {
		return nil
	}
	b, err := os.ReadFile(s.o.config)
	if err != nil {
		return []byte(err.Error())
	}
	sum := sha256.Sum256(b)
	return sum[:]
}

// reload puts a new configuration in force, if it has no mistake.
func (s *service) reload() bool {
	err := s.read()
	s.tell(audit.Usage{})
	if err != nil {
		s.log.Error().Err(err).Msg("the new configuration has a mistake; the old one stays in force")
		return false
	}
	s.log.Info().Str("config", s.o.config).Msg("the configuration was read again")
	return true
}

// read reads the configuration, and puts it in force if it has no mistake.
func (s *service) read() error {
	set, err := s.p.readSettings(s.args, s.o)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reloaded.OK = err == nil
	if err != nil {
		return err
	}
	s.reloaded.Succeeded = s.p.now().UTC()
	s.settings = set
	for k, n := range (&notify.Notifier{Channels: set.notify.channels}).None() {
		s.sent[k] += n // a channel with nothing sent counts 0
	}
	return nil
}

func (p *program) readSettings(args []string, o *serveOptions) (set serveSettings, err error) {
	c, err := p.readConfig(&o.options)
	if err != nil {
		return serveSettings{}, err
	}
	if set.targets, set.pace, err = p.targetsOf(c, args, &o.options); err != nil {
		return serveSettings{}, err
	}
	set.notify = c.notify
	for _, ch := range set.notify.channels {
		if o.state == "" && ch.Type != notify.Alertmanager {
			return serveSettings{}, &failure{status: exitUsage, err: fmt.Errorf("without --state FILE nobody would know after a restart what the channel %s was told, and when that is over", ch.Name),
				hint: "give --state a file that outlives the program; only Alertmanager and dead-man's switches can do without"}
		}
	}
	return set, nil
}

// cronLog tells the scheduler's log to ours.
type cronLog struct{ log zerolog.Logger }

func (l cronLog) Info(msg string, kv ...any) {
	if msg == "skip" {
		l.log.Warn().Msg("the run before is still going on; this one is left out")
	}
}

func (l cronLog) Error(err error, msg string, kv ...any) {
	l.log.Error().Err(err).Any("more", kv).Msg(msg)
}

// quietSlog is for the web server, of which only faults are of interest.
func quietSlog() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}
