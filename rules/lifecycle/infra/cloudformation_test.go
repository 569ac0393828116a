package infra

import (
	"slices"
	"strings"
	"testing"

	"backstop/rules/lifecycle"
)

// bucketTemplate is a template with one bucket, in YAML, whose rules are given
// with an indent of ten.
func bucketTemplate(rules string) string {
	return "AWSTemplateFormatVersion: '2010-09-09'\nResources:\n  Store:\n    Type: AWS::S3::Bucket\n    Properties:\n      BucketName: acme\n" +
		"      LifecycleConfiguration:\n        Rules:\n" + rules
}

func TestCloudFormationRules(t *testing.T) {
	for name, c := range map[string]struct {
		rules  string
		want   []string
		faults []string
	}{
		"no condition": {`
          - {Id: a, Status: Enabled, ExpirationInDays: 5}`, []string{"a | Enabled | filter{} | expire 5"}, nil},
		"one condition": {`
          - {Id: a, Status: Enabled, Prefix: x/, ExpirationInDays: 5}
          - {Id: b, Status: Enabled, TagFilters: [{Key: k, Value: v}], ExpirationInDays: 5}
          - {Id: c, Status: Enabled, ObjectSizeLessThan: "500", ExpirationInDays: 5}`,
			[]string{"a | Enabled | filter{prefix=x/} | expire 5", "b | Enabled | filter{k=v} | expire 5", "c | Enabled | filter{<500} | expire 5"}, nil},
		"more": {`
          - {Id: a, Status: Enabled, Prefix: x/, TagFilters: [{Key: k, Value: v}, {Key: l, Value: w}], ObjectSizeGreaterThan: 0, ExpirationInDays: "5"}`,
			[]string{"a | Enabled | and{prefix=x/ k=v l=w >0} | expire 5"}, nil},
		"a date": {`
          - {Id: a, Status: Disabled, ExpirationDate: 2030-01-02}
          - {Id: b, Status: Disabled, ExpirationDate: "2030-01-02T00:00:00Z"}`,
			[]string{"a | Disabled | filter{} | expire 2030-01-02", "b | Disabled | filter{} | expire 2030-01-02"}, nil},
		"both spellings of transitions": {`
          - {Id: a, Status: Enabled, Transition: {StorageClass: Glacier, TransitionInDays: 0}}
          - {Id: b, Status: Enabled, Transitions: [{StorageClass: DEEP_ARCHIVE, TransitionDate: 2030-01-02}]}
          - {Id: c, Status: Enabled, NoncurrentVersionTransition: {StorageClass: GLACIER, TransitionInDays: 3}}
          - {Id: d, Status: Enabled, NoncurrentVersionTransitions: [{StorageClass: GLACIER, TransitionInDays: 3, NewerNoncurrentVersions: 2}]}`,
			[]string{"a | Enabled | filter{} | GLACIER 0", "b | Enabled | filter{} | DEEP_ARCHIVE 2030-01-02", "c | Enabled | filter{} | old GLACIER 3 keep ?", "d | Enabled | filter{} | old GLACIER 3 keep 2"}, nil},
		"both spellings of old versions": {`
          - {Id: a, Status: Enabled, NoncurrentVersionExpirationInDays: 30}
          - {Id: b, Status: Enabled, NoncurrentVersionExpiration: {NoncurrentDays: 30, NewerNoncurrentVersions: 2}}`,
			[]string{"a | Enabled | filter{} | old 30 keep ?", "b | Enabled | filter{} | old 30 keep 2"}, nil},
		"both at once": {`
          - Id: a
            Status: Enabled
            NoncurrentVersionExpirationInDays: 30
            NoncurrentVersionExpiration: {NoncurrentDays: 20}
            Transition: {StorageClass: GLACIER, TransitionInDays: 1}
            Transitions: [{StorageClass: GLACIER, TransitionInDays: 2}]`,
			[]string{"a | Enabled | filter{} | GLACIER 1 | GLACIER 2 | old 20 keep ?"},
			[]string{"Rules[0].Transitions: Transition is there too; they are two spellings of one thing", "Rules[0].NoncurrentVersionExpiration: NoncurrentVersionExpirationInDays is there too; they are two spellings of one thing"}},
		"markers and uploads": {`
          - {Id: a, Status: Enabled, ExpiredObjectDeleteMarker: true, AbortIncompleteMultipartUpload: {DaysAfterInitiation: 7}}`,
			[]string{"a | Enabled | filter{} | expire marker=true | abort 7"}, nil},
		"what does not go together stays, for S3 to refuse": {`
          - {Id: a, Status: Enabled, ExpiredObjectDeleteMarker: false, ExpirationInDays: 0}`,
			[]string{"a | Enabled | filter{} | expire 0 marker=false"}, nil},
		"mistakes": {`
          - {Id: a, Status: Enabled, Filter: {Prefix: x}, ExpirationInDays: soon}
          - {Id: b, Status: Enabled, Status: Disabled, Prefix: x, ExpirationDate: tomorrow}`,
			[]string{"a | Enabled | filter{} | expire", "b | Enabled | filter{prefix=x} | expire"},
			[]string{`Rules[0].ExpirationInDays: "soon" is not a whole number`, "Rules[0].Filter: there is no such property", `Rules[1].ExpirationDate: "tomorrow" is not a date`, "Rules[1].Status: it is there twice"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := only(t, mustRead(t, bucketTemplate(strings.TrimPrefix(c.rules, "\n")), Options{}))
			same2(t, "rules", words(p.Readings[0].Configuration), c.want)
			same2(t, "faults", p.Faults, c.faults)
			if p.Bucket.Name != "acme" || p.Source != "Store" || p.Line != 4 || p.Readings[0].Lines[0] != 9 || len(p.Unknown) > 0 {
				t.Errorf("%+v", p)
			}
		})
	}
}

