package rules

import (
	"fmt"
	"testing"
	"time"

	"backstop/audit"
)

// lifecycleRule is an enabled rule with an expiration, such as
// "<Days>90</Days>", of what its filter matches.
func lifecycleRule(id, filter, expiration string) string {
	return fmt.Sprintf("<Rule><ID>%s</ID><Status>Enabled</Status><Filter>%s</Filter><Expiration>%s</Expiration></Rule>", id, filter, expiration)
}

func prefixed(prefix string) string { return "<Prefix>" + prefix + "</Prefix>" }

// expireAt is a rule that deletes everything at one midnight.
func expireAt(at time.Time) func(o *audit.Observation) {
	return lifecycleRules(lifecycleRule("prune", "", "<Date>"+at.Format(time.RFC3339)+"</Date>"))
}

// midnight is the one after noon, from which dates are counted.
var midnight = noon.Add(12 * time.Hour)

// untilMidnight is the time of judgement that much before midnight.
func untilMidnight(d time.Duration) time.Duration { return 12*time.Hour - d }

const (
	mainRoot  = "prod.example.com/backups/etcd/main/"
	afterward = "etcd-manager then makes a NEW, EMPTY cluster within seconds"
)

// tagged gives the control files tags that were read.
func tagged(tags map[string]string) func(o *audit.Observation) {
	return func(o *audit.Observation) { o.Created.Value.Tags, o.Spec.Value.Tags = audit.Is(tags), audit.Is(tags) }
}

var byTag = lifecycleRules(lifecycleRule("by-tag", "<Tag><Key>keep</Key><Value>no</Value></Tag>", "<Days>1</Days>"))

// announced is S3's own word on each control file.
func announced(o *audit.Observation) {
	const header = `expiry-date="Sat, 05 Dec 2026 00:00:00 GMT", rule-id="prune"`
	o.Created.Value.Expiration, o.Spec.Value.Expiration = header, header
}

