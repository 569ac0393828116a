package lint

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"backstop/audit"
	"backstop/rules/lifecycle/infra"
)

const specKey = root + "/control/etcd-cluster-spec"

// object1 is a plan with one aws_s3_object.
func object1(actions, before, after, unknowns string) string {
	return fmt.Sprintf(`{"format_version":"1.2","resource_changes":[{"address":"aws_s3_object.o","type":"aws_s3_object","name":"o","change":{"actions":[%s],"before":%s,"after":%s,"after_unknown":%s}}]}`, actions, before, after, unknowns)
}

func at(key string) string { return contentAt(key, `{"memberCount":1,"etcdVersion":"3.6.11"}`) }

func contentAt(key, content string) string {
	return fmt.Sprintf(`{"bucket":"kops-state","key":%q,"content":%q}`, key, content)
}

// respecs is a plan that changes the spec, or created.
func respecs(key, before, after string) string {
	return object1(`"update"`, contentAt(key, before), contentAt(key, after), "{}")
}

const (
	three      = `{"memberCount":3,"etcdVersion":"3.6.11"}`
	one        = `{"memberCount":1,"etcdVersion":"3.6.11"}`
	createdKey = root + "/control/etcd-cluster-created"
)

// threeMembers is a store whose spec asks for three members, as kops may too.
func threeMembers(kops int) Store {
	return changed(healthy(), func(o *audit.Observation) {
		o.Spec.Value.Body = []byte(three)
		if kops > 0 {
			o.Kops = audit.Is(audit.Kops{Known: true, ClusterKnown: true, Members: kops})
		}
	})
}

var contentCases = lintCases{
	"fewer members than kops wants": {doc: respecs(specKey, three, one), stores: []Store{threeMembers(3)},
		want: []string{"critical lint/changes-control-file: asks for fewer members than kops does, which asks for 3: at the next change of leader"}},
	"fewer members, and kops was not seen": {doc: respecs(specKey, three, one), stores: []Store{threeMembers(0)},
		want: []string{"warning lint/changes-control-file: fewer members than the 3 before"}},
	"fewer members, as kops wants":               {doc: respecs(specKey, three, one), stores: []Store{threeMembers(1)}},
	"more members":                               {doc: respecs(specKey, one, three), stores: []Store{healthy()}},
	"fewer than in a store, which drifted":       {doc: respecs(specKey, one, `{"memberCount":2,"etcdVersion":"3.6.11"}`), stores: []Store{threeMembers(0)}, want: []string{"warning lint/changes-control-file: fewer members than the 3"}},
	"what is in the store already":               {doc: respecs(specKey, one, three), stores: []Store{threeMembers(0)}},
	"no members":                                 {doc: respecs(specKey, one, `{"memberCount":0}`), stores: []Store{healthy()}, want: []string{"critical lint/changes-control-file: asks for no member"}},
	"no spec at all, and nothing of it is shown": {doc: respecs(specKey, "old", "brand-new"), stores: []Store{healthy()}, want: []string{"critical lint/changes-control-file: no cluster spec that etcd-manager can read"}, never: []string{"brand-new"}},
	"no spec at all, and nobody looked": {doc: respecs(specKey, one, "new"), stores: []Store{bare("kops-state", root)},
		want: []string{"critical lint/changes-control-file: no cluster spec", "unknown lint/writes-spec: not looked at"}},
	"a content that is known only when it is applied": {doc: object1(`"update"`, contentAt(specKey, one), `{"bucket":"kops-state","key":"`+specKey+`"}`, `{"content":true}`), stores: []Store{healthy()},
		want: []string{"unknown lint/changes-control-file: its new content is not in the code"}},
	"a content that is in a file": {doc: object1(`"update"`, `{"bucket":"kops-state","key":"`+specKey+`","source":"a","etag":"1"}`, `{"bucket":"kops-state","key":"`+specKey+`","source":"a","etag":"2"}`, `{}`), stores: []Store{healthy()},
		want: []string{"unknown lint/changes-control-file: its new content is not in the code"}},
	"tags beside a content in a file": {doc: object1(`"update"`, `{"bucket":"kops-state","key":"`+specKey+`","source":"a","source_hash":"1"}`, `{"bucket":"kops-state","key":"`+specKey+`","source":"a","source_hash":"1","tags":{"a":"b"}}`, `{"etag":true}`), stores: []Store{healthy()}},
	"created anew": {doc: respecs(createdKey, `{"timestamp":"1"}`, `{"timestamp":"2"}`), stores: []Store{healthy()},
		want: []string{"warning lint/changes-control-file: nobody but etcd-manager writes it"}},
	"created, of which the content is not known": {doc: object1(`"update"`, contentAt(createdKey, "a"), `{"bucket":"kops-state","key":"`+createdKey+`"}`, `{"content":true}`), stores: []Store{healthy()},
		want: []string{"unknown lint/changes-control-file: its new content"}},
	"created that stays":       {doc: respecs(createdKey, "a", "a"), stores: []Store{healthy()}},
	"created that is put back": {doc: object1(`"create"`, "null", contentAt(createdKey, `{"timestamp":"1"}`), "{}"), stores: []Store{armed()}, want: []string{"warning lint/store-in-trouble: armed"}},
}

