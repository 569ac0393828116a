package main

import (
	"bytes"
	"context"
	"time"

	"backstop/alerts"
	"backstop/alerts/notify"
	"backstop/audit"
	"backstop/audit/report"
	"backstop/rules"
)

// notify tells the channels of what stands, and remembers what they were told. only
// is the label of the one store that was looked at; empty for all.
func (s *service) notify(ctx context.Context, only string) {
	s.telling.Lock()
	defer s.telling.Unlock()
	set := s.current().notify
	if len(set.channels) == 0 {
		return
	}
	now := s.p.now().UTC()
	r := s.board.Report(now)
	n := &notify.Notifier{Channels: set.channels, Client: s.p.client()}
	next, counts, err := n.Tell(ctx, s.board.Told(), notify.Round{Report: r, Rules: rules.All, Scope: alerts.ScopeOf(s.args, r), Now: now, Runbooks: set.runbooks, Only: only})
	s.board.Tell(next)
	s.counted(counts, err)
	s.save()
}

// repeat tells Alertmanager again what is so: it takes what it does not hear of for
// over. A state that was loaded is repeated before the first audit has ended.
func (s *service) repeat(ctx context.Context) {
	s.telling.Lock()
	defer s.telling.Unlock()
	set := s.current().notify
	if len(set.channels) == 0 || len(s.board.Told().Told) == 0 {
		return
	}
	n := &notify.Notifier{Channels: set.channels, Client: s.p.client()}
	counts, err := n.Again(ctx, s.board.Told(), s.p.now().UTC())
	s.counted(counts, err)
}

func (s *service) current() serveSettings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings
}

// counted adds to the metrics, and logs what could not be delivered.
func (s *service) counted(counts notify.Counts, err error) {
	s.mu.Lock()
	for k, n := range counts {
		s.sent[k] += n
	}
	s.mu.Unlock()
	s.tell(audit.Usage{})
	if err != nil {
		s.log.Error().Msg(oneLine(err) + "; it is told again after the next audit")
	}
}

// watched tells the dead-man's switches that an audit begins. What it gives tells
// them how that ended. A slow switch holds up no audit.
func (s *service) watched(ctx context.Context, set notifyConfig) (end func(audit.Report, error)) {
	begun := make([]chan *notify.Run, len(set.deadmen))
	for i, d := range set.deadmen {
		begun[i] = make(chan *notify.Run, 1)
		d.Fails = failsFrom(d.failOn)
		go func() {
			run, err := d.Begin(ctx, s.p.client())
			s.warn(err)
			begun[i] <- run
		}()
	}
	return func(r audit.Report, err error) {
		status, words := s.p.exitStatus(err), oneLine(err)
		if err == nil {
			status, words = statusOf(r, audit.VerdictWarning, false), firstLine(r)
		}
		// How an audit ended is told also while the program ends, if that goes quickly.
		last, cancel := context.WithCancel(context.WithoutCancel(ctx))
		defer cancel()
		defer context.AfterFunc(ctx, func() { time.AfterFunc(2*time.Second, cancel) })()
		for _, b := range begun {
			s.warn((<-b).End(last, status, words))
		}
	}
}

func (s *service) warn(err error) {
	if err != nil {
		s.log.Error().Msg(oneLine(err))
	}
}

// firstLine is a report in a line, and what is wrong below it.
func firstLine(r audit.Report) string {
	var b bytes.Buffer
	_ = report.Nagios(&b, r, report.Options{Quiet: true}) // a buffer takes everything
	return b.String()
}
