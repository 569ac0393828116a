package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"backstop/audit"
)

// configured writes a configuration file.
func configured(t *testing.T, body string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "backstop.yaml")
	if err := os.WriteFile(name, []byte(body), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

var configNoon = at("2026-11-30T12:00:00Z")

// oneStore is a configuration with one store and these keys of it.
func oneStore(keys string) string {
	return "version: 1\nstores:\n- url: s3://abc\n  " + strings.ReplaceAll(keys, "\n", "\n  ") + "\n"
}

// configMistakes are all the mistakes that a file can have. bySchema says that
// the published schema refuses it too.
var configMistakes = map[string]struct {
	body     string
	want     []string
	bySchema bool
}{
	"empty":               {"", []string{"it is empty; it begins with `version: 1`"}, true},
	"comments alone":      {"# nothing\n", []string{"it is empty; it begins with `version: 1`"}, true},
	"null":                {"---\n", []string{"it is empty; it begins with `version: 1`"}, true},
	"two documents":       {"version: 1\n---\nversion: 1\n", []string{"it holds more than one YAML document"}, false},
	"not YAML":            {"version: 1\nstores: [\n", []string{"line 2: not YAML: did not find expected node content"}, false},
	"not YAML, line 1":    {"a: b: c\n", []string{"line 1: not YAML: mapping values are not allowed in this context"}, false},
	"a tab":               {"version: 1\ndefaults:\n\tinterval: 1h\n", []string{"line 3: not YAML: found character that cannot start any token"}, false},
	"an unknown anchor":   {"version: 1\ndefaults: *nowhere\n", []string{"line 2: not YAML: unknown anchor 'nowhere' referenced"}, false},
	"a list":              {"- version: 1\n", []string{"line 1: want keys with values, found a list"}, true},
	"a word":              {"hello\n", []string{`line 1: want keys with values, found "hello"`}, true},
	"no version":          {"stores: []\n", []string{"line 1: version is missing; the file begins with `version: 1`"}, true},
	"version 2":           {"version: 2\n", []string{"line 1: version is 2, want 1"}, true},
	"version in words":    {"version: one\n", []string{"line 1: version is one, want 1"}, true},
	"version, nothing":    {"version:\n", []string{"line 1: version: it is empty"}, true},
	"unknown key":         {"version: 1\nstors: []\n", []string{`line 2: unknown key "stors"; did you mean "stores"?`}, true},
	"unlike any key":      {"version: 1\nfrobnicate: 1\n", []string{`line 2: unknown key "frobnicate"`}, true},
	"unknown in defaults": {"version: 1\ndefaults: {url: s3://abc}\n", []string{`line 2: defaults: unknown key "url"`}, true},
	"unknown in a store":  {oneStore("regoin: x"), []string{`line 4: stores[0]: unknown key "regoin"; did you mean "region"?`}, true},
	"restorable_within":   {oneStore("restorable_within: 24h"), []string{`line 4: stores[0]: unknown key "restorable_within"`}, true},
	"a secret":            {oneStore("secret_access_key: hunter2"), []string{`line 4: stores[0]: unknown key "secret_access_key"`}, true},
	"unknown in keep":     {oneStore("keep: {weekly: 1y}"), []string{`line 4: stores[0].keep: unknown key "weekly"`}, true},
	"unknown in horizon":  {oneStore("horizon: {info: 1y}"), []string{`line 4: stores[0].horizon: unknown key "info"`}, true},
	"unknown in a merge":  {"version: 1\ndefaults: &d\n  interval: 15m\n  hourly: 1d\nstores:\n- <<: *d\n  url: s3://abc\n", []string{`line 4: defaults: unknown key "hourly"`}, true},
	"unknown, merged inline": {"version: 1\nstores:\n- <<: {url: s3://abc, zone: x}\n",
		[]string{`line 3: stores[0]: unknown key "zone"`}, true},
	"a merge of a word":    {"version: 1\nstores:\n- <<: x\n  url: s3://abc\n", []string{`line 3: stores[0]: want keys with values, found "x"`}, false},
	"a merge of itself":    {"version: 1\nstores:\n- &a\n  url: s3://abc\n  <<: *a\n", []string{"line 3: stores[0]: it is merged into itself"}, false},
	"a key twice":          {"version: 1\nstores:\n- url: s3://abc\n  url: s3://abd\n", []string{`line 4: stores[0]: "url" is given twice, first on line 3`}, false},
	"a key that is a list": {"version: 1\n? [a]\n: b\n", []string{"line 2: a key is a word, and not a list"}, false},

	"a rate in words":      {"version: 1\nmax_requests_per_second: few\n", []string{`line 2: max_requests_per_second: "few" is not a number of requests; want one such as 100, or 0 for no limit`}, true},
	"a rate below nothing": {"version: 1\nmax_requests_per_second: -1\n", []string{`line 2: max_requests_per_second: "-1" is not a number of requests; want one such as 100, or 0 for no limit`}, true},
	"a rate without end":   {"version: 1\nmax_requests_per_second: inf\n", []string{`line 2: max_requests_per_second: "inf" is not a number of requests; want one such as 100, or 0 for no limit`}, true},
	"a rate, nothing":      {"version: 1\nmax_requests_per_second:\n", []string{"line 2: max_requests_per_second: it is empty"}, true},

	"defaults are a list":     {"version: 1\ndefaults: []\n", []string{"line 2: defaults: want keys with values, found a list"}, true},
	"stores are keys":         {"version: 1\nstores: {url: s3://abc}\n", []string{"line 2: stores: want a list, found keys with values"}, true},
	"a store is a word":       {"version: 1\nstores: [s3://abc]\n", []string{`line 2: stores[0]: want keys with values, found "s3://abc"`}, true},
	"a store is nothing":      {"version: 1\nstores:\n-\n", []string{"line 3: stores[0]: url is missing"}, true},
	"interval without a unit": {"version: 1\ndefaults:\n  interval: 15\n", []string{`line 3: defaults.interval: "15" is not a length of time; want one such as 15m, 90d or 2y`}, true},
	"interval, nothing":       {"version: 1\ndefaults:\n  interval:\n", []string{"line 3: defaults.interval: it is empty"}, true},
	"interval, a list":        {"version: 1\ndefaults:\n  interval: [15m]\n", []string{"line 3: defaults.interval: want a text, found a list"}, true},
	"interval of no time":     {oneStore("interval: 0s"), []string{`line 4: stores[0].interval: "0s" is no time at all`}, false},
	"interval, negative":      {oneStore("interval: -15m"), []string{`line 4: stores[0].interval: "-15m" is not a length of time; want one such as 15m, 90d or 2y`}, true},
	"keep for too long":       {oneStore("keep: {daily: 300y}"), []string{`line 4: stores[0].keep.daily: "300y" is not a length of time; want one such as 15m, 90d or 2y`}, false},
	"keep, the wrong way":     {"version: 1\ndefaults: {keep: {hourly: 90d, daily: 7d}}\n", []string{"line 2: defaults: keep.hourly (90d) is longer than keep.daily (7d)"}, false},
	"horizon, half of it":     {oneStore("horizon: {critical: 3y}"), []string{"line 3: stores[0]: horizon.critical (3y) is longer than horizon.warning (2y)"}, false},
	"horizon, with defaults":  {"version: 1\ndefaults: {horizon: {critical: 3d}}\nstores:\n- url: s3://abc\n  horizon: {warning: 36h}\n", []string{"line 4: stores[0]: horizon.critical (3d) is longer than horizon.warning (36h)"}, false},

	"no url":                   {"version: 1\nstores:\n- region: x\n", []string{"line 3: stores[0]: url is missing"}, true},
	"url, nothing":             {"version: 1\nstores:\n- url: ''\n", []string{"line 3: stores[0].url: it is empty"}, true},
	"url with a typo":          {"version: 1\nstores:\n- url: s3:/x\n", []string{`line 3: stores[0].url: STORE "s3:/x" looks like a URL with a typo: want s3://BUCKET[/PREFIX]; write ./s3:/x if it is a directory`}, false},
	"url of another cloud":     {"version: 1\nstores:\n- url: gs://abc\n", []string{`line 3: stores[0].url: STORE "gs://abc" cannot be read: gs:// is Google Cloud Storage; backstop reads s3:// and directories`}, false},
	"url with a secret":        {"version: 1\nstores:\n- url: s3://AKIA:hunter2@abc\n", []string{"line 3: stores[0].url: s3://REDACTED@abc holds credentials; they come from the SDK's chain"}, false},
	"named twice":              {"version: 1\nstores:\n- url: s3://abc\n- url: s3://abc/\n", []string{"line 4: stores[1]: s3://abc/ is named twice, first by stores[0]"}, false},
	"endpoint without scheme":  {oneStore("endpoint_url: localhost:9000"), []string{`line 4: stores[0].endpoint_url: "localhost:9000" is not the address of a server; want one such as https://s3.example.org`}, true},
	"endpoint with a query":    {oneStore("endpoint_url: https://joe:hunter2@s3.example.org/?a=b"), []string{`line 4: stores[0].endpoint_url: "https://REDACTED@s3.example.org/?a=b" is not the address of a server; want one such as https://s3.example.org`}, true},
	"path style in words":      {oneStore("force_path_style: maybe"), []string{`line 4: stores[0].force_path_style: want true or false, found "maybe"`}, true},
	"a role that is none":      {oneStore("role_arn: backstop"), []string{`line 4: stores[0].role_arn: "backstop" is not the name of a role; want one such as arn:aws:iam::111122223333:role/NAME`}, true},
	"an external id alone":     {oneStore("external_id_file: /run/x"), []string{"line 3: stores[0]: external_id_file belongs to a role_arn, and there is none"}, false},
	"a directory's region":     {"version: 1\nstores:\n- {url: /srv/copy, region: x}\n", []string{"line 3: stores[0]: /srv/copy is a directory: there is no region, profile, role or endpoint to reach it by"}, false},
	"role of no kind":          {oneStore("role: mirror"), []string{`line 4: stores[0].role: "mirror" is no role of a store; want live, replica or archive`}, true},
	"windows are keys":         {oneStore("windows: {cron: x}"), []string{"line 4: stores[0].windows: want a list, found keys with values"}, true},
	"a window of nothing":      {oneStore("windows: [{}]"), []string{"line 4: stores[0].windows[0]: cron is missing: a window has cron, for and reason", "line 4: stores[0].windows[0]: for is missing: a window has cron, for and reason", "line 4: stores[0].windows[0]: reason is missing: a window has cron, for and reason"}, true},
	"a window, null":           {oneStore("windows:\n- "), []string{"line 5: stores[0].windows[0]: cron is missing: a window has cron, for and reason", "line 5: stores[0].windows[0]: for is missing: a window has cron, for and reason", "line 5: stores[0].windows[0]: reason is missing: a window has cron, for and reason"}, true},
	"a window is a word":       {oneStore("windows: [night]"), []string{`line 4: stores[0].windows[0]: want keys with values, found "night"`}, true},
	"unknown in a window":      {oneStore("windows: [{cron: 0 20 * * *, for: 1h, reason: r, until: 2027-01-01}]"), []string{`line 4: stores[0].windows[0]: unknown key "until"`}, true},
	"cron of four":             {oneStore(`windows: [{cron: 0 20 * *, for: 1h, reason: r}]`), []string{`line 4: stores[0].windows[0].cron: cron "0 20 * *" is not minute, hour, day, month and weekday, as in "0 20 * * 1-5": expected exactly 5 fields, found 4: [0 20 * *]`}, true},
	"cron at 25":               {oneStore(`windows: [{cron: 0 25 * * *, for: 1h, reason: r}]`), []string{`line 4: stores[0].windows[0].cron: cron "0 25 * * *" is not minute, hour, day, month and weekday, as in "0 20 * * 1-5": end of range (25) above maximum (23): 25`}, false},
	"cron with a name":         {oneStore(`windows: [{cron: "@daily", for: 1h, reason: r}]`), []string{`line 4: stores[0].windows[0].cron: cron "@daily" is not minute, hour, day, month and weekday, as in "0 20 * * 1-5": parser does not accept descriptors: @daily`}, true},
	"cron with a zone":         {oneStore(`windows: [{cron: "TZ=Europe/Berlin 0 20 * * *", for: 1h, reason: r}]`), []string{`line 4: stores[0].windows[0].cron: cron "TZ=Europe/Berlin 0 20 * * *" names a time zone; windows are in UTC`}, true},
	"cron with a zone alone":   {oneStore(`windows: [{cron: "CRON_TZ=", for: 1h, reason: r}]`), []string{`line 4: stores[0].windows[0].cron: cron "CRON_TZ=" names a time zone; windows are in UTC`}, true},
	"cron that never comes":    {oneStore(`windows: [{cron: 0 0 30 2 *, for: 1h, reason: r}]`), []string{`line 4: stores[0].windows[0].cron: cron "0 0 30 2 *" never comes`}, false},
	"a window for no time":     {oneStore(`windows: [{cron: 0 20 * * *, for: 0h, reason: r}]`), []string{`line 4: stores[0].windows[0].for: "0h" is no time at all`}, false},
	"windows that never end":   {oneStore(`windows: [{cron: 0 20 * * *, for: 23h, reason: r}]`), []string{"line 3: stores[0]: windows leave no time in which a backup is expected: together they never end"}, false},
	"that never end, together": {oneStore("windows:\n- {cron: 0 0 * * *, for: 11h, reason: r}\n- {cron: 0 12 * * *, for: 11h, reason: r}"), []string{"line 3: stores[0]: windows leave no time in which a backup is expected: together they never end"}, false},

	"an assumption of nothing":  {oneStore("assume: [{}]"), []string{"line 4: stores[0].assume[0]: fact is missing: an assumption has fact, value, until and reason", "line 4: stores[0].assume[0]: value is missing: an assumption has fact, value, until and reason", "line 4: stores[0].assume[0]: until is missing: an assumption has fact, value, until and reason", "line 4: stores[0].assume[0]: reason is missing: an assumption has fact, value, until and reason"}, true},
	"unknown in an assumption":  {oneStore("assume: [{fact: lifecycle, value: none, until: 2027-01-01, reason: r, by: joe}]"), []string{`line 4: stores[0].assume[0]: unknown key "by"`}, true},
	"a fact that is necessary":  {oneStore("assume: [{fact: created, value: none, until: 2027-01-01, reason: r}]"), []string{`line 4: stores[0].assume[0].fact: the fact "created" cannot be assumed; want lifecycle or versioning`}, true},
	"lifecycle as rules":        {oneStore("assume: [{fact: lifecycle, value: harmless, until: 2027-01-01, reason: r}]"), []string{`line 4: stores[0].assume[0]: lifecycle cannot be assumed to be "harmless"; want none`}, true},
	"versioning as none":        {oneStore("assume: [{fact: versioning, value: none, until: 2027-01-01, reason: r}]"), []string{`line 4: stores[0].assume[0]: versioning cannot be assumed to be "none"; want enabled, suspended, off`}, true},
	"a fact twice":              {oneStore("assume:\n- {fact: lifecycle, value: none, until: 2027-01-01, reason: r}\n- {fact: lifecycle, value: none, until: 2027-01-02, reason: r}"), []string{"line 6: stores[0].assume[1].fact: lifecycle is assumed twice"}, false},
	"assumed until whenever":    {oneStore("assume: [{fact: lifecycle, value: none, until: whenever, reason: r}]"), []string{`line 4: stores[0].assume[0].until: "whenever" is not a date; want one such as 2027-01-15, or a time such as 2027-01-15T06:00:00Z`}, true},
	"assumed until 30 February": {oneStore("assume: [{fact: lifecycle, value: none, until: 2027-02-30, reason: r}]"), []string{`line 4: stores[0].assume[0].until: "2027-02-30" is not a date; want one such as 2027-01-15, or a time such as 2027-01-15T06:00:00Z`}, false},

	"an acknowledgement of nothing": {oneStore("acknowledged: [{}]"), []string{"line 4: stores[0].acknowledged[0]: rule is missing: an acknowledgement has rule, event and reason", "line 4: stores[0].acknowledged[0]: event is missing: an acknowledgement has rule, event and reason", "line 4: stores[0].acknowledged[0]: reason is missing: an acknowledgement has rule, event and reason"}, true},
	"unknown in it":                 {oneStore("acknowledged: [{rule: control/reseeded, event: 1, reason: r, until: 2027-01-01}]"), []string{`line 4: stores[0].acknowledged[0]: unknown key "until"`}, true},
	"an event of no rule":           {oneStore("acknowledged: [{rule: control/reset, event: 1, reason: r}]"), []string{`line 4: stores[0].acknowledged[0].rule: there is no rule "control/reset"; did you mean control/reset-imminent or control/reset-armed?`}, false},
	"an event that was not seen":    {oneStore("acknowledged: [{rule: control/unseen, event: spec, reason: r}]"), []string{"line 4: stores[0].acknowledged[0].rule: control/unseen says what could not be looked at, and that cannot be ignored; see assume"}, false},
	"an event twice":                {oneStore("acknowledged:\n- {rule: control/reseeded, event: 1, reason: r}\n- {rule: control/reseeded, event: '1', reason: s}"), []string{"line 6: stores[0].acknowledged[1]: the event 1 of control/reseeded is acknowledged twice"}, false},

	"an ignore of nothing":      {oneStore("ignore: [{}]"), []string{"line 4: stores[0].ignore[0]: rule is missing: an ignore has rule, until and reason", "line 4: stores[0].ignore[0]: until is missing: an ignore has rule, until and reason", "line 4: stores[0].ignore[0]: reason is missing: an ignore has rule, until and reason"}, true},
	"an ignore without end":     {oneStore("ignore: [{rule: snapshot/late, reason: r}]"), []string{"line 4: stores[0].ignore[0]: until is missing: an ignore has rule, until and reason"}, true},
	"an ignore without reason":  {oneStore("ignore: [{rule: snapshot/late, until: 2027-01-01}]"), []string{"line 4: stores[0].ignore[0]: reason is missing: an ignore has rule, until and reason"}, true},
	"with an empty reason":      {oneStore("ignore: [{rule: snapshot/late, until: 2027-01-01, reason: ' '}]"), []string{"line 4: stores[0].ignore[0].reason: it is empty"}, true},
	"unknown in an ignore":      {oneStore("ignore: [{rule: snapshot/late, until: 2027-01-01, reason: r, event: 1}]"), []string{`line 4: stores[0].ignore[0]: unknown key "event"`}, true},
	"ignoring everything":       {oneStore("ignore: [{rule: '*', until: 2027-01-01, reason: r}]"), []string{"line 4: stores[0].ignore[0].rule: there is no rule \"*\"; `backstop explain` lists the rules"}, true},
	"ignoring a rule twice":     {oneStore("ignore:\n- {rule: snapshot/late, until: 2027-01-01, reason: r}\n- {rule: snapshot/late, until: 2027-01-02, reason: r}"), []string{"line 6: stores[0].ignore[1].rule: snapshot/late is ignored twice"}, false},
	"ignoring UNKNOWN":          {oneStore("ignore: [{rule: lifecycle/unseen, until: 2027-01-01, reason: r}]"), []string{"line 4: stores[0].ignore[0].rule: lifecycle/unseen says what could not be looked at, and that cannot be ignored; see assume"}, false},
	"ignoring information":      {oneStore("ignore: [{rule: control/stray, until: 2027-01-01, reason: r}]"), []string{"line 4: stores[0].ignore[0].rule: control/stray is information already"}, false},
	"ignoring a reset for long": {oneStore("ignore: [{rule: control/reset-armed, until: 2026-12-08, reason: r}]"), []string{"line 4: stores[0].ignore[0]: control/reset-armed can be ignored for 7 days at most, and 2026-12-08 is further ahead: what it speaks of loses clusters"}, false},
	"by a second":               {oneStore("ignore: [{rule: control/altered, until: 2026-12-07T12:00:01Z, reason: r}]"), []string{"line 4: stores[0].ignore[0]: control/altered can be ignored for 7 days at most, and 2026-12-07 12:00:01Z is further ahead: what it speaks of loses clusters"}, false},
	"ignoring its deletion":     {oneStore("ignore: [{rule: lifecycle/deletes-control, until: 2027-01-01, reason: r}]"), []string{"line 4: stores[0].ignore[0]: lifecycle/deletes-control can be ignored for 7 days at most, and 2027-01-01 is further ahead: what it speaks of loses clusters"}, false},

	"several, each with its line": {"version: 2\ndefaults: {interval: soon}\nstores:\n- url: s3:/x\n  role: mirror\n- region: y\nstors: []\n", []string{
		"line 1: version is 2, want 1",
		`line 2: defaults.interval: "soon" is not a length of time; want one such as 15m, 90d or 2y`,
		`line 4: stores[0].url: STORE "s3:/x" looks like a URL with a typo: want s3://BUCKET[/PREFIX]; write ./s3:/x if it is a directory`,
		`line 5: stores[0].role: "mirror" is no role of a store; want live, replica or archive`,
		"line 6: stores[1]: url is missing",
		`line 7: unknown key "stors"; did you mean "stores"?`,
	}, true},
}

func TestConfigMistakes(t *testing.T) {
	schema := configSchema(t)
	for name, c := range configMistakes {
		t.Run(name, func(t *testing.T) {
			_, wrong := parseConfig([]byte(c.body), configNoon)
			var got []string
			for _, m := range wrong {
				got = append(got, m.String())
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
			file := configured(t, c.body)
			r := command(t, configNoon, "config", "validate", "--config", file)
			if r.code != exitConfig || strings.Count(r.stdout, "\n") != len(c.want)+1 || !strings.Contains(r.stdout, file+": "+c.want[0]+"\n") {
				t.Errorf("validate: exit %d\n%s%s", r.code, r.stdout, r.stderr)
			}
			for _, args := range [][]string{{"audit"}, {"gate"}, {"plan"}, {"config", "print"}} {
				r := command(t, configNoon, append(args, "--config", file)...)
				if r.code != exitConfig || r.stdout != "" || !strings.Contains(r.stderr, c.want[len(c.want)-1]) || strings.Count(r.stderr, "\n") != 2 {
					t.Errorf("%q: exit %d\n%s%s", args, r.code, r.stdout, r.stderr)
				}
				if strings.Contains(r.stderr, "hunter2") {
					t.Errorf("%q tells a secret: %s", args, r.stderr)
				}
			}
			doc, ok := asDocument(t, c.body)
			if refused := ok && schema.Validate(doc) != nil; ok && refused != c.bySchema {
				t.Errorf("the schema refuses it: %t, want %t", refused, c.bySchema)
			}
		})
	}
}

func configSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	schema, err := jsonschema.NewCompiler().Compile("../../docs/config.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// asDocument reads YAML as an editor does, for the schema; false for what no
// editor can read.
func asDocument(t *testing.T, body string) (any, bool) {
	t.Helper()
	var v any
	d := yaml.NewDecoder(strings.NewReader(body))
	if err := d.Decode(&v); err != nil && body != "" && v != nil {
		return nil, false
	}
	if err := yaml.Unmarshal([]byte(body), &v); err != nil {
		return nil, false
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil, false
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	return doc, err == nil
}

// What is unusual and no mistake.
func TestConfigAccepts(t *testing.T) {
	for name, body := range map[string]string{
		"version alone":                 "version: 1\n",
		"keys without values":           "version: 1\ndefaults:\nstores:\n",
		"lists without values":          oneStore("windows:\nassume:\nacknowledged:\nignore:\nkeep:\nhorizon:"),
		"two places of one URL":         "version: 1\nstores:\n- url: s3://abc\n- {url: s3://abc, endpoint_url: https://s3.example.org}\n",
		"a place within another":        "version: 1\nstores:\n- url: s3://abc\n- url: s3://abc/prod.example.com\n",
		"a directory":                   "version: 1\nstores: [{url: ./copy, role: archive}]\n",
		"a role of Ceph":                oneStore("role_arn: arn:aws:iam:::role/x"),
		"seven days to the second":      oneStore("ignore: [{rule: control/reset-armed, until: 2026-12-07T12:00:00Z, reason: r}]"),
		"a date in seven days":          oneStore("ignore: [{rule: control/reset-armed, until: 2026-12-07, reason: r}]"),
		"an end that has come":          oneStore("ignore: [{rule: snapshot/late, until: 2020-01-01, reason: r}]\nassume: [{fact: versioning, value: 'off', until: 2020-01-01, reason: r}]"),
		"a long end of a harmless rule": oneStore("ignore: [{rule: bucket/unversioned, until: 2036-01-01, reason: r}]"),
		"windows that nearly touch":     oneStore("windows: [{cron: 0 20 * * *, for: 22h59m, reason: r}]"),
		"a window for a month":          oneStore("windows: [{cron: 0 0 1 7 *, for: 60d, reason: summer}]"),
		"an event in words":             oneStore("acknowledged: [{rule: control/reseeded, event: abc, reason: r}]"),
	} {
		_, wrong := parseConfig([]byte(body), configNoon)
		if len(wrong) > 0 {
			t.Errorf("%s: %v", name, wrong)
		}
		if doc, ok := asDocument(t, body); !ok || configSchema(t).Validate(doc) != nil {
			t.Errorf("%s: the schema refuses it", name)
		}
	}
}

// documented is the example of docs/configuration.md.
func documented(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```yaml\n")
	example, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("the page has no example")
	}
	return example
}

// The documented example is what it says, and shows every key.
func TestConfigExample(t *testing.T) {
	example := documented(t)
	c, wrong := parseConfig([]byte(example), configNoon)
	if len(wrong) > 0 {
		t.Fatalf("the example has mistakes: %v", wrong)
	}
	doc, ok := asDocument(t, example)
	if err := configSchema(t).Validate(doc); !ok || err != nil {
		t.Errorf("the schema refuses the example: %v", err)
	}
	if r := command(t, configNoon, "config", "validate", "--config", configured(t, example)); r.code != 0 || !strings.Contains(r.stdout, "valid; it names 3 places and 5 channels") {
		t.Errorf("exit %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	want := audit.DefaultPolicy()
	want.Entry, want.Interval, want.KeepDaily, want.Given = "stores[1]", time.Hour, 90*audit.Day, audit.Given{Interval: true, KeepHourly: true, KeepDaily: true}
	want.Windows = []audit.Window{{Cron: "0 20 * * 1-5", For: 11 * time.Hour, Reason: "hibernated at night"}}
	want.Assume = []audit.Assumption{{Fact: audit.FactLifecycle, Value: "none", Until: at("2027-06-30T00:00:00Z"), Reason: "console checked by ops"}}
	want.Acknowledged = []audit.Acknowledgement{{Rule: "control/reseeded", Event: "1796062108385491150", Reason: "planned rebuild"}}
	want.Ignore = []audit.Ignore{{Rule: "bucket/unversioned", Until: at("2027-01-15T00:00:00Z"), Reason: "migration booked"}}
	if got := c.policy(1, true); !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
	if got := c.stores[0].configTarget; got != (configTarget{URL: "s3://kops-state", Region: "eu-west-1", RoleARN: "arn:aws:iam::111122223333:role/backstop", ExternalIDFile: "/run/secrets/external-id"}) {
		t.Errorf("%+v", got)
	}
	if got := c.stores[1].configTarget; got != (configTarget{URL: "s3://backups-eu/prod.example.com/backups/etcd/main", Profile: "backups", EndpointURL: "https://s3.example.org", ForcePathStyle: true}) {
		t.Errorf("%+v", got)
	}
	if c.policy(0, true).Interval != 15*time.Minute || c.policy(2, true).Role != audit.Archive {
		t.Errorf("%+v\n%+v", c.policy(0, true), c.policy(2, true))
	}
	for _, key := range configKeys(reflect.TypeFor[printedConfig]()) {
		if !strings.Contains(example, key+":") {
			t.Errorf("the example does not show %s", key)
		}
	}
}

// configKeys are the keys of a printed configuration, each once.
func configKeys(t reflect.Type) []string {
	var all []string
	switch t.Kind() {
	case reflect.Slice, reflect.Pointer:
		all = configKeys(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			key, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
			if key != "" {
				all = append(all, key)
			}
			all = append(all, configKeys(t.Field(i).Type)...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// The schema, the reader and `config print` know the same keys.
func TestConfigSchemaHasEveryKey(t *testing.T) {
	body, err := os.ReadFile("../../docs/config.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	type object struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Items      json.RawMessage            `json:"items"`
		Ref        string                     `json:"$ref"`
	}
	var whole struct {
		object
		Defs map[string]json.RawMessage `json:"$defs"`
	}
	if err := json.Unmarshal(body, &whole); err != nil {
		t.Fatal(err)
	}
	var keysOf func(o object) []string
	keysOf = func(o object) []string {
		var all []string
		parse := func(raw json.RawMessage) (o object) { _ = json.Unmarshal(raw, &o); return o }
		if o.Ref != "" {
			all = append(all, keysOf(parse(whole.Defs[strings.TrimPrefix(o.Ref, "#/$defs/")]))...)
		}
		if o.Items != nil {
			all = append(all, keysOf(parse(o.Items))...)
		}
		for key, raw := range o.Properties {
			all = append(append(all, key), keysOf(parse(raw))...)
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	if schema, printed := keysOf(whole.object), configKeys(reflect.TypeFor[printedConfig]()); !slices.Equal(schema, printed) {
		t.Errorf("the schema has\n%q\nand print has\n%q", schema, printed)
	}
}

// Anchors and merges: what a store says itself counts more.
func TestConfigMerge(t *testing.T) {
	c, wrong := parseConfig([]byte(`version: 1
defaults: &defaults
  interval: 30m
  horizon: {critical: 3d, warning: 1y}
stores:
- &first
  <<: *defaults
  url: s3://abc
  interval: 1h
- <<: [*first, {region: eu-west-1, interval: 9h}]
  url: s3://abd
  ignore: &known
  - {rule: snapshot/late, until: 2027-01-01, reason: r}
- url: s3://abe
  horizon: {warning: 2y}
  ignore: *known
`), configNoon)
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	for i, want := range []struct {
		url, region       string
		interval          time.Duration
		critical, warning time.Duration
		ignores           int
	}{
		{"s3://abc", "", time.Hour, 3 * audit.Day, 365 * audit.Day, 0},
		{"s3://abd", "eu-west-1", time.Hour, 3 * audit.Day, 365 * audit.Day, 1},
		{"s3://abe", "", 30 * time.Minute, 3 * audit.Day, 730 * audit.Day, 1},
	} {
		p := c.policy(i, true)
		if e := c.stores[i]; e.URL != want.url || e.Region != want.region || p.Interval != want.interval || p.HorizonCritical != want.critical || p.HorizonWarning != want.warning || len(p.Ignore) != want.ignores {
			t.Errorf("stores[%d]: %+v %+v", i, e.configTarget, p)
		}
	}
}

// Flag, then environment, then file, then default.
func TestConfigPrecedence(t *testing.T) {
	file := configured(t, "version: 1\ndefaults: {interval: 20m}\nstores:\n- url: s3://abc\n  interval: 30m\n  region: of-file\n  profile: of-file\n  endpoint_url: https://file.example.org\n  force_path_style: true\n")
	env := map[string]string{
		"BACKSTOP_INTERVAL": "40m", "BACKSTOP_REGION": "of-env", "BACKSTOP_PROFILE": "of-env", "BACKSTOP_ENDPOINT_URL": "https://env.example.org", "BACKSTOP_FORCE_PATH_STYLE": "false",
	}
	flags := []string{"--interval", "50m", "--region", "of-flag", "--profile", "of-flag", "--endpoint-url", "https://flag.example.org", "--force-path-style"}
	printed := func(env map[string]string, args ...string) printedStore {
		t.Helper()
		r := commandIn(t, t.Context(), configNoon, env, append([]string{"config", "print"}, args...)...)
		var c printedConfig
		if err := yaml.Unmarshal([]byte(r.stdout), &c); err != nil || r.code != 0 || len(c.Stores) != 1 {
			t.Fatalf("exit %d, %v\n%s%s", r.code, err, r.stdout, r.stderr)
		}
		return c.Stores[0]
	}
	withFile := map[string]string{"BACKSTOP_CONFIG": file}
	for k, v := range env {
		withFile[k] = v
	}
	for name, c := range map[string]struct {
		got  printedStore
		want configTarget
		by   string
	}{
		"default":     {printed(map[string]string{"KOPS_STATE_STORE": "s3://abc"}), configTarget{URL: "s3://abc"}, "15m"},
		"file":        {printed(nil, "--config", file), configTarget{URL: "s3://abc", Region: "of-file", Profile: "of-file", EndpointURL: "https://file.example.org", ForcePathStyle: true}, "30m"},
		"environment": {printed(withFile), configTarget{URL: "s3://abc", Region: "of-env", Profile: "of-env", EndpointURL: "https://env.example.org"}, "40m"},
		"flag":        {printed(withFile, flags...), configTarget{URL: "s3://abc", Region: "of-flag", Profile: "of-flag", EndpointURL: "https://flag.example.org", ForcePathStyle: true}, "50m"},
	} {
		if c.got.configTarget != c.want || c.got.Interval != c.by {
			t.Errorf("%s: %+v every %s, want %+v every %s", name, c.got.configTarget, c.got.Interval, c.want, c.by)
		}
	}
}

// What is printed can be read again and is the same, and tells no secret.
func TestConfigPrint(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "external-id")
	if err := os.WriteFile(secret, []byte("hunter2"), 0o600); err != nil {
		t.Fatal(err)
	}
	body := strings.ReplaceAll(documented(t), "https://s3.example.org", "https://joe:hunter2@s3.example.org")
	body = strings.ReplaceAll(body, "/run/secrets/external-id", secret)
	first := command(t, configNoon, "config", "print", "--config", configured(t, body))
	if first.code != 0 || strings.Contains(first.stdout+first.stderr, "hunter2") || !strings.Contains(first.stdout, "endpoint_url: https://REDACTED@s3.example.org\n") || !strings.Contains(first.stdout, "external_id_file: "+secret) {
		t.Errorf("exit %d\n%s%s", first.code, first.stdout, first.stderr)
	}
	again := command(t, configNoon, "config", "print", "--config", configured(t, first.stdout))
	if again.code != 0 || again.stdout != first.stdout {
		t.Errorf("exit %d, printed again:\n%s%s\nand at first:\n%s", again.code, again.stdout, again.stderr, first.stdout)
	}
	doc, ok := asDocument(t, first.stdout)
	if err := configSchema(t).Validate(doc); !ok || err != nil {
		t.Errorf("the schema refuses it: %v", err)
	}
	byFlag := command(t, configNoon, "config", "print", "--config", configured(t, oneStore("region: x")), "--endpoint-url", "https://joe:hunter2@s3.example.org")
	if byFlag.code != 0 || strings.Contains(byFlag.stdout, "hunter2") {
		t.Errorf("exit %d\n%s%s", byFlag.code, byFlag.stdout, byFlag.stderr)
	}
	golden(t, "config-print.txt", command(t, configNoon, "config", "print", "--config", configured(t, documented(t)), "--region", "eu-central-1").stdout)
	golden(t, "config-print-defaults.txt", command(t, configNoon, "config", "print").stdout)
}

// The report names the endpoint, and not who is let in there.
func TestEndpointIsMasked(t *testing.T) {
	_, _, endpoint := served(t, configNoon, mustArchive(t, "armed"))
	endpoint = strings.Replace(endpoint, "://", "://joe:hunter2@", 1)
	for _, args := range [][]string{{"audit", "-o", "json"}, {"plan"}} {
		r := command(t, configNoon, append(args, "s3://kops", "--endpoint-url", endpoint)...)
		if strings.Contains(r.stdout+r.stderr, "hunter2") || !strings.Contains(r.stdout, "REDACTED@") {
			t.Errorf("%q: exit %d\n%s%s", args, r.code, r.stdout, r.stderr)
		}
	}
}

func TestConfigCommands(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"config"}, exitUsage, "backstop config validate"},
		{[]string{"config", "validate"}, exitUsage, "BACKSTOP_CONFIG"},
		{[]string{"config", "validate", "file"}, exitUsage, "file"},
		{[]string{"config", "validate", "--config", "/none"}, exitConfig, "no such file"},
		{[]string{"config", "print", "--config", "/none"}, exitConfig, "no such file"},
		{[]string{"config", "print", "--interval", "soon"}, exitUsage, "--interval"},
		{[]string{"config", "print", "--endpoint-url", "x"}, exitUsage, "--endpoint-url"},
		{[]string{"config", "print", "--replay", "x"}, exitUsage, "unknown flag"},
	} {
		if r := command(t, configNoon, c.args...); r.code != c.code || !strings.Contains(r.stderr, c.says) {
			t.Errorf("%q: exit %d\n%s%s", c.args, r.code, r.stdout, r.stderr)
		}
	}
	env := map[string]string{"BACKSTOP_CONFIG": configured(t, "version: 1\n")}
	if r := commandIn(t, t.Context(), configNoon, env, "config", "validate"); r.code != 0 {
		t.Errorf("by environment: exit %d\n%s", r.code, r.stderr)
	}
	env["KOPS_STATE_STORE"] = "s3:/typo"
	if r := commandIn(t, t.Context(), configNoon, env, "config", "print"); r.code != exitUsage {
		t.Errorf("a state store with a typo: exit %d\n%s", r.code, r.stdout)
	}
}

func TestLengthText(t *testing.T) {
	for text, d := range map[string]time.Duration{
		"15m": 15 * time.Minute, "1h": time.Hour, "1h30m": 90 * time.Minute, "36h": 36 * time.Hour, "90d": 90 * audit.Day, "2y": 730 * audit.Day, "366d": 366 * audit.Day,
		"30s": 30 * time.Second, "1h0m5s": time.Hour + 5*time.Second, "10m": 10 * time.Minute, "100h": 100 * time.Hour, "20h": 20 * time.Hour, "1m1s": 61 * time.Second,
	} {
		if got := lengthText(d); got != text {
			t.Errorf("%v is written %s, want %s", d, got, text)
		}
		if back, err := parseDuration(text); err != nil || back != d {
			t.Errorf("%s is read as %v (%v)", text, back, err)
		}
	}
	for _, text := range []string{"292y", "106751d"} {
		if d, err := parseDuration(text); err != nil || d <= 0 {
			t.Errorf("%s: %v, %v", text, d, err)
		}
	}
	for _, text := range []string{"293y", "106752d", "99999999999999999999d", "1.5d", "d", "-1d", "+1d", "1 d", ""} {
		if d, err := parseDuration(text); err == nil {
			t.Errorf("%s is read as %v", text, d)
		}
	}
}

// No file, however odd, is more than a list of mistakes.
func FuzzConfig(f *testing.F) {
	for _, c := range configMistakes {
		f.Add([]byte(c.body))
	}
	for _, c := range notifyMistakes {
		f.Add([]byte(c.body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		c, wrong := parseConfig(body, configNoon)
		if len(wrong) > 0 {
			return
		}
		for i := range c.stores {
			if p := c.policy(i, true); p.Interval <= 0 || p.HorizonCritical > p.HorizonWarning {
				t.Errorf("%+v", p)
			}
		}
	})
}