func TestContent(t *testing.T) { contentCases.run(t) }

var (
	createsSpec   = object1(`"create"`, "null", at(specKey), "{}")
	updatesSpec   = object1(`"update"`, at(specKey), at(specKey), "{}")
	unchangedSpec = object1(`"no-op"`, at(specKey), at(specKey), "{}")
)

var objectCases = lintCases{
	"a new spec on a store that has lost created": {doc: createsSpec, stores: []Store{armed()},
		want: []string{"critical lint/writes-spec: which has 5 snapshots and no etcd-cluster-created: etcd-manager then makes a NEW, EMPTY cluster within seconds", "warning lint/store-in-trouble: armed"}},
	"a new spec on a store that lives": {doc: createsSpec, stores: []Store{healthy()},
		want: []string{"critical lint/writes-spec: creates etcd-cluster-spec in s3://kops-state/" + root + ", which has 5 snapshots: the spec is there, too"}, says: []string{"terraform import 'aws_s3_object.o' 's3://kops-state/" + specKey + "'", "backstop gate"}},
	"a new spec on a store that has lost it": {doc: createsSpec, stores: []Store{trouble("stuck", changed(healthy(), func(o *audit.Observation) { o.Spec = audit.None[audit.Document]() }))},
		want: []string{"critical lint/writes-spec: the spec was deleted, and whatever did that", "warning lint/store-in-trouble: stuck"}},
	"an update of a store that lives": {doc: updatesSpec, stores: []Store{healthy()}},
	"an update of a store that has lost created": {doc: updatesSpec, stores: []Store{trouble("imminent", changed(healthy(), func(o *audit.Observation) { o.Created = audit.None[audit.Document]() }))},
		want: []string{"critical lint/writes-spec: no etcd-cluster-created", "warning lint/store-in-trouble: imminent"}},
	"an update where created is empty": {doc: updatesSpec, stores: []Store{trouble("blocked", changed(healthy(), func(o *audit.Observation) { o.Created.Value.Body = nil }))},
		want: []string{"critical lint/writes-spec: etcd-cluster-created is empty", "warning lint/store-in-trouble: blocked"}},
	"no change":              {doc: unchangedSpec, stores: []Store{healthy()}},
	"no change, and no look": {doc: unchangedSpec, stores: []Store{bare("kops-state", root)}},
	"no change, says an old plan": {doc: unchangedSpec, stores: []Store{armed()},
		want: []string{"critical lint/writes-spec: no etcd-cluster-created", "warning lint/store-in-trouble: armed"}, says: []string{"the next plan shows the write"}},
	"a store that refused": {doc: createsSpec, stores: []Store{unseen()},
		want: []string{"unknown lint/store-not-seen: could not be looked at (listing was not seen: access denied (needs s3:ListBucket))", "unknown lint/writes-spec: that store could not be looked at"}},
	"a prefix without a look": {doc: createsSpec, stores: []Store{bare("kops-state", root)},
		want: []string{"unknown lint/writes-spec: that store was not looked at"}},
	"another store":   {doc: createsSpec, stores: []Store{storeAt("other", root)}, want: []string{"unknown lint/writes-spec: that store was not looked at"}},
	"no store at all": {doc: createsSpec, want: []string{"unknown lint/store-not-seen: no store was looked at", "unknown lint/writes-spec: that store was not looked at"}},
	"a new cluster beside another": {doc: strings.ReplaceAll(createsSpec, "prod.example", "new.example"), stores: []Store{healthy()}, change: listedBucket,
		want: []string{"info lint/writes-spec: a store that is not there yet"}},
	"a new cluster in an empty bucket": {doc: createsSpec, change: func(in *Input) {
		listedBucket(in)
		in.Problems = []audit.Problem{{Target: "s3://kops-state", Cause: audit.CauseNoStore, Message: "no store"}}
	}, want: []string{"info lint/writes-spec: a new cluster"}},
	"a new cluster in a store that is being born": {doc: createsSpec, stores: []Store{trouble("uninitialised", changed(armed(), func(o *audit.Observation) { o.Listing.Value.Snapshots = nil }))},
		want: []string{"info lint/writes-spec: nothing shows an earlier cluster"}},
	"a store without snapshots that was one": {doc: createsSpec, stores: []Store{changed(armed(), func(o *audit.Observation) { o.Listing.Value.Snapshots = nil })},
		want: []string{"critical lint/writes-spec: which has 0 snapshots and no etcd-cluster-created", "warning lint/store-in-trouble: armed"}},
	"a bucket that is created with it": {doc: `{"format_version":"1.2","resource_changes":[{"address":"aws_s3_bucket.b","type":"aws_s3_bucket","name":"b","change":{"actions":["create"],"after":{"bucket":"new"},"after_unknown":{}}},
		{"address":"aws_s3_object.o","type":"aws_s3_object","name":"o","change":{"actions":["create"],"after":{"bucket":"new","key":"` + specKey + `"},"after_unknown":{}}}]}`, stores: []Store{healthy()}},
	"an old name of the resource, and the whole bucket": {doc: strings.ReplaceAll(strings.ReplaceAll(createsSpec, "aws_s3_object", "aws_s3_bucket_object"), root+"/", ""), stores: []Store{changedRoot("")},
		want: []string{"critical lint/writes-spec: creates etcd-cluster-spec in"}},
	"a spec that is deleted": {doc: object1(`"delete"`, at(specKey), "null", "{}"), stores: []Store{healthy()},
		want: []string{"critical lint/deletes-control-file: deletes control/etcd-cluster-spec of the store s3://kops-state/" + root}, says: []string{"terraform state rm 'aws_s3_object.o'"}},
	"created that is deleted": {doc: object1(`"delete"`, at(root+"/control/etcd-cluster-created"), "null", "{}"), stores: []Store{bare("", "x")},
		want: []string{"critical lint/deletes-control-file: NEW, EMPTY cluster within seconds"}},
	"a spec that is replaced in place": {doc: object1(`"delete","create"`, at(specKey), at(specKey), "{}"), stores: []Store{healthy()},
		want: []string{"critical lint/deletes-control-file: deletes control/etcd-cluster-spec", "critical lint/writes-spec: creates etcd-cluster-spec"}},
	"a spec that only leaves Terraform": {doc: object1(`"forget"`, at(specKey), "null", "{}"), stores: []Store{healthy()}},
	"another object":                    {doc: object1(`"delete"`, at("a/b"), "null", "{}"), stores: []Store{healthy()}, want: []string{"unknown lint/nothing-found: no lifecycle configuration"}},
	"another object, which is fine": {doc: object1(`"delete"`, at("a/b"), "null", "{}"), stores: []Store{healthy()}, change: func(in *Input) { in.AllowNothing = true },
		want: []string{"info lint/nothing-found: no lifecycle configuration"}},
	"a key that is not known": {doc: object1(`"create"`, "null", `{"bucket":"kops-state"}`, `{"key":true}`), stores: []Store{healthy()},
		want: []string{"unknown lint/unknown-value: which key aws_s3_object.o writes"}},
	"a key that is not known in another bucket": {doc: object1(`"create"`, "null", `{"bucket":"logs"}`, `{"key":true}`), stores: []Store{healthy()}},
	"names that are sensitive": {doc: strings.Replace(createsSpec, `"after_unknown":{}`, `"after_unknown":{},"after_sensitive":{"bucket":true,"key":true}`, 1), stores: []Store{armed()},
		want: []string{"critical lint/writes-spec: no etcd-cluster-created", "warning lint/store-in-trouble: armed"}, never: []string{specKey}},
}

