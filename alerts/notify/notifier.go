package notify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"backstop/alerts"
	"backstop/alerts/deliver"
	"backstop/audit"
)

// A Notifier tells all channels.
type Notifier struct {
	Channels []Channel
	Client   deliver.Client
}

// Counts count notifications for the metrics.
type Counts map[alerts.Notification]int

// None counts nothing of every channel.
func (n *Notifier) None() Counts {
	c := Counts{}
	for _, ch := range n.Channels {
		c[alerts.Notification{Channel: ch.Name, Outcome: alerts.Sent}] = 0
		c[alerts.Notification{Channel: ch.Name, Outcome: alerts.Failed}] = 0
	}
	return c
}

// Tell tells every channel what a round has brought, and gives the state to
// remember. A channel that fails keeps none from being told, and is told again in
// the next round.
func (n *Notifier) Tell(ctx context.Context, s State, r Round) (State, Counts, error) {
	return n.tell(ctx, s.next(r), r)
}

// Again repeats what is so to the channels that want to hear it again and again.
// It changes no state.
func (n *Notifier) Again(ctx context.Context, s State, now time.Time) (Counts, error) {
	repeating := &Notifier{Client: n.Client}
	for _, c := range n.Channels {
		if c.Type == Alertmanager {
			repeating.Channels = append(repeating.Channels, c)
		}
	}
	// What it was told is what is repeated: nothing is new, and nothing is over.
	open := map[string]Alert{}
	for _, c := range repeating.Channels {
		maps.Copy(open, s.Told[c.Name])
	}
	_, counts, err := repeating.tell(ctx, State{Open: open, Told: s.Told}, Round{Now: now})
	return counts, err
}

// tell tells all channels at once, so that a slow one holds up none.
func (n *Notifier) tell(ctx context.Context, s State, r Round) (State, Counts, error) {
	told := make([]map[string]Alert, len(n.Channels))
	sent, errs := make([]int, len(n.Channels)), make([]error, len(n.Channels))
	var all sync.WaitGroup
	for i, c := range n.Channels {
		b := s.batch(c, r)
		told[i] = maps.Clone(s.Told[c.Name])
		if told[i] == nil {
			told[i] = map[string]Alert{}
		}
		all.Go(func() {
			errs[i] = c.send(ctx, n.Client, b, func(a Alert) {
				sent[i]++
				if a.Over != "" {
					delete(told[i], a.ID)
				} else {
					told[i][a.ID] = a
				}
			})
		})
	}
	all.Wait()
	out := State{Schema: StateSchema, Open: s.Open, Told: map[string]map[string]Alert{}}
	counts := n.None()
	var err error
	for i, c := range n.Channels {
		out.Told[c.Name] = told[i]
		counts[alerts.Notification{Channel: c.Name, Outcome: alerts.Sent}] = sent[i]
		if errs[i] != nil {
			counts[alerts.Notification{Channel: c.Name, Outcome: alerts.Failed}] = 1
			err = errors.Join(err, fmt.Errorf("notify %s: %w", c.Name, errs[i]))
		}
	}
	return out, counts, err
}

// Test tells one channel of an alert that is none, and that it is over.
func (n *Notifier) Test(ctx context.Context, c Channel, now time.Time) error {
	a := Alert{
		Name: "BackstopTest", Store: "s3://test/backups/etcd/main", Cluster: "test", Etcd: "main", Since: now, Rounds: 2,
		AlertLabels: alerts.AlertLabels{Severity: alerts.AlertSeverity(c.Least), Verdict: string(cmp.Or(c.Least, audit.Warning))},
		Summary:     "this is a test", Message: "This is a test by `backstop notify test`. Nothing is wrong.", RunbookURL: alerts.Runbooks,
	}
	a.ID = id(a.Name, a.Store)
	ignore := func(Alert) {}
	if err := c.send(ctx, n.Client, Batch{Now: now, New: []Alert{a}, Open: []Alert{a}, Over: []Alert{}}, ignore); err != nil {
		return err
	}
	a.Over = "the test is over"
	return c.send(ctx, n.Client, Batch{Now: now, New: []Alert{}, Open: []Alert{}, Over: []Alert{a}}, ignore)
}