// Functions are evaluated as far as that can be done; what remains is unknown.
func TestCloudFormationFunctions(t *testing.T) {
	head := `
Parameters:
  Days: {Type: Number, Default: 45}
  Env: {Type: String}
Mappings:
  Keep: {prod: {days: 400}}
Conditions:
  Prod: !Equals [!Ref Env, prod]
  Dev: !Not [!Condition Prod]
  Never: !Equals [a, b]
`
	for name, c := range map[string]struct {
		rule    string
		o       Options
		want    []string // a line for each reading
		unknown []string
	}{
		"a parameter without a value":      {`{Id: a, Status: Enabled, ExpirationInDays: !Ref Days}`, Options{}, []string{"a | Enabled | filter{} | expire 1"}, []string{"Rules[0].ExpirationInDays"}},
		"its default, if asked":            {`{Id: a, Status: Enabled, ExpirationInDays: !Ref Days}`, Options{Defaults: true}, []string{"a | Enabled | filter{} | expire 45"}, nil},
		"its value":                        {`{Id: a, Status: Enabled, ExpirationInDays: {Ref: Days}}`, Options{Defaults: true, Parameters: map[string]string{"Days": "7"}}, []string{"a | Enabled | filter{} | expire 7"}, nil},
		"a map":                            {`{Id: a, Status: Enabled, ExpirationInDays: !FindInMap [Keep, !Ref Env, days]}`, Options{Parameters: map[string]string{"Env": "prod"}}, []string{"a | Enabled | filter{} | expire 400"}, nil},
		"a map without the key":            {`{Id: a, Status: Enabled, ExpirationInDays: !FindInMap [Keep, dev, days]}`, Options{}, []string{"a | Enabled | filter{} | expire 1"}, []string{"Rules[0].ExpirationInDays"}},
		"text":                             {`{Id: a, Status: Enabled, Prefix: !Sub "${Env}/${!x}/", ExpirationInDays: 5}`, Options{Parameters: map[string]string{"Env": "prod"}}, []string{"a | Enabled | filter{prefix=prod/${x}/} | expire 5"}, nil},
		"text with a variable of its own":  {`{Id: a, Status: Enabled, Prefix: !Sub ["${E}/", {E: !Ref Env}], ExpirationInDays: 5}`, Options{Parameters: map[string]string{"Env": "prod"}}, []string{"a | Enabled | filter{prefix=prod/} | expire 5"}, nil},
		"text that is not known":           {`{Id: a, Status: Enabled, Prefix: !Sub "${AWS::StackName}/", ExpirationInDays: 5}`, Options{}, []string{"a | Enabled | filter{} | expire 5"}, []string{"Rules[0].Prefix"}},
		"a join":                           {`{Id: a, Status: Enabled, Prefix: !Join ["/", [a, !Ref Env]], ExpirationInDays: 5}`, Options{Parameters: map[string]string{"Env": "prod"}}, []string{"a | Enabled | filter{prefix=a/prod} | expire 5"}, nil},
		"a choice":                         {`{Id: a, Status: Enabled, Prefix: !Select [1, [x, y]], ExpirationInDays: 5}`, Options{}, []string{"a | Enabled | filter{prefix=y} | expire 5"}, nil},
		"a condition that is known":        {`{Id: a, Status: !If [Prod, Disabled, Enabled], ExpirationInDays: 5}`, Options{Parameters: map[string]string{"Env": "prod"}}, []string{"a | Disabled | filter{} | expire 5"}, nil},
		"one that rests on another":        {`{Id: a, Status: !If [Dev, Disabled, Enabled], ExpirationInDays: 5}`, Options{Parameters: map[string]string{"Env": "prod"}}, []string{"a | Enabled | filter{} | expire 5"}, nil},
		"one that is constant":             {`{Id: a, Status: !If [Never, Enabled, Disabled], ExpirationInDays: 5}`, Options{}, []string{"a | Disabled | filter{} | expire 5"}, nil},
		"a condition both ways":            {`{Id: a, Status: !If [Prod, Disabled, Enabled], ExpirationInDays: !If [Dev, 7, 90]}`, Options{}, []string{"a | Enabled | filter{} | expire 7", "a | Disabled | filter{} | expire 90"}, []string{"Rules[0].ExpirationInDays", "Rules[0].Status"}},
		"a property that goes":             {`{Id: a, Status: Enabled, Prefix: !If [Prod, x/, !Ref AWS::NoValue], ExpirationInDays: 5}`, Options{}, []string{"a | Enabled | filter{} | expire 5", "a | Enabled | filter{prefix=x/} | expire 5"}, []string{"Rules[0].Prefix"}},
		"a rule that goes":                 {`!If [Prod, {Id: a, Status: Enabled, ExpirationInDays: 5}, !Ref AWS::NoValue]`, Options{}, []string{"", "a | Enabled | filter{} | expire 5"}, []string{"Rules[0]"}},
		"an unknown condition of no name":  {`{Id: a, Status: !If [Elsewhere, Disabled, Enabled], ExpirationInDays: 5}`, Options{}, []string{"a | Enabled | filter{} | expire 5", "a | Disabled | filter{} | expire 5"}, []string{"Rules[0].Status"}},
		"an attribute of another resource": {`{Id: a, Status: Enabled, Prefix: !GetAtt Other.Name, ExpirationInDays: 5}`, Options{}, []string{"a | Enabled | filter{} | expire 5"}, []string{"Rules[0].Prefix"}},
		"a macro":                          {`{Fn::Transform: {Name: M}, Id: a}`, Options{}, []string{"rule 1 | Enabled | filter{} | expire 1 | old 1 keep ?"}, []string{"Rules[0]"}},
		"a class":                          {`{Id: a, Status: Enabled, Transitions: [{StorageClass: !Ref Class, TransitionInDays: 5}]}`, Options{}, []string{"a | Enabled | filter{} | DEEP_ARCHIVE 5"}, []string{"Rules[0].Transitions[0].StorageClass"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := only(t, mustRead(t, head+bucketTemplate("          - "+c.rule), c.o))
			var got []string
			for _, r := range p.Readings {
				got = append(got, strings.Join(words(r.Configuration), "; "))
			}
			same2(t, "readings", got, c.want)
			slices.Sort(p.Unknown)
			same2(t, "unknown", p.Unknown, c.unknown)
		})
	}
}

