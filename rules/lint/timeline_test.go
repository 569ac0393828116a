package lint

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"backstop/audit"
	"backstop/rules/lifecycle"
	"backstop/rules/lifecycle/infra"
	"backstop/store/etcdmanager"
)

// asked notes what Judge asks to be foretold.
type asked []string

func (a *asked) foresee(st *Store, c *lifecycle.Configuration) audit.Fact[audit.Future] {
	rules := "its own"
	if c != nil {
		rules = fmt.Sprintf("%d rules %s", len(c.Rules), c.DefaultMinimumSize)
	}
	*a = append(*a, st.url()+" under "+rules)
	return audit.Is(audit.Future{})
}

// Timelines are told of the stores that a change concerns, before and after it, and
// of those that lose a control file first.
func TestTimelines(t *testing.T) {
	events, quiet := storeAt("kops-state", "a/backups/etcd/main"), storeAt("kops-state", "b/backups/etcd/main")
	for name, c := range map[string]struct {
		doc    string
		stores []Store
		want   []string
	}{
		"before and after": {policy(`"Filter":{},"Expiration":{"Days":30}`), []Store{healthy()},
			[]string{"s3://kops-state/" + root + " under 1 rules varies_by_storage_class", "s3://kops-state/" + root + " under its own"}},
		"who loses a control file comes first": {`{"TransitionDefaultMinimumObjectSize":"varies_by_storage_class","Rules":[{"ID":"s","Status":"Enabled","Filter":{"Prefix":"a/backups/etcd/main/20"},"Expiration":{"Days":900}},{"ID":"r","Status":"Enabled","Filter":{"Prefix":"prod"},"Expiration":{"Days":30}}]}`, []Store{events, quiet, healthy()},
			[]string{"s3://kops-state/" + root + " under 2 rules varies_by_storage_class", "s3://kops-state/" + root + " under its own", "s3://kops-state/a/backups/etcd/main under 2 rules varies_by_storage_class", "s3://kops-state/a/backups/etcd/main under its own"}},
		"a rule that ends": {harmlessDoc, []Store{changed(healthy(), live(policy(`"Filter":{},"Expiration":{"Days":30}`)))},
			[]string{"s3://kops-state/" + root + " under 1 rules all_storage_classes_128K", "s3://kops-state/" + root + " under its own"}},
		"nothing acts": {harmlessDoc, []Store{healthy()}, nil},
		"rules in force that were not seen": {policy(`"Filter":{},"Expiration":{"Days":30}`), []Store{changed(healthy(), func(o *audit.Observation) { o.Bucket.Lifecycle = audit.Fact[audit.Document]{} })},
			[]string{"s3://kops-state/" + root + " under 1 rules varies_by_storage_class"}},
		"rules in force as the plan knows them": {tf(`"rule":[{"id":"r","status":"Enabled","filter":[],"expiration":[{"days":3}]}]`, `{}`), []Store{changed(healthy(), func(o *audit.Observation) { o.Bucket.Lifecycle = audit.Fact[audit.Document]{} })},
			[]string{"s3://kops-state/" + root + " under 1 rules varies_by_storage_class", "s3://kops-state/" + root + " under 0 rules "}},
		"a size default that is not known is the worse": {tf(`"rule":[{"id":"r","status":"Enabled","filter":[],"expiration":[{"days":3}]}]`, `{"transition_default_minimum_object_size":true}`), []Store{healthy()},
			[]string{"s3://kops-state/" + root + " under 1 rules varies_by_storage_class", "s3://kops-state/" + root + " under its own"}},
		"nobody looked":         {policy(`"Filter":{},"Expiration":{"Days":30}`), []Store{bare("kops-state", root), unseen()}, nil},
		"which bucket, unknown": {strings.Replace(cfn("Enabled"), "BucketName: kops-state", "BucketName: !Ref N", 1), []Store{healthy()}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var a asked
			r := lintCase{doc: c.doc, stores: c.stores, change: func(in *Input) { in.Foresee = a.foresee }}.judge(t)
			if !slices.Equal([]string(a), c.want) {
				t.Errorf("asked for\n%s\nwant\n%s", strings.Join(a, "\n"), strings.Join(c.want, "\n"))
			}
			for _, l := range r.Timelines {
				if l.File != "code" || l.Assumes != (name == "a size default that is not known is the worse") || !l.After.IsSet() {
					t.Errorf("%+v", l)
				}
			}
		})
	}
}

// Of very many stores the first are followed, and the rest is counted.
func TestTimelinesAreBounded(t *testing.T) {
	var stores []Store
	for i := range mostFollowed + 3 {
		stores = append(stores, storeAt("kops-state", fmt.Sprintf("c%d/backups/etcd/main", i)))
	}
	var a asked
	r := lintCase{doc: policy(`"Filter":{},"Expiration":{"Days":30}`), stores: stores, change: func(in *Input) { in.Foresee = a.foresee }}.judge(t)
	if len(r.Timelines) != mostFollowed || r.Unfollowed != 3 || len(a) != 2*mostFollowed {
		t.Errorf("%d timelines, %d not followed, %d asked for", len(r.Timelines), r.Unfollowed, len(a))
	}
}

const harmlessDoc = `{"Rules":[{"ID":"u","Status":"Enabled","Filter":{},"AbortIncompleteMultipartUpload":{"DaysAfterInitiation":7}}]}`

// BenchmarkJudge holds five rules against 400 stores of 255 snapshots.
func BenchmarkJudge(b *testing.B) {
	var stores []Store
	for i := range 400 {
		s := storeAt("kops-state", fmt.Sprintf("c%d.example.com/backups/etcd/main", i))
		l := &s.Observation.Listing.Value
		first := l.Snapshots[0]
		for k := range 250 {
			n := first
			n.Taken = noon.Add(-time.Duration(k) * time.Hour)
			n.Name = etcdmanager.FormatName(n.Taken, k)
			data, meta := *first.Data, *first.Meta
			data.Key, meta.Key = s.key(n.Name+"/"+etcdmanager.DataFile), s.key(n.Name+"/"+etcdmanager.MetaFile)
			n.Data, n.Meta = &data, &meta
			l.Snapshots = append(l.Snapshots, n)
		}
		stores = append(stores, s)
	}
	var rules []string
	for i := range 5 {
		rules = append(rules, fmt.Sprintf(`{"ID":"r%d","Status":"Enabled","Filter":{"Prefix":"c"},"Expiration":{"Days":%d},"NoncurrentVersionExpiration":{"NoncurrentDays":40}}`, i, 100+i))
	}
	d, err := infra.Read([]byte(`{"Rules":[`+strings.Join(rules, ",")+`]}`), infra.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if r := Judge(Input{Files: []File{{Name: "code", Document: d}}, Stores: slices.Clone(stores), Now: noon}); r.Verdict != audit.VerdictCritical {
			b.Fatal(r.Verdict)
		}
	}
}