func trouble(state string, s Store) Store {
	s.State.Name = state
	return s
}

func changedRoot(prefix string) Store {
	s := storeAt("kops-state", prefix)
	return s
}

func listedBucket(in *Input) { in.Places = []Place{{URL: "s3://kops-state", Bucket: "kops-state"}} }

func TestObjects(t *testing.T) { objectCases.run(t) }

// kopsDoc is a completed spec of kops with a place for the backups.
func kopsDoc(store string) string {
	return "apiVersion: kops.k8s.io/v1alpha2\\nkind: Cluster\\nmetadata:\\n  name: prod.example.com\\nspec:\\n  configBase: s3://kops-state/prod.example.com\\n  etcdClusters:\\n  - name: main\\n    etcdMembers:\\n    - name: a\\n      instanceGroup: m\\n    backups:\\n      backupStore: " + store + "\\n"
}

func document(key, before, after string) string {
	return object1(`"update"`, `{"bucket":"kops-state","key":"`+key+`","content":"`+before+`"}`, `{"bucket":"kops-state","key":"`+key+`","content":"`+after+`"}`, "{}")
}

const completed = "prod.example.com/cluster-completed.spec"

var moveCases = lintCases{
	"kops moves it, and nobody looked": {doc: document(completed, kopsDoc("s3://kops-state/"+root), kopsDoc("s3://elsewhere/main")), stores: []Store{healthy()},
		want: []string{"critical lint/moves-backup-store: the backup store of prod.example.com/main moves from s3://kops-state/" + root + " to s3://elsewhere/main. Nobody looked at the new place"}, says: []string{"etcd-cluster-created before etcd-cluster-spec"}},
	"to a place that is empty": {doc: document(completed, kopsDoc("s3://kops-state/"+root), kopsDoc("s3://kops-state/moved")), stores: []Store{healthy()}, change: listedBucket,
		want: []string{"critical lint/moves-backup-store: The new place is empty"}},
	"to a place without created": {doc: document(completed, kopsDoc("s3://kops-state/old"), kopsDoc("s3://kops-state/"+root)), stores: []Store{armed()},
		want: []string{"critical lint/moves-backup-store: The new place has no etcd-cluster-created", "warning lint/store-in-trouble: armed"}},
	"to a place that has it": {doc: document(completed, kopsDoc("s3://kops-state/old"), kopsDoc("s3://kops-state/"+root)), stores: []Store{healthy()},
		want: []string{"warning lint/moves-backup-store: The new place has an etcd-cluster-created"}},
	"it stays":                        {doc: document(completed, kopsDoc("s3://kops-state/"+root), kopsDoc("s3://kops-state/"+root+"/")), stores: []Store{healthy()}},
	"an etcd cluster that goes":       {doc: document(completed, kopsDoc("s3://kops-state/"+root), strings.ReplaceAll(kopsDoc("s3://x/y"), "name: main", "name: events")), stores: []Store{healthy()}},
	"a new content that is not known": {doc: strings.Replace(document(completed, kopsDoc("s3://kops-state/"+root), ""), `"after_unknown":{}`, `"after_unknown":{"content":true}`, 1), stores: []Store{healthy()}, want: []string{"unknown lint/moves-backup-store: its new content is known only"}},
	"the manifest of etcd-manager": {doc: document("prod.example.com/manifests/etcd/main.yaml", "exec /etcd-manager --backup-store=s3://kops-state/"+root+" --x", "exec /etcd-manager --backup-store=s3://kops-state/moved --x"), stores: []Store{healthy()},
		want: []string{"critical lint/moves-backup-store: to s3://kops-state/moved"}},
	"the spec itself": {doc: object1(`"delete","create"`, at(specKey), at("moved/control/etcd-cluster-spec"), "{}"), stores: []Store{healthy()},
		want: []string{"critical lint/moves-backup-store: moves from s3://kops-state/" + root + " to s3://kops-state/moved"}},
	"the spec goes to another bucket": {doc: object1(`"delete","create"`, at(specKey), strings.Replace(at(specKey), "kops-state", "other", 1), "{}"), stores: []Store{healthy()},
		want: []string{"critical lint/moves-backup-store: to s3://other/" + root}},
}

