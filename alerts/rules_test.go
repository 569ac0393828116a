package alerts

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"backstop/alerts/promtest"
	"backstop/audit"
	"backstop/rules"
)

const madeBy = "# Made from the rules by `make update`; docs/alerting.md describes it.\n"

func toYAML(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

type ruleFile struct {
	Groups []Group `yaml:"groups"`
}

func allGroups() ruleFile { return ruleFile{Groups(rules.All, Runbooks)} }

// The files that users load are made of the rules, and promtool accepts them.
func TestRuleFiles(t *testing.T) {
	golden(t, "../deploy/alerting-rules.yaml", madeBy+toYAML(t, allGroups()))
	golden(t, "../deploy/chart/files/alerting-rules.yaml", madeBy+toYAML(t, allGroups())) // Helm reads no file outside
	golden(t, "../deploy/prometheusrule.yaml", madeBy+toYAML(t, map[string]any{
		"apiVersion": "monitoring.coreos.com/v1", "kind": "PrometheusRule",
		"metadata": map[string]any{"name": "backstop", "labels": map[string]string{"app.kubernetes.io/name": "backstop"}},
		"spec":     allGroups(),
	}))
	for _, lint := range []string{"none", "all"} {
		if out, err := promtest.Promtool(t, "", "check", "rules", "--lint="+lint, "--lint-fatal", "../deploy/alerting-rules.yaml"); err != nil {
			t.Errorf("promtool check rules: %v\n%s", err, out)
		}
	}
}

// There is an alert for every rule that may be a warning or worse, and for no
// other; each says what people need of it, and its page exists.
func TestAlertsOfRules(t *testing.T) {
	alertsOf := map[string][]AlertingRule{}
	for _, g := range allGroups().Groups {
		for _, a := range g.Rules {
			alertsOf[a.Labels.Rule] = append(alertsOf[a.Labels.Rule], a)
			if a.Annotations.Summary == "" || a.Annotations.Description == "" || !slices.Contains([]string{"critical", "warning"}, a.Labels.Severity) {
				t.Errorf("%+v", a)
			}
			if strings.Contains(a.Annotations.Summary, "{{") {
				t.Errorf("%s: the summary %q changes with the store", a.Alert, a.Annotations.Summary)
			}
			page, anchor, _ := strings.Cut(strings.TrimPrefix(a.Annotations.RunbookURL, Runbooks), "#")
			text, err := os.ReadFile(filepath.Join("..", page))
			if err != nil || anchor != "" && !strings.Contains(strings.ToLower(string(text)), "\n## "+anchor+"\n") {
				t.Errorf("%s: the page %s: %v", a.Alert, a.Annotations.RunbookURL, err)
			}
			for _, name := range metricNames.FindAllString(a.Expr+a.Annotations.Description, -1) {
				Named(name)
			}
		}
	}
	for _, r := range rules.All {
		var want []string
		for _, s := range []audit.Severity{audit.Critical, audit.Unsure, audit.Warning} {
			if slices.Contains(r.Severities, s) {
				want = append(want, string(s))
			}
		}
		var got []string
		for _, a := range alertsOf[r.ID] {
			got = append(got, a.Labels.Verdict)
			if a.Alert != AlertName(r.ID) || a.Annotations.Summary != Summary(r, audit.Severity(a.Labels.Verdict)) {
				t.Errorf("%s has the alert %+v", r.ID, a)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s has alerts of %q, want %q", r.ID, got, want)
		}
		delete(alertsOf, r.ID)
	}
	var others []string
	for _, a := range alertsOf[""] {
		others = append(others, a.Alert)
	}
	if want := []string{"BackstopAuditStale", "BackstopAuditAbsent", "BackstopPlaceUnaudited", "BackstopS3Errors", "BackstopConfigReloadFailed", "BackstopNotificationsFail", "BackstopFactUnseen"}; len(alertsOf) != 1 || !slices.Equal(others, want) {
		t.Errorf("besides the rules' there are %q, want %q", others, want)
	}
	unversioned := named("BackstopBucketUnversioned", "unknown").Annotations.Summary
	if want := "it could not be seen whether the bucket keeps no old versions: a deletion is final"; unversioned != want {
		t.Errorf("%q, want %q", unversioned, want)
	}
	if name := AlertName("control/reset-armed"); name != "BackstopControlResetArmed" {
		t.Error(name)
	}
}

var metricNames = regexp.MustCompile(`backstop_[a-z0-9_]+`)

// A ruleTest is a test of promtool's.
type ruleTest struct {
	Name     string       `yaml:"name"`
	Interval string       `yaml:"interval"`
	Input    []inputSerie `yaml:"input_series"`
	Tests    []alertTest  `yaml:"alert_rule_test"`
}

type inputSerie struct {
	Series string `yaml:"series"`
	Values string `yaml:"values"`
}

type alertTest struct {
	Eval   string     `yaml:"eval_time"`
	Alert  string     `yaml:"alertname"`
	Expect []expected `yaml:"exp_alerts,omitempty"`
}

type expected struct {
	Labels      map[string]string `yaml:"exp_labels"`
	Annotations Annotations       `yaml:"exp_annotations"`
}

const storeOf = `store="s3://kops/a",cluster="a",etcd="main"`

// fires is what an alert of the store says; more replaces what it says of others.
func (a AlertingRule) fires(more ...string) []expected {
	labels := map[string]string{"severity": a.Labels.Severity, "store": "s3://kops/a", "cluster": "a", "etcd": "main"}
	if a.Labels.Rule != "" {
		labels["rule"], labels["verdict"] = a.Labels.Rule, a.Labels.Verdict
	}
	say := strings.NewReplacer(append([]string{"{{ $labels.store }}", "s3://kops/a"}, more...)...)
	n := a.Annotations
	n.Description = say.Replace(n.Description)
	return []expected{{labels, n}}
}

// with are labels that take the place of the store's.
func with(e []expected, labels map[string]string) []expected {
	labels["severity"] = e[0].Labels["severity"]
	e[0].Labels = labels
	return e
}

// ofTheTemplate shows of every rule's alert that it fires after its time and not
// before, that it ends, and that a finding of another severity, store or rule does
// not make it fire. Of one store all is found at once, from the beginning to
// minute 70; of the other only what must not fire.
func ofTheTemplate() ruleTest {
	t := ruleTest{Name: "all rules", Interval: "1m", Input: []inputSerie{
		{NameFindings + `{store="s3://kops/b",rule="another/rule",severity="critical"}`, "1x120"}}}
	byName := map[string][]AlertingRule{}
	for _, a := range allGroups().Groups[0].Rules {
		byName[a.Alert] = append(byName[a.Alert], a)
		series := func(store, severity, values string) {
			t.Input = append(t.Input, inputSerie{fmt.Sprintf("%s{%s,rule=%q,severity=%q,job=\"x\",instance=\"y\"}", NameFindings, store, a.Labels.Rule, severity), values})
		}
		series(storeOf, a.Labels.Verdict, "1x70 _x50")
		series(`store="s3://kops/b"`, a.Labels.Verdict, "0x120")
		if len(byName[a.Alert]) == 1 {
			series(`store="s3://kops/b"`, "info", "1x120")
		}
	}
	for name, of := range byName {
		for _, minute := range []int{0, 14, 15, 59, 60, 70, 74, 95} {
			var firing []expected
			for _, a := range of {
				if Patience(audit.Severity(a.Labels.Verdict)) <= time.Duration(minute)*time.Minute && minute < 90 {
					firing = append(firing, a.fires()...)
				}
			}
			t.Tests = append(t.Tests, alertTest{fmt.Sprintf("%dm", minute), name, firing})
		}
	}
	return t
}

func named(alert, verdict string) AlertingRule {
	for _, g := range allGroups().Groups {
		for _, a := range g.Rules {
			if a.Alert == alert && a.Labels.Verdict == verdict {
				return a
			}
		}
	}
	panic(alert)
}

// byHand are tests of what the template does besides, and of the other alerts.
func byHand() []ruleTest {
	armed, stale, absent := named("BackstopControlResetArmed", "critical"), named("BackstopAuditStale", ""), named("BackstopAuditAbsent", "")
	place, s3, fact, failing := named("BackstopPlaceUnaudited", ""), named("BackstopS3Errors", ""), named("BackstopFactUnseen", ""), named("BackstopNotificationsFail", "")
	reload := named("BackstopConfigReloadFailed", "")
	finding := func(store string) string {
		return NameFindings + "{" + store + `,rule="control/reset-armed",severity="critical",instance="y"}`
	}
	unseen := func(store, fact string) string {
		return NameUnseen + "{" + store + `,fact="` + fact + `",instance="y"}`
	}
	requests, errors := NameAuditRequests+"{"+storeOf+"}", NameAuditErrors+"{"+storeOf+"}"
	const other = `store="s3://kops/b",cluster="b",etcd="main"`
	return []ruleTest{
		{"what cannot be seen any more is not repaired", "1m",
			[]inputSerie{{finding(storeOf), "1x10 _x300"}, {unseen(storeOf, "created"), "0x10 1x110 0x180"}, {unseen(other, "created"), "1x300"}},
			[]alertTest{{"10m", armed.Alert, armed.fires()}, {"30m", armed.Alert, armed.fires()}, {"2h", armed.Alert, armed.fires()}, {"140m", armed.Alert, nil}}},
		{"what another store or rule does not see is no reason", "1m",
			[]inputSerie{{finding(storeOf), "1x10 _x300"}, {unseen(storeOf, "versioning"), "1x300"}, {unseen(other, "created"), "1x300"}},
			[]alertTest{{"10m", armed.Alert, armed.fires()}, {"40m", armed.Alert, nil}}},
		{"what the rule may do without is no reason", "1m",
			[]inputSerie{{finding(storeOf), "1x10 _x300"}, {unseen(storeOf, "control_versions"), "1x300"}, {unseen(storeOf, "kops"), "1x300"}},
			[]alertTest{{"10m", armed.Alert, armed.fires()}, {"40m", armed.Alert, nil}}},
		{"what was repaired before it was not seen stays repaired", "1m",
			[]inputSerie{{finding(storeOf), "1x10 _x300"}, {unseen(storeOf, "created"), "0x60 1x200"}},
			[]alertTest{{"10m", armed.Alert, armed.fires()}, {"2h", armed.Alert, nil}}},
		{"a store that is gone with its place is not repaired", "1m",
			[]inputSerie{{finding(storeOf), "1x10 _x300"}, {NameAudit + "{" + storeOf + "}", "1x10 _x300"}, {unseen(`store="s3://kops"`, "listing"), "0x10 1x110 0x180"}},
			[]alertTest{{"10m", armed.Alert, armed.fires()}, {"2h", armed.Alert, armed.fires()}, {"140m", armed.Alert, nil}}},
		{"nor one of which kops's word was not read", "1m",
			[]inputSerie{{finding(storeOf), "1x10 _x300"}, {NameUnaudited + `{store="s3://kops/a",cause="denied"}`, "_x10 1x110 _x180"}},
			[]alertTest{{"2h", armed.Alert, armed.fires()}, {"140m", armed.Alert, nil}}},
		{"one that is gone while all else is seen is gone", "1m",
			[]inputSerie{{finding(storeOf), "1x10 _x300"}, {unseen(other, "listing"), "0x300"}, {NameUnaudited + `{store="gs://x",cause="unsupported"}`, "1x300"}},
			[]alertTest{{"10m", armed.Alert, armed.fires()}, {"30m", armed.Alert, nil}}},
		{"what another place hides is no reason where the store was seen", "1m",
			[]inputSerie{{finding(storeOf), "1x10 _x300"}, {NameAudit + "{" + storeOf + "}", "1x300"}, {unseen(other, "listing"), "1x300"}},
			[]alertTest{{"10m", armed.Alert, armed.fires()}, {"30m", armed.Alert, nil}}},
		{"a restarted backstop, of another name, is the same", "1m",
			[]inputSerie{{finding(storeOf), "1x10 stale"}, {strings.Replace(finding(storeOf), `"y"`, `"z"`, 1), "_x12 1x50"}},
			[]alertTest{{"10m", armed.Alert, armed.fires()}, {"13m", armed.Alert, armed.fires()}, {"30m", armed.Alert, armed.fires()}}},

		{"audits run", "1m", []inputSerie{{NameAudit + "{" + storeOf + "}", "0+60x300"}}, []alertTest{{"4h", stale.Alert, nil}}},
		{"audits have stopped", "1m", []inputSerie{{NameAudit + "{" + storeOf + "}", "0x300"}, {NameAudit + "{" + other + "}", "0+60x300"}},
			[]alertTest{{"2h", stale.Alert, nil}, {"134m", stale.Alert, nil}, {"3h", stale.Alert, stale.fires("{{ $value | humanizeDuration }}", "3h 0m 0s")}}},
		{"one of two backstops is enough", "1m", []inputSerie{{NameAudit + "{" + storeOf + `,instance="a"}`, "0x300"}, {NameAudit + "{" + storeOf + `,instance="b"}`, "0+60x300"}},
			[]alertTest{{"4h", stale.Alert, nil}}},
		{"there is a backstop", "1m", []inputSerie{{NameBuild + `{version="1"}`, "1x60"}}, []alertTest{{"1h", absent.Alert, nil}}},
		{"there is no backstop any more", "1m", []inputSerie{{NameBuild + `{version="1"}`, "1x10 stale"}},
			[]alertTest{{"10m", absent.Alert, nil}, {"25m", absent.Alert, nil}, {"26m", absent.Alert, with(absent.fires(), map[string]string{})}}},
		{"a place without a store", "1m", []inputSerie{{NameUnaudited + `{store="s3://kops/a",cause="no-bucket"}`, "1x90 _x60"}},
			[]alertTest{{"59m", place.Alert, nil}, {"1h", place.Alert, with(place.fires(), map[string]string{"store": "s3://kops/a"})}, {"110m", place.Alert, nil}}},

		{"S3 fails one request in five", "1m", []inputSerie{{requests, "10x60"}, {errors, "2x60"}}, []alertTest{{"1h", s3.Alert, nil}}},
		{"S3 fails more", "1m", []inputSerie{{requests, "100x60"}, {errors, "21x60"}},
			[]alertTest{{"29m", s3.Alert, nil}, {"30m", s3.Alert, with(s3.fires("{{ $value | humanizePercentage }}", "21%"), map[string]string{})}}},
		{"nothing is asked of S3", "1m", []inputSerie{{requests, "0x60"}, {errors, "0x60"}}, []alertTest{{"1h", s3.Alert, nil}}},

		{"a fact is not seen for a day", "5m", []inputSerie{{unseen(storeOf, "lifecycle"), "1x400"}, {unseen(other, "lifecycle"), "1x400"}, {unseen(other, "object_lock"), "1x400"}},
			[]alertTest{{"23h", fact.Alert, nil}, {"25h", fact.Alert, with(fact.fires("{{ $labels.fact }}", "lifecycle", "{{ $value }}", "2"), map[string]string{"fact": "lifecycle"})}}},
		{"a fact is seen once in a day", "5m", []inputSerie{{unseen(storeOf, "lifecycle"), "1x200 0x3 1x400"}}, []alertTest{{"25h", fact.Alert, nil}, {"40h", fact.Alert, nil}}},
		{"many stores take turns", "5m", []inputSerie{{unseen(storeOf, "created"), "1x150 0x300"}, {unseen(other, "created"), "0x150 1x200"}}, []alertTest{{"26h", fact.Alert, nil}}},
		{"a fact was never asked for before", "5m", []inputSerie{{unseen(storeOf, "created"), "_x300 1x10"}}, []alertTest{{"25h", fact.Alert, nil}}},

		{"a new configuration has a mistake, until it is mended", "1m", []inputSerie{{NameReload, "1x10 0x40 1x30"}},
			[]alertTest{{"10m", reload.Alert, nil}, {"40m", reload.Alert, with(reload.fires(), map[string]string{})}, {"70m", reload.Alert, nil}}},

		{"notifications arrive", "1m", []inputSerie{{NameNotifications + `{channel="pager",outcome="sent"}`, "0+1x90"}, {NameNotifications + `{channel="pager",outcome="failed"}`, "3x90"}},
			[]alertTest{{"80m", failing.Alert, nil}}},
		{"notifications fail", "1m", []inputSerie{{NameNotifications + `{channel="pager",outcome="failed"}`, "0+1x90"}},
			[]alertTest{{"15m", failing.Alert, nil}, {"30m", failing.Alert, with(failing.fires("{{ $labels.channel }}", "pager"), map[string]string{"channel": "pager"})}}},
	}
}

// In promtool's own tests every alert fires when it should, and does not when it
// should not. They are run with the rules that they are about, and as many steps
// as they need, because promtool takes its time for each.
func TestAlertsFire(t *testing.T) {
	slow, quick := []ruleTest{}, []ruleTest{}
	for _, test := range byHand() {
		if test.Interval == "5m" {
			slow = append(slow, test)
		} else {
			quick = append(quick, test)
		}
	}
	all := allGroups().Groups
	armed := Group{Name: "armed", Rules: []AlertingRule{named("BackstopControlResetArmed", "critical")}}
	for name, c := range map[string]struct {
		groups []Group
		step   string
		tests  []ruleTest
	}{
		"template": {all[:1], "1m", []ruleTest{ofTheTemplate()}},
		"by hand":  {[]Group{armed, all[1]}, "1m", quick},
		"a day":    {all[2:], "5m", slow},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file, test := filepath.Join(dir, "rules.yaml"), filepath.Join(dir, "test.yaml")
			for name, doc := range map[string]string{file: toYAML(t, ruleFile{c.groups}),
				test: toYAML(t, map[string]any{"rule_files": []string{file}, "evaluation_interval": c.step, "tests": c.tests})} {
				if err := os.WriteFile(name, []byte(doc), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if out, err := promtest.Promtool(t, "", "test", "rules", test); err != nil {
				t.Errorf("promtool test rules: %v\n%s", err, out)
			}
		})
	}
}
