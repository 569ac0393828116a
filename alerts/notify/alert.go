package notify

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	"backstop/alerts"
	"backstop/audit"
	"backstop/audit/report"
)

// An Alert is one thing to tell: what a rule found of one store or bucket, all of
// its findings together.
type Alert struct {
	// ID tells it from every other, and stays the same while it lasts.
	ID   string `json:"id"`
	Name string `json:"name"` // as the alerting rules have it
	// Verdict is the worst severity of its findings; Severity is what that
	// comes to for whoever knows only critical and warning.
	alerts.AlertLabels
	// Store, Cluster and Etcd are as in the metrics.
	Store   string `json:"store,omitempty"`
	Cluster string `json:"cluster,omitempty"`
	Etcd    string `json:"etcd,omitempty"`

	Summary string `json:"summary"` // the same for every store
	// Message says what was found. It quotes names from the bucket, made
	// harmless to show.
	Message    string   `json:"message"`
	Do         []string `json:"do,omitempty"` // now, in order
	RunbookURL string   `json:"runbook_url"`

	Since time.Time `json:"since"`
	// Rounds counts the rounds in which it has been so without a break.
	Rounds int `json:"rounds"`
	// Blind are the facts that its rule needs and did without.
	Blind []audit.FactName `json:"blind,omitempty"`
	// Over says why it is no longer so; empty while it is.
	Over string `json:"over,omitempty"`
}

// place is where in a report an alert belongs.
type place struct{ store, cluster, etcd string }

// found makes the alerts of a report: of what is a warning or worse, of places
// that were not audited, and of facts that were not seen though no rule says so.
func found(r Round) []Alert {
	c := collection{round: r, byID: map[string]int{}}
	for _, s := range r.Report.Stores {
		at := place{alerts.Label(s.Store), s.Store.Cluster, s.Store.Etcd}
		explained := false
		for _, f := range s.Findings {
			explained = explained || f.Severity == audit.Unsure
			where := at
			if f.Scope == "bucket" {
				where = place{store: alerts.BucketLabel(s.Store)}
			}
			c.finding(where, f)
		}
		if !explained {
			c.unseen(at, s)
		}
	}
	for _, p := range r.Report.Problems {
		c.problem(p)
	}
	return c.alerts
}

// compare puts the worst first.
func compare(a, b Alert) int {
	return cmp.Or(urgency(a)-urgency(b), cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Store, b.Store), cmp.Compare(a.Name, b.Name))
}

func urgency(a Alert) int {
	return slices.Index([]string{string(audit.Critical), string(audit.Unsure), string(audit.Warning)}, a.Verdict)
}

type collection struct {
	round  Round
	alerts []Alert
	byID   map[string]int
}

func (c *collection) finding(at place, f audit.Finding) {
	if f.Severity == audit.Info {
		return
	}
	message := f.Message
	if f.Key != "" {
		message = f.Key + ": " + message
	}
	a := c.alert(at, alerts.AlertName(f.Rule), f.Severity, message)
	a.Rule, a.Summary, a.RunbookURL = f.Rule, c.summary(f), alerts.RunbookURL(c.round.Runbooks, f.Rule)
	for _, step := range f.Do {
		a.Do = append(a.Do, report.Printable(step))
	}
	c.add(a)
}

func (c *collection) summary(f audit.Finding) string {
	for _, r := range c.round.Rules {
		if r.ID == f.Rule {
			return alerts.Summary(r, f.Severity)
		}
	}
	return f.Rule
}

// Names of the alerts for which no rule speaks, as among the alerting rules.
const (
	nameUnseen    = "BackstopFactUnseen"
	nameUnaudited = "BackstopPlaceUnaudited"
)

// unseen speaks of a verdict UNKNOWN that no finding explains.
func (c *collection) unseen(at place, s audit.StoreReport) {
	var not []string
	for _, u := range s.Unseen {
		if u.Necessary {
			not = append(not, string(u.Fact)+": "+u.Why.String())
		}
	}
	if len(not) == 0 {
		return
	}
	a := c.alert(at, nameUnseen, audit.Unsure, "not seen: "+strings.Join(not, "; "))
	a.Summary = "something that backstop must see was not seen"
	a.RunbookURL = alerts.AuditorURL(c.round.Runbooks, nameUnseen)
	c.add(a)
}

func (c *collection) problem(p audit.Problem) {
	a := c.alert(place{store: p.Target}, nameUnaudited, audit.Unsure, p.Message)
	a.Summary = "a place that should be audited gave no store to report on"
	a.RunbookURL = alerts.AuditorURL(c.round.Runbooks, nameUnaudited)
	if p.Do != "" {
		a.Do = []string{report.Printable(p.Do)}
	}
	c.add(a)
}

func (c *collection) alert(at place, name string, s audit.Severity, message string) Alert {
	a := Alert{
		Name: name, AlertLabels: alerts.AlertLabels{Severity: alerts.AlertSeverity(s), Verdict: string(s)},
		Store: report.Printable(at.store), Cluster: report.Printable(at.cluster), Etcd: report.Printable(at.etcd),
		Message: report.Printable(message), Since: c.round.Now, Rounds: 1,
	}
	a.ID = id(name, a.Store)
	return a
}

// id is short enough for everyone's idea of a key; PagerDuty takes 255 characters.
func id(name, store string) string {
	s := "backstop/" + name + "/" + store
	if len(s) > 255 {
		s = fmt.Sprintf("backstop/%s/%x", name, sha256.Sum256([]byte(store)))
	}
	return s
}

// maxMessages is how many findings of one rule and store are told in full.
const maxMessages = 3

// add puts an alert to those of its kind: what is worse counts, and what is said
// first is said.
func (c *collection) add(a Alert) {
	i, ok := c.byID[a.ID]
	if !ok {
		c.byID[a.ID] = len(c.alerts)
		c.alerts = append(c.alerts, a)
		return
	}
	b := &c.alerts[i]
	said := strings.Split(b.Message, "\n")
	if slices.Contains(said, a.Message) {
		return // a bucket's, which each of its stores repeats
	}
	if urgency(a) < urgency(*b) {
		b.Verdict, b.Severity, b.Summary, b.Do = a.Verdict, a.Severity, a.Summary, a.Do
	}
	switch {
	case len(said) < maxMessages:
		b.Message += "\n" + a.Message
	case len(said) == maxMessages:
		b.Message += "\nand more of the kind"
	}
}