func TestMoves(t *testing.T) { moveCases.run(t) }

// bucketGone is a plan that destroys a bucket.
func bucketGone(force string) string {
	return `{"format_version":"1.2","resource_changes":[{"address":"aws_s3_bucket.b","type":"aws_s3_bucket","name":"b","change":{"actions":["delete"],"before":{"bucket":"kops-state","force_destroy":` + force + `},"after":null}}]}`
}

var bucketCases = lintCases{
	"with everything in it": {doc: bucketGone("true"), stores: []Store{healthy()}, want: []string{"critical lint/deletes-bucket: everything in it is deleted"}},
	"if it were empty":      {doc: bucketGone("false"), stores: []Store{healthy()}, want: []string{"warning lint/deletes-bucket: S3 refuses"}},
	"another bucket":        {doc: bucketGone("true"), stores: []Store{storeAt("other", root)}},
}

func TestBuckets(t *testing.T) { bucketCases.run(t) }

var lookCases = lintCases{
	"a store that refused": {doc: logs(`"Expiration":{"Days":3}`), stores: []Store{unseen()}, want: []string{"unknown lint/store-not-seen: could not be looked at"}},
	"a replica in trouble": {doc: logs(`"Expiration":{"Days":3}`), stores: []Store{func() Store { s := armed(); s.Policy.Role = audit.Archive; return s }()}},
	"a plan that failed":   {doc: `{"format_version":"1.2","errored":true,"resource_changes":[]}`, stores: []Store{healthy()}, want: []string{"unknown lint/unreadable-part: Planning ended with an error"}},
	"rules of another provider": {doc: `{"format_version":"1.2","resource_changes":[{"address":"d","type":"digitalocean_spaces_bucket","change":{"actions":["create"],"after":{"name":"kops-state","lifecycle_rule":[{}]}}}]}`, stores: []Store{healthy()},
		want: []string{"unknown lint/unreadable-part: Backstop does not read the lifecycle rules"}},
	"rules of another provider for another bucket": {doc: `{"format_version":"1.2","resource_changes":[{"address":"d","type":"digitalocean_spaces_bucket","change":{"actions":["create"],"after":{"name":"logs","lifecycle_rule":[{}]}}}]}`, stores: []Store{healthy()}},
	"a state": {doc: `{"format_version":"1.0","values":{"root_module":{"resources":[{"address":"a","mode":"managed","type":"aws_s3_bucket_lifecycle_configuration","name":"b","values":{"bucket":"kops-state","transition_default_minimum_object_size":"varies_by_storage_class","rule":[{"id":"r","status":"Enabled","filter":[{"prefix":"x"}],"expiration":[{"days":3}]}]}}]}}}`, stores: []Store{healthy()}, want: []string{"info lint/remark: this is a state, not a plan"}},
	"another bucket beside": {doc: strings.Replace(cfn("Enabled"), "BucketName: kops-state", "BucketName: logs", 1), stores: []Store{healthy()},
		want: []string{"unknown lint/not-judged: nothing in the files", "info lint/not-judged: for the bucket logs"}},
	"two for one bucket": {doc: `{"format_version":"1.2","resource_changes":[` + lifecycleOf("a") + `,` + lifecycleOf("b") + `]}`, stores: []Store{healthy()},
		want: []string{"unknown lint/two-configurations: a and b are both the lifecycle configuration of the bucket kops-state"}},
}

