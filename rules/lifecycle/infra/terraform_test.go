package infra

import (
	"fmt"
	"strings"
	"testing"

	"backstop/rules/lifecycle"
)

// planOf is a plan with one change of a resource.
func planOf(kind, actions, after, unknowns string) string {
	return fmt.Sprintf(`{"format_version":"1.2","resource_changes":[{"address":"%[1]s.b","type":"%[1]s","name":"b","mode":"managed",
		"change":{"actions":[%[2]s],"before":null,"after":%[3]s,"after_unknown":%[4]s}}]}`, kind, actions, after, unknowns)
}

// The rules of aws_s3_bucket_lifecycle_configuration, as versions 4 to 6 of the
// provider print them.
func TestTerraformRules(t *testing.T) {
	for name, c := range map[string]struct{ rule, want string }{
		"no filter is the whole bucket":        {`"filter":[]`, "r | Enabled | filter{} | expire 5"},
		"neither is null":                      {`"filter":null`, "r | Enabled | filter{} | expire 5"},
		"an empty filter block":                {`"filter":[{}]`, "r | Enabled | filter{prefix=} | expire 5"},
		"a block that is null":                 {`"filter":[null]`, "r | Enabled | filter{prefix=} | expire 5"},
		"an empty prefix":                      {`"filter":[{"prefix":""}]`, "r | Enabled | filter{prefix=} | expire 5"},
		"a prefix":                             {`"filter":[{"prefix":"x/","and":[],"tag":[],"object_size_greater_than":null}]`, "r | Enabled | filter{prefix=x/} | expire 5"},
		"a prefix of the rule's own":           {`"prefix":"x/","filter":[]`, "r | Enabled | own prefix x/ | expire 5"},
		"an empty one is none":                 {`"prefix":"","filter":[{"prefix":"y"}]`, "r | Enabled | filter{prefix=y} | expire 5"},
		"both":                                 {`"prefix":"x","filter":[{"prefix":"y"}]`, "r | Enabled | own prefix x | filter{prefix=y} | expire 5"},
		"a tag":                                {`"filter":[{"prefix":null,"tag":[{"key":"k","value":"v"}]}]`, "r | Enabled | filter{k=v} | expire 5"},
		"a tag beside an empty prefix (v4)":    {`"filter":[{"prefix":"","tag":[{"key":"k","value":"v"}]}]`, "r | Enabled | filter{k=v} | expire 5"},
		"sizes as texts (v4, v5)":              {`"filter":[{"object_size_greater_than":"500","object_size_less_than":""}]`, "r | Enabled | filter{>500} | expire 5"},
		"a size of 0 is one":                   {`"filter":[{"object_size_greater_than":0}]`, "r | Enabled | filter{>0} | expire 5"},
		"a smaller size of 0 is none":          {`"filter":[{"prefix":"x","object_size_less_than":0}]`, "r | Enabled | filter{prefix=x} | expire 5"},
		"and":                                  {`"filter":[{"and":[{"prefix":"x","tags":{"a":"1","b":"2"},"object_size_greater_than":1024,"object_size_less_than":0}]}]`, "r | Enabled | and{prefix=x a=1 b=2 >1024} | expire 5"},
		"and with a size that v6 fills in":     {`"filter":[{"and":[{"prefix":"x","object_size_greater_than":0,"tags":{"a":"1"}}]}]`, "r | Enabled | and{prefix=x a=1 >0} | expire 5"},
		"and with a size that v5 prints":       {`"filter":[{"object_size_greater_than":"","and":[{"prefix":"x","object_size_greater_than":0,"tags":{"a":"1"}}]}]`, "r | Enabled | and{prefix=x a=1} | expire 5"},
		"and with null tags":                   {`"filter":[{"and":[{"prefix":"x","tags":null,"object_size_greater_than":1}]}]`, "r | Enabled | and{prefix=x >1} | expire 5"},
		"the flag beside days is a default":    {`"filter":[],"expiration":[{"days":30,"date":null,"expired_object_delete_marker":false}]`, "r | Enabled | filter{} | expire 30"},
		"days of 0 are none":                   {`"filter":[],"expiration":[{"days":0,"date":"","expired_object_delete_marker":true}]`, "r | Enabled | filter{} | expire marker=true"},
		"an empty expiration does nothing":     {`"filter":[],"expiration":[{}]`, "r | Enabled | filter{} | expire marker=false"},
		"a date":                               {`"filter":[],"expiration":[{"days":0,"date":"2030-01-02T00:00:00Z"}]`, "r | Enabled | filter{} | expire 2030-01-02"},
		"a transition of 0 days is one":        {`"filter":[],"expiration":[],"transition":[{"days":0,"date":"","storage_class":"GLACIER"}]`, "r | Enabled | filter{} | GLACIER 0"},
		"a transition without days is of 0":    {`"filter":[],"expiration":[],"transition":[{"storage_class":"GLACIER"}]`, "r | Enabled | filter{} | GLACIER 0"},
		"a transition's date wins":             {`"filter":[],"expiration":[],"transition":[{"days":0,"date":"2030-01-02T00:00:00Z","storage_class":"GLACIER"}]`, "r | Enabled | filter{} | GLACIER 2030-01-02"},
		"old versions":                         {`"filter":[],"expiration":[],"noncurrent_version_expiration":[{"noncurrent_days":14,"newer_noncurrent_versions":3}]`, "r | Enabled | filter{} | old 14 keep 3"},
		"a number that is a text (v4, v5)":     {`"filter":[],"expiration":[],"noncurrent_version_expiration":[{"noncurrent_days":14,"newer_noncurrent_versions":"3"}]`, "r | Enabled | filter{} | old 14 keep 3"},
		"an empty text, and 0, are none":       {`"filter":[],"expiration":[],"noncurrent_version_expiration":[{"noncurrent_days":0,"newer_noncurrent_versions":""}]`, "r | Enabled | filter{} | old ? keep ?"},
		"old versions change class after 0":    {`"filter":[],"expiration":[],"noncurrent_version_transition":[{"noncurrent_days":0,"storage_class":"GLACIER","newer_noncurrent_versions":0}]`, "r | Enabled | filter{} | old GLACIER 0 keep ?"},
		"unfinished uploads":                   {`"filter":[],"expiration":[],"abort_incomplete_multipart_upload":[{"days_after_initiation":7}]`, "r | Enabled | filter{} | abort 7"},
		"a number that JSON writes otherwise":  {`"filter":[],"expiration":[{"days":3e1}]`, "r | Enabled | filter{} | expire 30"},
		"a disabled rule":                      {`"status":"Disabled","filter":[]`, "r | Disabled | filter{} | expire 5"},
		"a status that S3 does not take stays": {`"status":"enabled","filter":[]`, "r | enabled | filter{} | expire 5"},
	} {
		t.Run(name, func(t *testing.T) {
			rule := `{"id":"r","expiration":[{"days":5}],"status":"Enabled",` + c.rule + `}`
			if strings.Contains(c.rule, `"expiration"`) {
				rule = `{"id":"r","status":"Enabled",` + c.rule + `}`
			}
			if strings.Contains(c.rule, `"status"`) {
				rule = `{"id":"r","expiration":[{"days":5}],` + c.rule + `}`
			}
			p := only(t, mustRead(t, planOf("aws_s3_bucket_lifecycle_configuration", `"create"`, `{"bucket":"b","rule":[`+rule+`]}`, `{}`), Options{}))
			same2(t, "rules", words(p.Readings[0].Configuration), []string{c.want})
			if len(p.Faults)+len(p.Unknown) > 0 {
				t.Errorf("faults %q, unknown %q", p.Faults, p.Unknown)
			}
		})
	}
}