// Conditions that ask for each other in a circle, or too many of them, end.
func TestCloudFormationConditionsEnd(t *testing.T) {
	circle := "Conditions:\n  A: !Not [!Condition B]\n  B: !Not [!Condition A]\n" + bucketTemplate("          - {Id: a, Status: !If [A, Disabled, Enabled], ExpirationInDays: 5}")
	if p := only(t, mustRead(t, circle, Options{})); p.Readings[0].Rules[0].Status != "Enabled" {
		t.Errorf("%+v", p.Readings)
	}
	many := "          - {Id: a, Status: Enabled, ExpirationInDays: 5, TagFilters: [" + strings.Repeat("!If [C1, {Key: k, Value: v}, !Ref AWS::NoValue], ", 1)
	for _, c := range []string{"C2", "C3", "C4", "C5", "C6"} {
		many += "!If [" + c + ", {Key: k, Value: v}, !Ref AWS::NoValue], "
	}
	p := only(t, mustRead(t, bucketTemplate(many+"]}"), Options{}))
	if len(p.Readings) != 1 || len(p.Unknown) != 6 || words(p.Readings[0].Configuration)[0] != "a | Enabled | filter{} | expire 5" {
		t.Errorf("%d readings, unknown %q, %q", len(p.Readings), p.Unknown, words(p.Readings[0].Configuration))
	}
	var chain strings.Builder
	chain.WriteString("Conditions:\n")
	for i := range 60 {
		name := func(i int) string { return "D" + strings.Repeat("x", i) }
		chain.WriteString("  " + name(i) + ": !And [!Condition " + name(i+1) + ", !Condition " + name(i+1) + "]\n")
	}
	chain.WriteString(bucketTemplate("          - {Id: a, Status: !If [D, Disabled, Enabled], ExpirationInDays: 5}"))
	only(t, mustRead(t, chain.String(), Options{})) // 2^60 steps without a memory
}

