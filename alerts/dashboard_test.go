package alerts

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"backstop/alerts/promtest"
)

// A query is one query of a panel, as it stands in the dashboard.
type query struct{ expr, legend string }

// A panel is one panel of the dashboard.
type panel struct {
	title, about, kind string
	width, height      int
	unit               string
	queries            []query
	more               map[string]any // options of its kind
}

// chosen are the stores that the person has chosen at the top of the page.
const chosen = `{cluster=~"$cluster",store=~"$store"}`

// per gives a metric of the chosen stores, once for each, whoever told it. more
// are further labels to select by, by those to keep.
func per(metric string, more string, by ...string) string {
	selector := chosen
	if more != "" {
		selector = strings.TrimSuffix(chosen, "}") + "," + more + "}"
	}
	return fmt.Sprintf("max by (%s) (%s%s)", strings.Join(append([]string{"cluster", "etcd", "store"}, by...), ", "), metric, selector)
}

const legend = "{{cluster}} {{etcd}}"

// colours of the verdicts, the same in every panel.
var colours = map[string]string{"critical": "red", "unknown": "purple", "warning": "orange", "ok": "green"}

// panels are the dashboard, from its top: what is wrong now, what is coming, what
// was.
func panels() []panel {
	var verdictPanels []panel
	for _, v := range []string{"critical", "unknown", "warning", "ok"} {
		verdictPanels = append(verdictPanels, panel{title: strings.ToUpper(v), about: "Stores with this verdict.", kind: "stat", width: 3, height: 4,
			queries: []query{{fmt.Sprintf("sum(%s) or vector(0)", per(NameVerdict, fmt.Sprintf("state=%q", v))), ""}},
			more:    map[string]any{"colorMode": "background", "color": colours[v]}})
	}
	return append(verdictPanels,
		panel{title: "Not audited for", about: "The store that was not audited for longest. Whatever this page says of it is as old.", kind: "stat", width: 4, height: 4, unit: "s",
			queries: []query{{fmt.Sprintf("time() - min(%s)", per(NameAudit, "")), ""}}, more: map[string]any{"warn": 3600, "bad": 7200}},
		panel{title: "Next control file to go", about: "Until the first control file is taken away by a lifecycle rule. Without a date: none goes, or that was not seen.", kind: "stat", width: 4, height: 4, unit: "s",
			queries: []query{{fmt.Sprintf("min(%s < +Inf) - time()", per(NameControlExpiry, "", "file")), ""}}, more: map[string]any{"noValue": "no date known", "low": 7 * 86400}},
		panel{title: "Not seen", about: "Necessary facts that were not seen: what is wrong there cannot be told.", kind: "stat", width: 4, height: 4,
			queries: []query{{fmt.Sprintf("sum(%s) or vector(0)", per(NameUnseen, `fact=~"listing|created|spec|queue|newest_meta|versioning|lifecycle"`, "fact")), ""}}, more: map[string]any{"bad": 1}},
		panel{title: "What is wrong now", about: "Findings of the last audits. `backstop explain RULE` prints what a rule means and what to do.", kind: "table", width: 24, height: 8,
			queries: []query{{fmt.Sprintf("sort_desc(max by (store, cluster, etcd, rule, severity) (%s{store=~\"$store|s3://[^/]+\",severity!=\"info\"}) > 0)", NameFindings), ""}}},
		panel{title: "State", about: "What etcd-manager does with each store next.", kind: "state-timeline", width: 24, height: 8,
			queries: []query{{per(NameReset, "", "state") + " == 1", "{{cluster}} {{etcd}} {{state}}"}}},
		panel{title: "Age of the newest snapshot", kind: "timeseries", width: 12, height: 8, unit: "s",
			queries: []query{{fmt.Sprintf("time() - (%s > 0)", per(NameNewest, "")), legend}}},
		panel{title: "Control files go in", about: "Until a lifecycle rule takes them. What never goes is not drawn.", kind: "timeseries", width: 12, height: 8, unit: "s",
			queries: []query{{fmt.Sprintf("(%s < +Inf) - time()", per(NameControlExpiry, "", "file")), legend + " {{file}}"}}},
		panel{title: "Snapshots", kind: "timeseries", width: 8, height: 8, unit: "short", queries: []query{{per(NameSnapshots, ""), legend}}},
		panel{title: "Size of the snapshots", kind: "timeseries", width: 8, height: 8, unit: "bytes", queries: []query{{per(NameBytes, ""), legend}}},
		panel{title: "How far back", about: "Age of the oldest snapshot.", kind: "timeseries", width: 8, height: 8, unit: "s",
			queries: []query{{fmt.Sprintf("time() - (%s > 0)", per(NameOldest, "")), legend}}},
		panel{title: "Duration of the audits", kind: "timeseries", width: 8, height: 8, unit: "s", queries: []query{{per(NameDuration, ""), legend}}},
		panel{title: "Requests of the last audits", kind: "timeseries", width: 8, height: 8, unit: "short",
			queries: []query{{fmt.Sprintf("sum(%s)", per(NameAuditRequests, "")), "requests"}, {fmt.Sprintf("sum(%s)", per(NameAuditErrors, "")), "failed"}}},
		panel{title: "Facts that were not seen", kind: "timeseries", width: 8, height: 8, unit: "short",
			queries: []query{{fmt.Sprintf("sum by (fact) (%s)", per(NameUnseen, "", "fact")), "{{fact}}"}}},
	)
}

var source = map[string]any{"type": "prometheus", "uid": "${datasource}"}