// What is known only after apply is read in the worst way that S3 takes.
func TestTerraformUnknown(t *testing.T) {
	const known = `{"id":"r","status":"Enabled","prefix":"","filter":[{"prefix":"logs/"}],"expiration":[{"days":30}],"transition":[{"days":1,"storage_class":"GLACIER"}],"noncurrent_version_expiration":[{"noncurrent_days":9,"newer_noncurrent_versions":2}]}`
	const base = "r | Enabled | filter{prefix=logs/} | expire 30 | GLACIER 1 | old 9 keep 2"
	for name, c := range map[string]struct {
		unknowns, want string
		paths          []string
		kind           DoubtKind
	}{
		"nothing":                   {`{"id":true,"rule":[{"filter":[{"and":[],"tag":[]}],"expiration":[{}]}]}`, base, nil, 0},
		"the bucket":                {`{"bucket":true}`, base, nil, 0},
		"a rule's id":               {`{"rule":[{"id":true}]}`, "rule 1 | Enabled | filter{prefix=logs/} | expire 30 | GLACIER 1 | old 9 keep 2", nil, 0},
		"all rules":                 {`{"rule":true}`, "rule 1 | Enabled | filter{} | expire 1 | old 1 keep ?", []string{"rule"}, Scope},
		"one rule":                  {`{"rule":[true]}`, "rule 1 | Enabled | filter{} | expire 1 | old 1 keep ?", []string{"rule[0]"}, Scope},
		"a second rule":             {`{"rule":[{},true]}`, base + "; rule 2 | Enabled | filter{} | expire 1 | old 1 keep ?", []string{"rule[1]"}, Scope},
		"the status":                {`{"rule":[{"status":true}]}`, base, []string{"rule[0].status"}, Scope},
		"the filter":                {`{"rule":[{"filter":true}]}`, "r | Enabled | filter{} | expire 30 | GLACIER 1 | old 9 keep 2", []string{"rule[0].filter"}, Scope},
		"its prefix":                {`{"rule":[{"filter":[{"prefix":true}]}]}`, "r | Enabled | filter{} | expire 30 | GLACIER 1 | old 9 keep 2", []string{"rule[0].filter[0].prefix"}, Scope},
		"its tag":                   {`{"rule":[{"filter":[{"tag":true}]}]}`, base, []string{"rule[0].filter[0].tag"}, Scope},
		"its size":                  {`{"rule":[{"filter":[{"object_size_greater_than":true}]}]}`, "r | Enabled | filter{prefix=logs/ >0} | expire 30 | GLACIER 1 | old 9 keep 2", []string{"rule[0].filter[0].object_size_greater_than"}, Scope},
		"its and":                   {`{"rule":[{"filter":[{"and":true}]}]}`, "r | Enabled | and{} | expire 30 | GLACIER 1 | old 9 keep 2", []string{"rule[0].filter[0].and"}, Scope},
		"the rule's own prefix":     {`{"rule":[{"prefix":true}]}`, base, []string{"rule[0].prefix"}, Scope},
		"the days":                  {`{"rule":[{"expiration":[{"days":true}]}]}`, "r | Enabled | filter{prefix=logs/} | expire 1 | GLACIER 1 | old 9 keep 2", []string{"rule[0].expiration[0].days"}, Timing},
		"the date":                  {`{"rule":[{"expiration":[{"date":true}]}]}`, "r | Enabled | filter{prefix=logs/} | expire 30 1970-01-01 | GLACIER 1 | old 9 keep 2", []string{"rule[0].expiration[0].date"}, Timing},
		"the flag beside days":      {`{"rule":[{"expiration":[{"expired_object_delete_marker":true}]}]}`, base, nil, 0},
		"the expiration":            {`{"rule":[{"expiration":true}]}`, "r | Enabled | filter{prefix=logs/} | expire 1 | GLACIER 1 | old 9 keep 2", []string{"rule[0].expiration"}, Scope},
		"the class":                 {`{"rule":[{"transition":[{"storage_class":true}]}]}`, "r | Enabled | filter{prefix=logs/} | expire 30 | DEEP_ARCHIVE 1 | old 9 keep 2", []string{"rule[0].transition[0].storage_class"}, Scope},
		"the transition's days":     {`{"rule":[{"transition":[{"days":true}]}]}`, "r | Enabled | filter{prefix=logs/} | expire 30 | GLACIER 0 | old 9 keep 2", []string{"rule[0].transition[0].days"}, Timing},
		"all transitions":           {`{"rule":[{"transition":true}]}`, "r | Enabled | filter{prefix=logs/} | expire 30 | DEEP_ARCHIVE 0 | old 9 keep 2", []string{"rule[0].transition"}, Scope},
		"days of old versions":      {`{"rule":[{"noncurrent_version_expiration":[{"noncurrent_days":true}]}]}`, "r | Enabled | filter{prefix=logs/} | expire 30 | GLACIER 1 | old 1 keep 2", []string{"rule[0].noncurrent_version_expiration[0].noncurrent_days"}, Timing},
		"how many are retained":     {`{"rule":[{"noncurrent_version_expiration":[{"newer_noncurrent_versions":true}]}]}`, "r | Enabled | filter{prefix=logs/} | expire 30 | GLACIER 1 | old 9 keep ?", []string{"rule[0].noncurrent_version_expiration[0].newer_noncurrent_versions"}, Timing},
		"what becomes of old ones":  {`{"rule":[{"noncurrent_version_expiration":true}]}`, "r | Enabled | filter{prefix=logs/} | expire 30 | GLACIER 1 | old 1 keep ?", []string{"rule[0].noncurrent_version_expiration"}, Scope},
		"when uploads are given up": {`{"rule":[{"abort_incomplete_multipart_upload":true}]}`, base + " | abort 1", nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			p := only(t, mustRead(t, planOf("aws_s3_bucket_lifecycle_configuration", `"update"`, `{"bucket":"b","rule":[`+known+`]}`, c.unknowns), Options{}))
			same2(t, "rules", words(p.Readings[0].Configuration), strings.Split(c.want, "; "))
			same2(t, "unknown", p.Unknown, c.paths)
			for _, d := range p.Readings[0].Doubts {
				if d.Kind != c.kind || d.ReadAs == "" {
					t.Errorf("doubt %+v, want the kind %d", d, c.kind)
				}
			}
			if _, whole := p.Whole(); whole != (len(c.paths) == 0) {
				t.Errorf("whole %v with unknown %q", whole, p.Unknown)
			}
		})
	}
}