func TestCloudFormationBuckets(t *testing.T) {
	for name, c := range map[string]struct {
		doc     string
		check   func(d Document) bool
		explain string
	}{
		"JSON, and a bucket that AWS names": {`{"Resources":{"B":{"Type":"AWS::S3::Bucket","Properties":{"LifecycleConfiguration":{"Rules":[{"Status":"Enabled","ExpirationInDays":3}]}}}}}`,
			func(d Document) bool {
				p := d.Proposals[0]
				return p.Bucket.Name == "" && p.Bucket.Named && !p.Bucket.New && p.Implied && p.Change == Proposes
			}, "named at deployment"},
		"a bucket without rules is none": {`{"Resources":{"B":{"Type":"AWS::S3::Bucket"},"C":{"Type":"AWS::S3::Bucket","Properties":{"BucketName":"x"}}}}`,
			func(d Document) bool { return len(d.Proposals) == 0 }, "no proposals"},
		"properties that are not known": {`{"Resources":{"B":{"Type":"AWS::S3::Bucket","Properties":{"Fn::If":["P",{},{}]}}}}`,
			func(d Document) bool { return len(d.Proposals) == 1 && len(d.Proposals[0].Unknown) > 0 }, "unknown"},
		"the configuration is a macro's": {`{"Resources":{"B":{"Type":"AWS::S3::Bucket","Properties":{"LifecycleConfiguration":{"Fn::Transform":{"Name":"M"}}}}}}`,
			func(d Document) bool { return d.Proposals[0].Unknown[0] == "LifecycleConfiguration" }, "unknown"},
		"all rules": {`{"Resources":{"B":{"Type":"AWS::S3::Bucket","Properties":{"LifecycleConfiguration":{"Rules":{"Fn::FindInMap":["a","b","c"]}}}}}}`,
			func(d Document) bool { return d.Proposals[0].Unknown[0] == "Rules" }, "unknown"},
		"a macro": {`{"Transform":["AWS::Serverless-2016-10-31","MyMacro"],"Resources":{"B":{"Type":"AWS::S3::Bucket"}}}`,
			func(d Document) bool { return len(d.Gaps) == 1 && strings.Contains(d.Gaps[0].Why, "MyMacro") }, "one gap"},
		"AWS's own transform": {`{"Transform":"AWS::Serverless-2016-10-31","Resources":{"B":{"Type":"AWS::S3::Bucket"}}}`,
			func(d Document) bool { return len(d.Gaps) == 0 }, "no gap"},
		"a loop": {`{"Resources":{"Fn::ForEach::Buckets":["N",["a"],{"B${N}":{"Type":"AWS::S3::Bucket"}}]}}`,
			func(d Document) bool { return len(d.Gaps) == 1 }, "one gap"},
		"a nested stack": {`{"Resources":{"S":{"Type":"AWS::CloudFormation::Stack"}}}`,
			func(d Document) bool { return len(d.Notes) == 1 && len(d.Gaps) == 0 }, "a note"},
		"a bucket that goes with its stack": {`{"Resources":{"B":{"Type":"AWS::S3::Bucket","Properties":{"BucketName":"x"}},"C":{"Type":"AWS::S3::Bucket","DeletionPolicy":"Retain","Properties":{"BucketName":"y"}}}}`,
			func(d Document) bool { return len(d.Notes) == 1 && strings.Contains(d.Notes[0], "bucket x") }, "a note"},
		"facts": {`{"Resources":{"B":{"Type":"AWS::S3::Bucket","Properties":{"ObjectLockEnabled":true,"VersioningConfiguration":{"Status":"Suspended"},
			"IntelligentTieringConfigurations":[{"Id":"i","Prefix":"p","Status":"Enabled","Tierings":[{"AccessTier":"ARCHIVE_ACCESS","Days":100}]}],
			"LifecycleConfiguration":{"TransitionDefaultMinimumObjectSize":"varies_by_storage_class","Rules":[]}}}}}`,
			func(d Document) bool {
				p := d.Proposals[0]
				return p.Facts.ObjectLock && p.Facts.Versioning == lifecycle.Suspended && p.Facts.Tiering[0].Tiers[0].Days == 100 && p.Readings[0].DefaultMinimumSize == lifecycle.VariesByClass && !p.Implied
			}, "facts"},
	} {
		t.Run(name, func(t *testing.T) {
			d := mustRead(t, c.doc, Options{})
			if d.Format != CloudFormation || !c.check(d) {
				t.Errorf("want %s: %+v", c.explain, d)
			}
		})
	}
}