// grafana is the panel as Grafana has it.
func (p panel) grafana(id, x, y int) map[string]any {
	var targets []map[string]any
	for i, q := range p.queries {
		t := map[string]any{"refId": string(rune('A' + i)), "datasource": source, "expr": q.expr, "legendFormat": q.legend, "range": true}
		if p.kind == "stat" || p.kind == "table" {
			t["instant"], t["range"] = true, false
		}
		if p.kind == "table" {
			t["format"] = "table"
		}
		targets = append(targets, t)
	}
	defaults := map[string]any{"unit": p.unit}
	options := map[string]any{}
	out := map[string]any{
		"id": id, "type": p.kind, "title": p.title, "description": p.about, "datasource": source, "targets": targets, "options": options,
		"gridPos": map[string]int{"x": x, "y": y, "w": p.width, "h": p.height}, "fieldConfig": map[string]any{"defaults": defaults, "overrides": []any{}},
	}
	switch p.kind {
	case "stat":
		options["reduceOptions"] = map[string]any{"calcs": []string{"lastNotNull"}}
		options["colorMode"] = "background"
		defaults["thresholds"] = map[string]any{"mode": "absolute", "steps": p.steps()}
		if text, ok := p.more["noValue"]; ok {
			defaults["noValue"] = text
		}
	case "table":
		out["transformations"] = []any{map[string]any{"id": "organize", "options": map[string]any{"excludeByName": map[string]bool{"Time": true, "Value": true}}}}
	case "state-timeline":
		options["mergeValues"], options["showValue"] = true, "never"
	}
	return out
}

// steps colour a number.
func (p panel) steps() []map[string]any {
	step := func(colour string, from any) map[string]any { return map[string]any{"color": colour, "value": from} }
	if c, ok := p.more["color"]; ok {
		return []map[string]any{step("text", nil), step(c.(string), 1)}
	}
	if low, ok := p.more["low"]; ok {
		return []map[string]any{step("red", nil), step("orange", low), step("green", 2*365*86400)}
	}
	steps := []map[string]any{step("green", nil)}
	for colour, key := range map[string]string{"orange": "warn", "red": "bad"} {
		if v, ok := p.more[key]; ok {
			steps = append(steps, step(colour, v))
		}
	}
	slices.SortFunc(steps[1:], func(a, b map[string]any) int { return a["value"].(int) - b["value"].(int) })
	return steps
}

// dashboard is the whole of it.
func dashboard() map[string]any {
	var all []map[string]any
	x, y, row := 0, 0, 0
	for i, p := range panels() {
		if x+p.width > 24 {
			x, y, row = 0, y+row, 0
		}
		all = append(all, p.grafana(i+1, x, y))
		x, row = x+p.width, max(row, p.height)
	}
	label := func(name, metric, more string) map[string]any {
		q := fmt.Sprintf("label_values(%s%s, %s)", metric, more, name)
		return map[string]any{"name": name, "type": "query", "datasource": source, "query": map[string]string{"query": q, "refId": name}, "definition": q,
			"multi": true, "includeAll": true, "allValue": ".*", "refresh": 2, "sort": 1, "current": map[string]any{"text": "All", "value": "$__all"}}
	}
	return map[string]any{
		"uid": "backstop", "title": "backstop: etcd backup stores", "tags": []string{"backstop", "etcd", "kops"}, "schemaVersion": 39, "editable": true, "timezone": "utc",
		"time": map[string]string{"from": "now-7d", "to": "now"}, "refresh": "1m", "panels": all,
		"templating": map[string]any{"list": []any{
			map[string]any{"name": "datasource", "type": "datasource", "query": "prometheus", "label": "Prometheus"},
			label("cluster", NameAudit, ""), label("store", NameAudit, `{cluster=~"$cluster"}`),
		}},
	}
}

// The dashboard is JSON that Grafana imports, and asks for nothing that is not
// there.
func TestDashboard(t *testing.T) {
	body, err := json.MarshalIndent(dashboard(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "../deploy/dashboard.json", string(body)+"\n")
	golden(t, "../deploy/chart/files/dashboard.json", string(body)+"\n")

	type recording struct {
		Record string `yaml:"record"`
		Expr   string `yaml:"expr"`
	}
	var asked []recording
	for i, p := range panels() {
		if len(p.queries) == 0 || p.title == "" {
			t.Errorf("panel %d, %q, asks for nothing", i, p.title)
		}
		for j, q := range p.queries {
			asked = append(asked, recording{fmt.Sprintf("panel_%d_%d", i, j), strings.NewReplacer("$cluster", ".*", "$store", ".*").Replace(q.expr)})
		}
	}
	for _, q := range asked {
		known := false
		for _, name := range metricNames.FindAllString(q.Expr, -1) {
			m := Named(name)
			known = true
			for _, l := range selected.FindAllStringSubmatch(q.Expr, -1) {
				if !slices.Contains(append(m.AllLabels(), "store"), l[1]) {
					t.Errorf("%s has no label %s: %s", name, l[1], q.Expr)
				}
			}
		}
		if !known {
			t.Errorf("no metric of backstop: %s", q.Expr)
		}
	}
	file := filepath.Join(t.TempDir(), "rules.yaml")
	doc := toYAML(t, map[string]any{"groups": []any{map[string]any{"name": "dashboard", "rules": asked}}})
	if err := os.WriteFile(file, []byte(doc), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := promtest.Promtool(t, "", "check", "rules", file); err != nil {
		t.Errorf("promtool: %v\n%s", err, out)
	}
}

// selected finds the labels that a query selects by.
var selected = regexp.MustCompile(`[{,]([a-z_]+)[=!]~?"`)