// The inline rules of aws_s3_bucket (provider up to 3, deprecated since).
func TestTerraformInlineRules(t *testing.T) {
	for name, c := range map[string]struct {
		rule, unknowns, want string
		paths                []string
	}{
		"all":                        {`{"id":"old","enabled":true,"prefix":"main/","tags":{"tier":"cold"},"abort_incomplete_multipart_upload_days":0,"expiration":[{"days":90,"date":"","expired_object_delete_marker":false}],"transition":[{"days":30,"date":"","storage_class":"STANDARD_IA"}],"noncurrent_version_expiration":[{"days":14}],"noncurrent_version_transition":[{"days":0,"storage_class":"GLACIER"}]}`, `{}`, "old | Enabled | and{prefix=main/ tier=cold} | expire 90 | STANDARD_IA 30 | old 14 keep ? | old GLACIER 0 keep ?", nil},
		"tags without a prefix":      {`{"id":"a","enabled":true,"tags":{"k":"v"},"expiration":[{"days":1}]}`, `{}`, "a | Enabled | and{prefix= k=v} | expire 1", nil},
		"no condition":               {`{"id":"a","enabled":false,"prefix":null,"tags":null,"expiration":[{"days":1}]}`, `{}`, "a | Disabled | filter{prefix=} | expire 1", nil},
		"the date wins":              {`{"id":"a","enabled":true,"expiration":[{"days":9,"date":"2030-01-02"}]}`, `{}`, "a | Enabled | filter{prefix=} | expire 2030-01-02", nil},
		"no action does nothing":     {`{"id":"a","enabled":true,"expiration":[],"abort_incomplete_multipart_upload_days":0}`, `{}`, "a | Enabled | filter{prefix=} | expire marker=false", nil},
		"uploads":                    {`{"id":"a","enabled":true,"abort_incomplete_multipart_upload_days":7}`, `{}`, "a | Enabled | filter{prefix=} | abort 7", nil},
		"whether it is on, unknown":  {`{"id":"a","prefix":"x","expiration":[{"days":1}]}`, `{"lifecycle_rule":[{"enabled":true}]}`, "a | Enabled | filter{prefix=x} | expire 1", []string{"lifecycle_rule[0].enabled"}},
		"its prefix, unknown":        {`{"id":"a","enabled":true,"expiration":[{"days":1}]}`, `{"lifecycle_rule":[{"prefix":true}]}`, "a | Enabled | filter{prefix=} | expire 1", []string{"lifecycle_rule[0].prefix"}},
		"its days, unknown":          {`{"id":"a","enabled":true,"expiration":[{}]}`, `{"lifecycle_rule":[{"expiration":[{"days":true}]}]}`, "a | Enabled | filter{prefix=} | expire 1", []string{"lifecycle_rule[0].expiration[0].days"}},
		"its id, which AWS makes up": {`{"enabled":true,"expiration":[{"days":1}]}`, `{"lifecycle_rule":[{"id":true}]}`, "rule 1 | Enabled | filter{prefix=} | expire 1", nil},
	} {
		t.Run(name, func(t *testing.T) {
			p := only(t, mustRead(t, planOf("aws_s3_bucket", `"update"`, `{"bucket":"b","lifecycle_rule":[`+c.rule+`]}`, c.unknowns), Options{}))
			same2(t, "rules", words(p.Readings[0].Configuration), []string{c.want})
			same2(t, "unknown", p.Unknown, c.paths)
		})
	}
}

