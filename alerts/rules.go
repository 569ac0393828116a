package alerts

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"backstop/audit"
)

// Runbooks is where this repository's pages are, unless somebody has put them
// elsewhere.
const Runbooks = "https://backstop.invalid/"

// A Group is a group of alerting rules, as Prometheus has it.
type Group struct {
	Name     string         `yaml:"name"`
	Interval string         `yaml:"interval,omitempty"`
	Rules    []AlertingRule `yaml:"rules"`
}

// An AlertingRule is one alerting rule of Prometheus.
type AlertingRule struct {
	Alert         string      `yaml:"alert"`
	Expr          string      `yaml:"expr"`
	For           string      `yaml:"for,omitempty"`
	KeepFiringFor string      `yaml:"keep_firing_for,omitempty"`
	Labels        AlertLabels `yaml:"labels"`
	Annotations   Annotations `yaml:"annotations"`
}

// AlertLabels are the labels that an alert has besides those of its store.
type AlertLabels struct {
	Severity string `yaml:"severity" json:"severity"`                   // critical or warning
	Rule     string `yaml:"rule,omitempty" json:"rule,omitempty"`       // of audit's rules; empty where none speaks
	Verdict  string `yaml:"verdict,omitempty" json:"verdict,omitempty"` // critical, unknown or warning
}

// Annotations are what an alert says to people.
type Annotations struct {
	Summary     string `yaml:"summary" json:"summary"`
	Description string `yaml:"description" json:"description"`
	RunbookURL  string `yaml:"runbook_url" json:"runbook_url"`
}

// told are the severities that are told, the most urgent first. Information is
// not.
var told = []audit.Severity{audit.Critical, audit.Unsure, audit.Warning}

// keepFiring bridges what says nothing of a store: a restart, a scrape that
// failed.
const keepFiring = "5m"

// AlertName is the name of a rule's alert: BackstopControlResetArmed for
// control/reset-armed.
func AlertName(rule string) string {
	name := "Backstop"
	for _, word := range strings.FieldsFunc(rule, func(r rune) bool { return r == '/' || r == '-' }) {
		name += strings.ToUpper(word[:1]) + word[1:]
	}
	return name
}

// RunbookURL is where a rule's page is, below a base that ends with a slash.
func RunbookURL(base, rule string) string {
	return base + "rules/" + strings.NewReplacer("/", "_", "-", "_").Replace(rule) + ".md"
}

// AuditorURL is where the page of an alert about the auditor itself is.
func AuditorURL(base, alert string) string {
	return base + "docs/alerting.md#" + strings.ToLower(alert)
}

// AlertSeverity is the severity label of an alert. There is no usual word for not
// knowing: it is a warning, which becomes critical when it lasts (see
// BackstopFactUnseen).
func AlertSeverity(s audit.Severity) string {
	if s == audit.Critical {
		return "critical"
	}
	return "warning"
}

// Summary says what a finding of a rule means, in the words of the rule's title.
func Summary(r audit.Rule, s audit.Severity) string {
	if s == audit.Unsure && len(r.Severities) > 1 {
		return "it could not be seen whether " + r.Title
	}
	return r.Title
}

// Patience is for how long a finding stands before its alert fires. What is
// critical was looked at twice by the audit itself. What was not seen once may be
// seen the next time.
func Patience(s audit.Severity) time.Duration {
	switch s {
	case audit.Critical:
		return 0
	case audit.Unsure:
		return time.Hour
	}
	return 15 * time.Minute
}

// Groups are all alerting rules: one alert for each rule that may be a warning or
// worse, once for each of its severities, and those for which no rule speaks.
// runbooks is the base of their pages.
func Groups(rules []audit.Rule, runbooks string) []Group {
	var found []AlertingRule
	for _, r := range rules {
		for _, s := range told {
			if r.May(s) {
				found = append(found, ofRule(r, s, runbooks))
			}
		}
	}
	return []Group{
		{Name: "backstop-findings", Rules: found},
		{Name: "backstop-auditor", Rules: ofAuditor(runbooks)},
		{Name: "backstop-auditor-slow", Interval: "5m", Rules: []AlertingRule{factUnseen(runbooks)}},
	}
}

const perStore = "store, cluster, etcd"

// ofRule is the one template of all rules' alerts.
func ofRule(r audit.Rule, s audit.Severity, runbooks string) AlertingRule {
	expr := fmt.Sprintf("max by (%s) (%s{rule=%q,severity=%q}) > 0", perStore, NameFindings, r.ID, s)
	if s != audit.Unsure {
		expr += standing(r, s)
	}
	a := AlertingRule{
		Alert: AlertName(r.ID), Expr: expr, KeepFiringFor: keepFiring,
		Labels: AlertLabels{Severity: AlertSeverity(s), Rule: r.ID, Verdict: string(s)},
		Annotations: Annotations{
			Summary: Summary(r, s),
			Description: fmt.Sprintf("%s: {{ $labels.store }}: %s. `backstop audit` on it prints what was seen and what to do now, in order; `backstop explain %s` prints the page.",
				strings.ToUpper(string(s)), Summary(r, s), r.ID),
			RunbookURL: RunbookURL(runbooks, r.ID),
		},
	}
	if wait := Patience(s); wait > 0 {
		a.For = promDuration(wait)
	}
	return a
}