var lifecycleDeletesControlSuite = suite{ages: true, cases: cases{
	"everything, after 90 days, and both files are older": {is: "speaks", seen: lifecycleRules(expireAll(90)),
		want: []string{`critical: lifecycle rule "prune" is due since 2026-01-25 00:00:00Z to hide etcd-cluster-created, and may do so at any moment`},
		says: []string{"overdue: S3 runs lifecycle rules late", "Both control files go at the same midnight", "armed at best", "Point of no return: 2026-01-25 00:00:00Z", "Do NOT run kops update cluster --yes", `Disable rule "prune"`, `"prod.example.com/backups/etcd/main/20"`, "control/etcd-cluster-created"}},
	"and kops's own files with it": {is: "speaks", seen: all(stateAged(400*audit.Day), lifecycleRules(expireAll(90))), want: []string{"critical: is due since"},
		says: []string{"the same rule takes 3 files of kops's own state of the cluster, the first, prod.example.com/pki/private/kubernetes-ca/keyset.yaml, at any moment"}},
	"both overdue from different midnights": {is: "speaks", seen: all(aged(60*audit.Day, 50*audit.Day), lifecycleRules(expireAll(20))),
		want: []string{"critical: Both control files are overdue, since "}, says: []string{"and go in the same run", "Reset possible at once: if S3 removes created more than 10 s before spec"}},
	"both overdue, spec for longer": {is: "speaks", seen: all(aged(50*audit.Day, 60*audit.Day), lifecycleRules(expireAll(20))),
		want: []string{"critical: Both control files are overdue, since "}},
	"everything, in a week and a day": {is: "speaks", seen: lifecycleRules(expireAll(407)),
		want:  []string{`warning: lifecycle rule "prune" will hide etcd-cluster-created on 2026-12-08 00:00:00Z, in 7d`},
		says:  []string{"etcd-cluster-created: hidden by a delete marker on 2026-12-08 00:00:00Z", "etcd-cluster-spec: hidden by a delete marker on 2026-12-08 00:00:00Z"},
		never: []string{"overdue"}},
	"spec was rewritten since, so created goes first": {is: "speaks", seen: all(lifecycleRules(expireAll(90)), bornAtTime(noon.Add(-89*audit.Day)), specIs(specGood, noon.Add(-30*audit.Day))),
		want: []string{"critical: will hide etcd-cluster-created on 2026-12-02 00:00:00Z, in 36h. created goes first: reset with nobody touching it. etcd-cluster-spec stays until 2027-01-30 00:00:00Z, and " + afterward},
		says: []string{"Point of no return: 2026-12-02 00:00:00Z"}},
	"created was rewritten since, so spec goes first": {is: "speaks", seen: all(lifecycleRules(expireAll(90)), specIs(specGood, noon.Add(-89*audit.Day)), bornAtTime(noon.Add(-30*audit.Day))),
		want: []string{"critical: will hide etcd-cluster-spec on 2026-12-02 00:00:00Z, in 36h. spec goes first: backups stop when the leader changes. When created follows on 2027-01-30 00:00:00Z, the store is armed"},
		says: []string{"Point of no return: 2027-01-30 00:00:00Z"}},
	"created alone is matched": {is: "speaks", seen: lifecycleRules(lifecycleRule("odd", prefixed(mainRoot+"control/etcd-cluster-created"), "<Days>90</Days>")),
		never: []string{"etcd-cluster-spec: ", "x-amz-expiration"}, want: []string{"critical: created goes first: reset with nobody touching it. etcd-cluster-spec stays, and " + afterward}},
	"spec alone is matched": {is: "speaks", seen: lifecycleRules(lifecycleRule("odd", prefixed(mainRoot+"control/etcd-cluster-spec"), "<Days>90</Days>")),
		want: []string{"critical: etcd-cluster-created stays: backups stop when the leader next changes, and the store is then stuck"}, never: []string{"etcd-cluster-created: ", "Point of no return"}},
	"created is missing already": {is: "speaks", seen: all(loseCreated, lifecycleRules(expireAll(90))),
		want: []string{`critical: is due since 2026-01-25 00:00:00Z to hide etcd-cluster-spec, and may do so at any moment. etcd-cluster-created is missing already`}},
	"spec is missing already": {is: "speaks", seen: all(loseSpec, lifecycleRules(expireAll(90))),
		want: []string{"critical: The spec is missing already: the store is then armed, and the next `kops update cluster --yes` resets the cluster"}},
	"spec is bad, so that nothing happens when created goes": {is: "speaks", seen: all(specIs("{", birth), lifecycleRules(lifecycleRule("odd", prefixed(mainRoot+"control/etcd-cluster-created"), "<Days>90</Days>"))),
		want: []string{"critical: to hide etcd-cluster-created"}, says: []string{"armed"}, never: []string{"nobody touching it"}},
	"spec is without members, so that nothing happens when created goes": {is: "speaks", seen: all(specIs(spec(0, "3.5.30"), birth), lifecycleRules(lifecycleRule("odd", prefixed(mainRoot+"control/etcd-cluster-created"), "<Days>90</Days>"))),
		want: []string{"critical: to hide etcd-cluster-created"}, says: []string{"armed"}, never: []string{"nobody touching it", "The spec is good"}},
	"spec is bad, and created goes first": {is: "speaks", seen: all(lifecycleRules(expireAll(90)), specIs("{", noon.Add(-30*audit.Day)), bornAtTime(noon.Add(-89*audit.Day))),
		want: []string{"critical: will hide etcd-cluster-created on 2026-12-02 00:00:00Z, in 36h. The spec is not one that etcd-manager can parse"}, says: []string{"the store is then armed"}, never: []string{"nobody touching it"}},
	"spec is bad, and goes first": {is: "speaks", seen: all(lifecycleRules(expireAll(90)), specIs("{", noon.Add(-89*audit.Day)), bornAtTime(noon.Add(-30*audit.Day))),
		want: []string{"critical: will hide etcd-cluster-spec on 2026-12-02 00:00:00Z, in 36h. spec goes first"}},
	"without versions it is final": {is: "speaks", seen: all(unversioned, lifecycleRules(expireAll(90))),
		want: []string{"critical: to delete etcd-cluster-created"}, never: []string{"assuming the worse"}, says: []string{"deleted for good on 2026-01-25 00:00:00Z"}},
	"suspended, and written after that": {is: "speaks", seen: all(suspended, lifecycleRules(expireAll(90)), func(o *audit.Observation) { o.Created.Value.VersionID, o.Spec.Value.VersionID = "null", "null" }),
		want: []string{"critical: to delete etcd-cluster-created"}, never: []string{"assuming the worse"}, says: []string{"deleted for good"}},
	"suspended, and written before that": {is: "speaks", seen: all(suspended, lifecycleRules(expireAll(90))),
		want: []string{"critical: to hide etcd-cluster-created"}, never: []string{"assuming the worse"}, says: []string{"hidden by a delete marker"}},
	"enabled, and written before that": {is: "speaks", seen: all(lifecycleRules(expireAll(90)), func(o *audit.Observation) { o.Created.Value.VersionID, o.Spec.Value.VersionID = "null", "null" }),
		want: []string{"critical: to hide etcd-cluster-created"}, never: []string{"assuming the worse"}},
	"MinIO's deletion of all versions": {is: "speaks", seen: all(lifecycleRules(lifecycleRule("all", "", "<Days>90</Days><ExpiredObjectAllVersions>true</ExpiredObjectAllVersions>")), noLock, func(o *audit.Observation) { o.Store.Endpoint = "https://minio.example.com" }),
		want: []string{"critical: to delete etcd-cluster-created"}},
	"of two rules the shorter wins": {is: "speaks", seen: lifecycleRules(lifecycleRule("keep", prefixed(mainRoot+"control/"), "<Days>3650</Days>") + expireAll(407)),
		want: []string{`warning: lifecycle rule "prune" will hide etcd-cluster-created on 2026-12-08 00:00:00Z`}},
	"another server than AWS's": {is: "speaks", seen: all(lifecycleRules(expireAll(90)), func(o *audit.Observation) { o.Store.Endpoint = "https://minio.example.com" }),
		want: []string{"critical: is due since"}, never: []string{"provider unverified"}},
	"MinIO's deletion of all versions, on AWS": {is: "speaks", seen: lifecycleRules(lifecycleRule("all", "", "<Days>90</Days><ExpiredObjectAllVersions>true</ExpiredObjectAllVersions>")),
		want: []string{"critical: to hide etcd-cluster-created"}},
	"a tag that the files have": {is: "speaks", seen: all(byTag, tagged(map[string]string{"keep": "no"})), want: []string{`critical: lifecycle rule "by-tag" is due since`}, never: []string{"assuming the worse"}},
	"as AWS's JSON":             {is: "speaks", seen: lifecycleBody(`{"Rules":[{"ID":"prune","Status":"Enabled","Filter":{},"Expiration":{"Days":90}}]}`), want: []string{"critical: is due since"}},

	"one member is enough for a reset": {is: "boundary", seen: all(specIs(spec(1, "3.5.30"), birth), lifecycleRules(lifecycleRule("odd", prefixed(mainRoot+"control/etcd-cluster-created"), "<Days>90</Days>"))),
		want: []string{"critical: created goes first: reset with nobody touching it"}},
	"in seven days":               {is: "boundary", seen: expireAt(midnight), at: untilMidnight(7 * audit.Day), want: []string{"critical: in 7d"}},
	"in a second more":            {is: "boundary", seen: expireAt(midnight), at: untilMidnight(7*audit.Day + time.Second), want: []string{"warning: in 7d"}},
	"in two years":                {is: "boundary", seen: expireAt(midnight), at: untilMidnight(730 * audit.Day), want: []string{"warning: in 730d"}},
	"in a second more than that":  {is: "boundary", seen: expireAt(midnight), at: untilMidnight(730*audit.Day + time.Second)},
	"in a second":                 {is: "boundary", seen: expireAt(midnight), at: untilMidnight(time.Second), want: []string{"critical: will hide etcd-cluster-created on 2026-12-01 00:00:00Z, in 1s"}, never: []string{"overdue"}},
	"now":                         {is: "boundary", seen: expireAt(midnight), at: untilMidnight(0), want: []string{"critical: is due since 2026-12-01 00:00:00Z to hide etcd-cluster-created"}, says: []string{"overdue"}},
	"the horizon is the owner's":  {is: "boundary", seen: expireAt(midnight), at: untilMidnight(30 * audit.Day), policy: func(p *audit.Policy) { p.HorizonCritical = 30 * audit.Day }, want: []string{"critical: in 30d"}},
	"beyond the owner's it is ok": {is: "boundary", seen: expireAt(midnight), at: untilMidnight(31 * audit.Day), policy: func(p *audit.Policy) { p.HorizonWarning = 30 * audit.Day }},
	"the second before midnight is a day later than midnight, of the two files": {is: "boundary",
		seen: all(lifecycleRules(expireAll(90)), bornAtTime(noon.Add(-85*audit.Day).Truncate(audit.Day)), specIs(specGood, noon.Add(-85*audit.Day).Truncate(audit.Day).Add(time.Second))),
		want: []string{"critical: created goes first: reset with nobody touching it. etcd-cluster-spec stays until 2026-12-06 00:00:00Z"}},
	"of one day, they go at one midnight": {is: "boundary",
		seen: all(lifecycleRules(expireAll(90)), bornAtTime(noon.Add(-85*audit.Day).Truncate(audit.Day).Add(time.Second)), specIs(specGood, noon.Add(-84*audit.Day).Truncate(audit.Day))),
		want: []string{"critical: Both control files go at the same midnight: backups stop, the store is armed at best"}},
	"a prefix of the store":                     {is: "boundary", seen: lifecycleRules(lifecycleRule("p", prefixed("prod.example.com/"), "<Days>90</Days>")), want: []string{"critical: is due since"}},
	"the prefix backups/ matches nothing below": {is: "boundary", seen: lifecycleRules(lifecycleRule("p", prefixed("backups/"), "<Days>90</Days>"))},
	"the prefix of control":                     {is: "boundary", seen: lifecycleRules(lifecycleRule("p", prefixed(mainRoot+"c"), "<Days>90</Days>")), want: []string{"critical: is due since"}},
	"the prefix of this century's snapshots":    {is: "boundary", seen: lifecycleRules(lifecycleRule("p", prefixed(mainRoot+"20"), "<Days>90</Days>"))},
	"larger than 32 bytes are both":             {is: "boundary", seen: lifecycleRules(lifecycleRule("s", "<ObjectSizeGreaterThan>32</ObjectSizeGreaterThan>", "<Days>90</Days>")), want: []string{"critical: is due since"}},
	"larger than a control file are none":       {is: "boundary", seen: lifecycleRules(lifecycleRule("s", "<ObjectSizeGreaterThan>300</ObjectSizeGreaterThan>", "<Days>90</Days>"))},

	"no rules":                         {is: "silent"},
	"rules without one":                {is: "silent", seen: lifecycleRules("")},
	"a rule that is switched off":      {is: "silent", seen: lifecycleRules("<Rule><ID>prune</ID><Status>Disabled</Status><Filter/><Expiration><Days>90</Days></Expiration></Rule>")},
	"a rule for old versions":          {is: "silent", seen: lifecycleRules("<Rule><ID>old</ID><Status>Enabled</Status><Filter/><NoncurrentVersionExpiration><NoncurrentDays>30</NoncurrentDays></NoncurrentVersionExpiration></Rule>")},
	"a rule for unfinished uploads":    {is: "silent", seen: lifecycleRules("<Rule><ID>mpu</ID><Status>Enabled</Status><Filter/><AbortIncompleteMultipartUpload><DaysAfterInitiation>7</DaysAfterInitiation></AbortIncompleteMultipartUpload></Rule>")},
	"a rule for delete markers":        {is: "silent", seen: lifecycleRules(lifecycleRule("dm", "", "<ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker>"))},
	"a rule to another class":          {is: "silent", seen: lifecycleRules("<Rule><ID>ia</ID><Status>Enabled</Status><Filter/><Transition><Days>30</Days><StorageClass>GLACIER</StorageClass></Transition></Rule>")},
	"both files are missing already":   {is: "silent", seen: all(loseBoth, lifecycleRules(expireAll(90)))},
	"S3 announces what no rule says":   {is: "silent", seen: announced},
	"a tag that the files do not have": {is: "silent", seen: all(byTag, tagged(map[string]string{}))},
	"a tag with another value":         {is: "silent", seen: all(byTag, tagged(map[string]string{"keep": "yes"}))},
	"in ten years":                     {is: "silent", seen: lifecycleRules(expireAll(3650))},

	"the rules were not seen, and S3 announces nothing": {is: "blind", seen: unseen(audit.FactLifecycle)},
	"the rules were not seen, and S3 announces it": {is: "blind", seen: all(announced, unseen(audit.FactLifecycle)),
		want: []string{`critical: lifecycle rule "prune" will hide etcd-cluster-created on 2026-12-05 00:00:00Z, in 4d`}, says: []string{"as S3's x-amz-expiration header says; the rules themselves were not seen"}},
	"the rules were not seen, and S3 announces it without versions": {is: "blind", seen: all(unversioned, announced, unseen(audit.FactLifecycle)),
		want: []string{`critical: lifecycle rule "prune" will delete etcd-cluster-created on 2026-12-05 00:00:00Z`}},
	"the rules were not seen, and S3 announces it while versioning is suspended": {is: "blind", seen: all(suspended, announced, unseen(audit.FactLifecycle)),
		want: []string{`critical: lifecycle rule "prune" will delete etcd-cluster-created on 2026-12-05 00:00:00Z`}},
	"another server announces it, where it has versions to confuse": {is: "blind", seen: all(announced, unseen(audit.FactLifecycle), func(o *audit.Observation) { o.Store.Endpoint = "https://rgw.example.com" })},
	"another server announces it, without versions": {is: "blind", seen: all(unversioned, announced, unseen(audit.FactLifecycle), func(o *audit.Observation) { o.Store.Endpoint = "https://rgw.example.com" }),
		want: []string{"critical: on 2026-12-05 00:00:00Z"}},
	"the rules cannot be understood, and S3 announces it": {is: "blind", seen: all(announced, lifecycleBody("<x/>")), want: []string{"critical: on 2026-12-05 00:00:00Z"}},
	"versioning was not seen": {is: "blind", seen: all(unseen(audit.FactVersioning), lifecycleRules(expireAll(90)), func(o *audit.Observation) { o.Created.Value.VersionID, o.Spec.Value.VersionID = "", "" }),
		want: []string{"critical: is due since"}, says: []string{"assuming the worse"}},
	"the tags were not seen":        {is: "blind", seen: all(byTag, unseen(audit.FactTags)), want: []string{`critical: lifecycle rule "by-tag"`}, says: []string{"assuming the worse"}},
	"the versions were not seen":    {is: "blind", seen: all(lifecycleRules(expireAll(90)), unseen(audit.FactControlVersions)), want: []string{"critical: is due since"}},
	"neither control file was seen": {is: "blind", seen: all(lifecycleRules(expireAll(90)), unseen(audit.FactCreated), unseen(audit.FactSpec))},
	"spec was not seen, so that nobody knows whether it is missing": {is: "blind", seen: all(lifecycleRules(expireAll(90)), unseen(audit.FactSpec)),
		want: []string{"critical: to hide etcd-cluster-created"}, never: []string{"missing already"}},
	"created was not seen, so that nobody knows whether it stays": {is: "blind", seen: all(lifecycleRules(expireAll(90)), unseen(audit.FactCreated)),
		want: []string{"critical: to hide etcd-cluster-spec"}, never: []string{"created stays", "missing already"}},
}}

func TestLifecycleDeletesControl(t *testing.T) {
	lifecycleDeletesControlSuite.cases.run(t, lifecycleDeletesControl)
}