// Since version 4 lifecycle_rule is computed where the code does not have it: it
// is managed elsewhere, and no word of this plan's.
func TestTerraformComputedRulesAreNone(t *testing.T) {
	d := mustRead(t, planOf("aws_s3_bucket", `"create"`, `{"bucket":"b"}`, `{"lifecycle_rule":true}`), Options{})
	if len(d.Proposals) != 0 {
		t.Errorf("proposals %+v", d.Proposals)
	}
	// A mirror of what another resource says is dropped, unless the code has it.
	mirror := `{"format_version":"1.2","resource_changes":[
		{"address":"aws_s3_bucket.b","type":"aws_s3_bucket","name":"b","change":{"actions":["no-op"],"before":{"bucket":"b","lifecycle_rule":[{"id":"x","enabled":true}]},"after":{"bucket":"b","lifecycle_rule":[{"id":"x","enabled":true}]},"after_unknown":{}}},
		{"address":"aws_s3_bucket_lifecycle_configuration.b","type":"aws_s3_bucket_lifecycle_configuration","name":"b","change":{"actions":["no-op"],"before":{"bucket":"b","rule":[]},"after":{"bucket":"b","rule":[{"id":"x","status":"Enabled"}]},"after_unknown":{}}}]%s}`
	if d := mustRead(t, fmt.Sprintf(mirror, ""), Options{}); len(d.Proposals) != 1 || d.Proposals[0].Source != "aws_s3_bucket_lifecycle_configuration.b" {
		t.Errorf("proposals %+v", d.Proposals)
	}
	declared := `,"configuration":{"root_module":{"resources":[{"address":"aws_s3_bucket.b","expressions":{"lifecycle_rule":[{}]}},{"address":"aws_s3_bucket_lifecycle_configuration.b","expressions":{"bucket":{"references":["aws_s3_bucket.b.id","aws_s3_bucket.b"]}}}]}}`
	if d := mustRead(t, fmt.Sprintf(mirror, declared), Options{}); len(d.Proposals) != 2 {
		t.Errorf("both are in the code, and %d were read", len(d.Proposals))
	}
}