// standing lets an alert stand while its rule is blind, and while its store is not
// in the results because a place that leads to it could not be looked at (see
// ScopeOf): that a store cannot be seen any more does not mean that it was repaired.
func standing(r audit.Rule, s audit.Severity) string {
	firing := fmt.Sprintf("max by (%s) (ALERTS{alertname=%q,alertstate=\"firing\",verdict=%q})", perStore, AlertName(r.ID), s)
	expr := ""
	if facts := decisive(r); len(facts) > 0 && r.Scope == "" {
		expr = fmt.Sprintf("\nor %s\n  and on (store) max by (store) (%s{fact=~%q}) == 1", firing, NameUnseen, strings.Join(facts, "|"))
	}
	return expr + fmt.Sprintf("\nor %s\n  unless on (store) max by (store) (%s)\n  and on () (max(%s{fact=%q}) == 1 or max(%s{cause!~%q}) == 1)",
		firing, NameAudit, NameUnseen, audit.FactListing, NameUnaudited, strings.Join(certain(), "|"))
}

// certain are the causes for which nothing is at a place, or nothing that backstop
// reads. For any other nobody knows.
func certain() []string {
	return []string{string(audit.CauseNoStore), string(audit.CauseNoBucket), string(audit.CauseUnsupported)}
}

// decisive are the facts without which a rule cannot have found what it found. Of
// the others it may never have seen one, and its alert must end nonetheless.
func decisive(r audit.Rule) []string {
	if len(r.Needs) == 1 {
		return []string{string(r.Needs[0])}
	}
	var facts []string
	for _, f := range r.Needs {
		if f.IsNecessary() {
			facts = append(facts, string(f))
		}
	}
	return facts
}

// promDuration writes whole minutes as Prometheus does.
func promDuration(d time.Duration) string {
	if d%time.Hour == 0 {
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dm", d/time.Minute)
}

// Thresholds of the hand-made alerts.
const (
	staleAfter  = 2 * time.Hour // of an audit that should run every hour or oftener
	unseenAfter = 24 * time.Hour
	errorRatio  = 0.2
)

// ofAuditor are the alerts of what no rule can speak of: the auditor itself.
func ofAuditor(runbooks string) []AlertingRule {
	alert := func(name, severity, wait, expr, summary, description string) AlertingRule {
		return AlertingRule{Alert: name, Expr: expr, For: wait, Labels: AlertLabels{Severity: severity},
			Annotations: Annotations{Summary: summary, Description: description, RunbookURL: AuditorURL(runbooks, name)}}
	}
	return []AlertingRule{
		alert("BackstopAuditStale", "critical", "15m",
			fmt.Sprintf("time() - max by (%s) (%s) > %d", perStore, NameAudit, int(staleAfter.Seconds())),
			"a store has not been audited for a long time",
			"{{ $labels.store }} was last audited {{ $value | humanizeDuration }} ago, or never. What the other alerts say of it is as old. Look at the logs of backstop."),
		alert("BackstopAuditAbsent", "critical", "15m",
			fmt.Sprintf("absent(%s)", NameBuild),
			"backstop tells nothing",
			"There are no metrics of backstop: nobody watches the backup stores, and no other alert of backstop can fire. See whether it runs and is scraped."),
		alert("BackstopPlaceUnaudited", "warning", "1h",
			fmt.Sprintf("max by (store) (%s) == 1", NameUnaudited),
			"a place that should be audited gave no store to report on",
			"{{ $labels.store }} was to be audited, and no backup store could be looked at there. `backstop audit` says why."),
		alert("BackstopS3Errors", "warning", "30m",
			fmt.Sprintf("sum(%s) / sum(%s) > %g", NameAuditErrors, NameAuditRequests, errorRatio),
			"many of backstop's requests to S3 fail",
			"{{ $value | humanizePercentage }} of the requests of the last audits were throttled, timed out, or failed in S3 or on the way. "+NameErrors+" says why."),
		alert("BackstopConfigReloadFailed", "warning", "15m",
			fmt.Sprintf("min(%s) == 0", NameReload),
			"backstop serve runs with an old configuration",
			"The configuration file has a mistake, and the one before it is in force. `backstop config validate` says what is wrong."),
		alert("BackstopNotificationsFail", "warning", "15m",
			fmt.Sprintf("sum by (channel) (increase(%s{outcome=%q}[1h])) > 0", NameNotifications, Failed),
			"backstop cannot deliver its notifications",
			"Notifications to the channel {{ $labels.channel }} fail. The logs of backstop say why; `backstop notify test` tries it."),
	}
}

// factUnseen is for what lasts. That a fact was not seen once is told by the rule
// that needs it, as a warning; here it becomes critical, once for each fact
// however many stores there are.
func factUnseen(runbooks string) AlertingRule {
	var names []string
	for _, f := range audit.Necessary {
		names = append(names, string(f))
	}
	slices.Sort(names)
	facts := strings.Join(names, "|")
	window := promDuration(unseenAfter)
	expr := fmt.Sprintf(`count by (fact) (
  min_over_time((max by (store, fact) (%[1]s{fact=~"%[2]s"}))[%[3]s:15m]) == 1
  and on (store, fact) max by (store, fact) (%[1]s{fact=~"%[2]s"} offset %[3]s) == 1
)`, NameUnseen, facts, window)
	const name = "BackstopFactUnseen"
	return AlertingRule{Alert: name, Expr: expr, Labels: AlertLabels{Severity: "critical"}, Annotations: Annotations{
		Summary: "something that backstop must see has not been seen for a day",
		Description: "{{ $labels.fact }} has not been seen of {{ $value }} store(s) for a day. What is wrong there, backstop cannot tell. `backstop doctor` says which permission is lacking; " +
			NameUnseen + "{fact=\"{{ $labels.fact }}\"} == 1 says of which stores.",
		RunbookURL: AuditorURL(runbooks, name),
	}}
}
