package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

const good = `start: 2026-01-05T00:00:00Z
days: 3
buckets:
  - {name: kops-state}
clusters:
  - name: a
    bucket: kops-state
    events:
      - {at: 1d, do: restart-leader, for: 20m}
`

func TestScenarioMistakes(t *testing.T) {
	for name, c := range map[string]struct{ old, replaced, want string }{
		"empty":                    {good, "", "line 1: the file is empty"},
		"not YAML":                 {"days: 3", "days: [", "line 3: this is not YAML"},
		"another kind of document": {good, "- a", "line 1: the scenario: want a mapping"},
		"two documents":            {"events:", "events: []\n---\nx:", "line 9: a scenario is one document"},
		"an unknown key":           {"days: 3", "dayz: 3", `line 2: the scenario: "dayz" is unknown; known are audit, buckets`},
		"an unknown parameter":     {"for: 20m", "fro: 20m", `line 9: events[0]: "fro" is unknown`},
		"a key twice":              {"days: 3", "days: 3\ndays: 4", "line 3: the scenario: days is given twice"},
		"no number":                {"days: 3", "days: three", `line 2: days: want a whole number from 0 to 1000000000, found "three"`},
		"no days":                  {"days: 3", "days: 0", "line 1: days: want 1 to 3660"},
		"a list where text goes":   {"name: a", "name: [a]", "line 6: name: want text, found a list"},
		"nothing where text goes":  {"name: a", "name:", `line 6: name: want text, found ""`},
		"an alias":                 {"{name: kops-state}", "&b {name: kops-state}\n  - *b", "line 5: buckets[1]: write it out, aliases are not read"},
		"no time":                  {"2026-01-05T00:00:00Z", "monday", `line 1: start: want a time in UTC, as in 2026-01-05T00:00:00Z, found "monday"`},
		"no length of time":        {"20m", "20", `line 9: for: want a length of time, as in 12d6h or 15m, found "20"`},
		"an unknown bucket":        {"bucket: kops-state", "bucket: other", `line 6: bucket: "other" is not one of buckets`},
		"a bucket twice":           {"buckets:", "buckets:\n  - {name: kops-state}", "line 5: name: there are two buckets kops-state"},
		"an unknown action":        {"restart-leader", "restart", `line 9: do: there is no action "restart"; known are archive`},
		"a parameter too many":     {"for: 20m", "key: control", "line 9: restart-leader takes no key; it takes for"},
		"a parameter too few":      {"restart-leader, for: 20m", "delete", "line 9: delete needs key"},
		"no time of an event":      {"at: 1d, ", "", "line 9: restart-leader: at is missing"},
		"an unknown rule":          {"for: 20m", "expect: [{rule: control/lost}]", `line 9: there is no rule "control/lost"`},
		"a rule that repeats":      {"for: 20m", "every: 1d, expect: [{rule: control/blocked}]", "line 9: expect: an event that repeats cannot have one"},
		"an etcd that is not":      {"for: 20m", "etcd: cilium", `line 9: restart-leader: the cluster has no etcd "cilium"`},
		"many without a number":    {"name: a", "name: a\n    count: 3", "line 6: count: want at most 999, and a % in the name"},
		"a rule that does nothing": {"{name: kops-state}", "{name: kops-state, lifecycle: [{id: a}]}", "line 4: lifecycle rule a does nothing"},
		"half of a transition":     {"{name: kops-state}", "{name: kops-state, lifecycle: [{id: a, archive: 3}]}", "line 4: lifecycle rule a: archive and class go together"},
		"quiet without dense":      {"days: 3", "days: 3\nquiet: 1d", "line 1: quiet and dense go together"},
		"HTTP after the end":       {"days: 3", "days: 3\nhttp: 3d", "line 1: http: want a day of the scenario"},
		"a place that is none":     {"restart-leader, for: 20m", "copy-store, to: kops-state/x", `line 9: to: want s3://BUCKET/PREFIX with one of buckets, found "kops-state/x"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readScenario([]byte(strings.Replace(good, c.old, c.replaced, 1)))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is\n%v\nwant\n%s", err, c.want)
			}
		})
	}
	if _, err := readScenario([]byte(good)); err != nil {
		t.Errorf("the scenario without a mistake: %v", err)
	}
}

func TestEveryMistakeIsSaid(t *testing.T) {
	_, err := readScenario([]byte(strings.NewReplacer("days: 3", "days: x", "for: 20m", "for: x").Replace(good)))
	if err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("want two mistakes, found:\n%v", err)
	}
}

func TestParseLength(t *testing.T) {
	for s, want := range map[string]time.Duration{"12d6h": 12*day + 6*time.Hour, "15m": 15 * time.Minute, "-3d": -3 * day, "-1d12h": -36 * time.Hour, "0s": 0, "90d": 90 * day} {
		if got, err := parseLength(s); err != nil || got != want {
			t.Errorf("%s is %v (%v), want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "d", "15", "1d-3h", "--3d", "1w", "999999d"} {
		if got, err := parseLength(s); err == nil {
			t.Errorf("%q is %v, want an error", s, got)
		}
	}
}

// TestSchema holds the schema to the reader, and every scenario to both.
func TestSchema(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("../../docs/scenario.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob("scenarios/*.yaml")
	for _, file := range append(files, "testdata/small.yaml") {
		if _, err := openScenario(file); err != nil {
			t.Error(err)
		}
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(asJSON(t, body)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	if err := schema.Validate(asJSON(t, []byte(strings.Replace(good, "days", "dayz", 1)))); err == nil {
		t.Error("the schema takes a key that is unknown")
	}
	if err := schema.Validate(asJSON(t, []byte(strings.Replace(good, "restart-leader", "restart", 1)))); err == nil {
		t.Error("the schema takes an action that is unknown")
	}
}

// asJSON reads YAML as the schema's library wants it; times stay text.
func asJSON(t *testing.T, body []byte) any {
	t.Helper()
	var doc any
	if err := yaml.Unmarshal(body, &doc); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestActionsAreDocumented holds the schema's list of actions, and the documentation,
// to what there is.
func TestActionsAreDocumented(t *testing.T) {
	body, err := os.ReadFile("../../docs/scenario.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Defs struct {
			Event struct {
				Properties struct {
					Do struct{ Enum []string }
				}
			}
		} `json:"$defs"`
	}
	if err := json.Unmarshal(body, &schema); err != nil {
		t.Fatal(err)
	}
	if got := schema.Defs.Event.Properties.Do.Enum; !slices.Equal(got, actionNames()) {
		t.Errorf("the schema knows the actions %q, want %q", got, actionNames())
	}
	page, err := os.ReadFile("../../docs/reliability.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, a := range actions {
		if line := "| `" + name + "` | " + a.does + " | "; !strings.Contains(string(page), line) {
			t.Errorf("docs/reliability.md lacks the line of an action:\n%s", line)
		}
	}
}