func TestTerraformSizeDefault(t *testing.T) {
	const rule = `"rule":[{"id":"r","status":"Enabled","filter":[]}]`
	for name, c := range map[string]struct {
		actions, after, unknowns, want string
		implied                        bool
	}{
		"said":                               {`"update"`, `{"bucket":"b","transition_default_minimum_object_size":"varies_by_storage_class",` + rule + `}`, `{}`, lifecycle.VariesByClass, false},
		"not said, and written":              {`"create"`, `{"bucket":"b",` + rule + `}`, `{}`, lifecycle.AllClasses128K, true},
		"empty, and written":                 {`"update"`, `{"bucket":"b","transition_default_minimum_object_size":"",` + rule + `}`, `{}`, lifecycle.AllClasses128K, true},
		"not said, and nothing is written":   {`"no-op"`, `{"bucket":"b",` + rule + `}`, `{}`, "", false},
		"known only after apply":             {`"update"`, `{"bucket":"b",` + rule + `}`, `{"transition_default_minimum_object_size":true}`, "", false},
		"replaced, which writes it all anew": {`"delete","create"`, `{"bucket":"b",` + rule + `}`, `{}`, lifecycle.AllClasses128K, true},
	} {
		p := only(t, mustRead(t, planOf("aws_s3_bucket_lifecycle_configuration", c.actions, c.after, c.unknowns), Options{}))
		if got := p.Readings[0].DefaultMinimumSize; got != c.want || p.Implied != c.implied {
			t.Errorf("%s: %q, implied %v", name, got, p.Implied)
		}
	}
}