func lifecycleOf(address string) string {
	return `{"address":"` + address + `","type":"aws_s3_bucket_lifecycle_configuration","name":"` + address + `","change":{"actions":["create"],"after":{"bucket":"kops-state","transition_default_minimum_object_size":"varies_by_storage_class","rule":[{"id":"r","status":"Enabled","filter":[{"prefix":"x"}],"expiration":[{"days":3}]}]},"after_unknown":{}}}`
}

func TestLooks(t *testing.T) { lookCases.run(t) }

// A place without a store makes the verdict UNKNOWN, unless the code is about to
// make one there.
func TestPlacesWithoutAStore(t *testing.T) {
	c := lintCase{doc: createsSpec, change: func(in *Input) {
		listedBucket(in)
		in.Stores = []Store{storeAt("other", "x")}
		in.Problems = []audit.Problem{{Target: "s3://kops-state", Cause: audit.CauseNoStore}, {Target: "s3://denied", Cause: audit.CauseDenied}}
	}}
	r := c.judge(t)
	if len(r.Problems) != 1 || r.Problems[0].Target != "s3://denied" || r.Verdict != audit.VerdictUnknown {
		t.Errorf("%s, problems %+v", r.Verdict, r.Problems)
	}
}

func TestPlaceHolds(t *testing.T) {
	for _, c := range []struct {
		place        Place
		bucket, root string
		want         bool
	}{
		{Place{Bucket: "b"}, "b", "x", true}, {Place{Bucket: "b"}, "b", "", true}, {Place{Bucket: "b"}, "c", "x", false}, {Place{}, "", "x", false},
		{Place{Bucket: "b", Prefix: "x"}, "b", "x", true}, {Place{Bucket: "b", Prefix: "x"}, "b", "x/y", true}, {Place{Bucket: "b", Prefix: "x"}, "b", "xy", false}, {Place{Bucket: "b", Prefix: "x"}, "b", "", false},
	} {
		if got := c.place.holds(c.bucket, c.root); got != c.want {
			t.Errorf("%+v holds %s/%s: %v", c.place, c.bucket, c.root, got)
		}
	}
}

// The order of findings is the worst first, and every one has a declared severity:
// Judge panics else.
func TestOrder(t *testing.T) {
	r := lintCase{doc: policy(`"Filter":{},"Expiration":{"Days":1}`), stores: []Store{armed(), unseen()}}.judge(t)
	var got []audit.Severity
	for _, f := range r.Findings {
		got = append(got, f.Severity)
	}
	if !slices.IsSortedFunc(got, func(a, b audit.Severity) int {
		if a.Worse(b) {
			return -1
		}
		return 1
	}) && len(got) > 1 {
		t.Errorf("%q", got)
	}
}

// What the code calls its bucket by another name is not that of the store.
func TestBucketsMatch(t *testing.T) {
	s := subject{proposal: &infra.Proposal{Bucket: infra.BucketRef{Name: "kops-state", Named: true}}}
	s.match([]Store{healthy(), storeAt("other", root), bare("", "x"), bare("other", "x")})
	if len(s.stores) != 2 || s.maybe {
		t.Errorf("%d stores, maybe %v", len(s.stores), s.maybe)
	}
}