func TestTerraformChanges(t *testing.T) {
	for actions, want := range map[string]Change{
		`"create"`: Creates, `"update"`: Updates, `"delete"`: Deletes, `"no-op"`: Unchanged, `"read"`: Unchanged, `"forget"`: Forgets,
		`"delete","create"`: Replaces, `"create","delete"`: Replaces, `"create","forget"`: Replaces, `"something new"`: Updates, ``: Updates,
	} {
		plan := strings.Replace(planOf("aws_s3_object", actions, `{"bucket":"b","key":"k"}`, `{}`), `"before":null`, `"before":{"bucket":"b","key":"k"}`, 1)
		d := mustRead(t, plan, Options{})
		if len(d.Objects) != 1 || d.Objects[0].Change != want {
			t.Errorf("%s: %+v, want %s", actions, d.Objects, want)
		}
	}
	// A deleted configuration takes all rules away.
	p := only(t, mustRead(t, `{"format_version":"1.2","resource_changes":[{"address":"a","type":"aws_s3_bucket_lifecycle_configuration","name":"b",
		"change":{"actions":["delete"],"before":{"bucket":"b","rule":[{"id":"x","status":"Enabled","filter":[],"expiration":[{"days":3}]}]},"after":null}}]}`, Options{}))
	if p.Change != Deletes || p.Bucket.Name != "b" || len(p.Readings[0].Rules) != 0 || p.Before == nil || len(p.Before.Rules) != 1 {
		t.Errorf("%+v", p)
	}
}

// Objects: where they were and will be, and their contents where the plan has
// them.
func TestTerraformObjects(t *testing.T) {
	change := func(before, after, unknowns string) string {
		return fmt.Sprintf(`{"format_version":"1.2","resource_changes":[{"address":"aws_s3_object.o","type":"aws_s3_object","name":"o","change":{"actions":["update"],"before":%s,"after":%s,"after_unknown":%s}}]}`, before, after, unknowns)
	}
	o := mustRead(t, change(`{"bucket":"b","key":"k","content":"old"}`, `{"bucket":"b","key":"k2","content_base64":"bmV3"}`, `{}`), Options{}).Objects[0]
	if o.Was.Key != "k" || o.At.Key != "k2" || o.At.Bucket.Name != "b" || *o.Before != "old" || *o.Content != "new" {
		t.Errorf("%+v", o)
	}
	o = mustRead(t, change(`null`, `{"bucket":"b"}`, `{"key":true,"content":true}`), Options{}).Objects[0]
	if !o.At.KeyUnknown || o.Content != nil {
		t.Errorf("%+v", o)
	}
	o = mustRead(t, change(`null`, `{"key":"k"}`, `{"bucket":true}`), Options{}).Objects[0]
	if o.At.Bucket.Name != "" || !o.At.Bucket.Named {
		t.Errorf("%+v", o)
	}
	// What looks at an object does nothing to it.
	if d := mustRead(t, `{"format_version":"1.2","resource_changes":[{"address":"data.aws_s3_object.o","mode":"data","type":"aws_s3_object","change":{"actions":["read"],"after":{"bucket":"b","key":"k"}}}]}`, Options{}); len(d.Objects) != 0 {
		t.Errorf("data source: %+v", d.Objects)
	}
}

// Parts that are missing are told.
func TestTerraformGaps(t *testing.T) {
	d := mustRead(t, `{"format_version":"1.2","errored":true,"complete":false,"resource_changes":[],
		"deferred_changes":[{"reason":"provider_config_unknown","resource_change":{"address":"aws_s3_object.x","type":"aws_s3_object"}},{"reason":"x","resource_change":{"type":"aws_instance"}}]}`, Options{})
	if len(d.Gaps) != 2 || len(d.Notes) != 1 {
		t.Errorf("gaps %+v, notes %q", d.Gaps, d.Notes)
	}
	d = mustRead(t, `{"format_version":"1.2","resource_changes":[{"address":"a","type":"aws_s3_object","change":{"actions":["update"],"actions":["no-op"]}}]}`, Options{})
	if len(d.Gaps) != 1 {
		t.Errorf("a member that is there twice: gaps %+v", d.Gaps)
	}
	d = mustRead(t, `{"format_version":"1.2","resource_changes":[{"address":"a","type":"aws_s3_object"},{"address":"b","type":"aws_s3_bucket","change":null}]}`, Options{})
	if len(d.Gaps) != 2 {
		t.Errorf("changes that are not told: gaps %+v", d.Gaps)
	}
	for _, bad := range []string{`{"format_version":"2.0","resource_changes":[]}`, `{"format_version":"1.2","planned_values":{}}`} {
		if _, err := Read([]byte(bad), Options{}); err == nil {
			t.Errorf("%s was read", bad)
		}
	}
}

// Resources of other providers that may concern a store are told, and the rest is
// passed over.
func TestTerraformStrangers(t *testing.T) {
	for name, c := range map[string]struct{ kind, actions, after, unknowns, want, bucket string }{
		"DigitalOcean's rules":      {"digitalocean_spaces_bucket", `"create"`, `{"name":"b","lifecycle_rule":[{"enabled":true}]}`, `{}`, "does not read the lifecycle rules", "b"},
		"Cloud Control's":           {"awscc_s3_bucket", `"no-op"`, `{"bucket_name":"b","lifecycle_configuration":{"rules":[]}}`, `{}`, "does not read the lifecycle rules", "b"},
		"not known":                 {"minio_ilm_policy", `"create"`, `{}`, `{"rule":true,"bucket":true}`, "does not read the lifecycle rules", ""},
		"a bucket without rules":    {"scaleway_object_bucket", `"create"`, `{"name":"b","lifecycle_rule":[]}`, `{}`, "", ""},
		"Google's bucket":           {"google_storage_bucket", `"create"`, `{"name":"b","lifecycle_rule":[{}]}`, `{}`, "", ""},
		"a spec on Google":          {"google_storage_bucket_object", `"create"`, `{"bucket":"b","name":"c/backups/etcd/main/control/etcd-cluster-spec"}`, `{}`, "by the resource google_storage_bucket_object", ""},
		"the same, unchanged":       {"google_storage_bucket_object", `"no-op"`, `{"bucket":"b","name":"c/control/etcd-cluster-spec"}`, `{}`, "", ""},
		"another object":            {"digitalocean_spaces_bucket_object", `"create"`, `{"bucket":"b","key":"c/addons"}`, `{}`, "", ""},
		"something else altogether": {"aws_instance", `"create"`, `{"key":"x"}`, `{"id":true}`, "", ""},
	} {
		d := mustRead(t, planOf(c.kind, c.actions, c.after, c.unknowns), Options{})
		if c.want == "" {
			if len(d.Gaps) != 0 {
				t.Errorf("%s: %+v", name, d.Gaps)
			}
			continue
		}
		if len(d.Gaps) != 1 || !strings.Contains(d.Gaps[0].Why, c.want) || d.Gaps[0].Bucket != c.bucket || d.Gaps[0].Source == "" {
			t.Errorf("%s: %+v", name, d.Gaps)
		}
	}
	gone := strings.Replace(planOf("digitalocean_spaces_bucket_object", `"delete"`, `null`, `{}`), `"before":null`, `"before":{"bucket":"b","key":"control/etcd-cluster-created"}`, 1)
	if d := mustRead(t, gone, Options{}); len(d.Gaps) != 1 {
		t.Errorf("a control file that goes: %+v", d.Gaps)
	}
}

// planned_values alone leaves out what is not known.
func TestTerraformPlannedValues(t *testing.T) {
	p := only(t, mustRead(t, `{"format_version":"1.2","planned_values":{"root_module":{"child_modules":[{"address":"module.m","resources":[
		{"address":"module.m.aws_s3_bucket_lifecycle_configuration.b","mode":"managed","type":"aws_s3_bucket_lifecycle_configuration","name":"b","schema_version":0,
		 "values":{"bucket":"b","rule":[{"id":"r","filter":[{"and":[{"prefix":"x","object_size_greater_than":0}]}],"expiration":[{"days":3}]}]}}]}]}}}`, Options{}))
	same2(t, "rules", words(p.Readings[0].Configuration), []string{"r | Enabled | and{prefix=x} | expire 3"})
	same2(t, "unknown", p.Unknown, []string{"rule[0].status"})
	if p.Change != Proposes || p.Source != "module.m.aws_s3_bucket_lifecycle_configuration.b" {
		t.Errorf("%+v", p)
	}
}

// What is marked as sensitive is remembered, so that it is not shown.
func TestTerraformSecrets(t *testing.T) {
	d := mustRead(t, `{"format_version":"1.2","resource_changes":[{"address":"a","type":"aws_s3_bucket_lifecycle_configuration","name":"b","change":{"actions":["create"],
		"after":{"bucket":"hidden-bucket","rule":[{"id":"plain","status":"Enabled","filter":[{"prefix":"hidden-prefix"}]}]},"after_unknown":{},"after_sensitive":{"bucket":true,"rule":[{"filter":[{"prefix":true}]}]}}}]}`, Options{})
	same2(t, "secrets", d.Secrets, []string{"hidden-bucket", "hidden-prefix"})
}
