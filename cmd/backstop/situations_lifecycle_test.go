package main

import (
	"fmt"
	"time"

	"backstop/store/etcdmanager"
	"backstop/store/storetest"
)

// expireAfter is the rule of the accident: everything in the bucket, after so many
// days.
func expireAfter(days int) string {
	return rule("prune", "", fmt.Sprintf("<Expiration><Days>%d</Days></Expiration>", days))
}

// What lifecycle rules will do, and how a bucket is kept.
var lifecycles = []situation{
	{name: "a rule of 500 days over the whole bucket: both control files are due on one day",
		is:   func(w *scene) { w.lifecycle(expireAfter(500)); w.prod() },
		want: found{"main": "running WARNING: warning lifecycle/deletes-control"},
		says: []string{"on 2027-03-11 00:00:00Z", "armed at best"}},
	{name: "a rule of 500 days over the whole bucket: the spec was written anew since, so that created goes first",
		is:   func(w *scene) { w.lifecycle(expireAfter(500)); w.prod().spec(10*day, 3, "3.5.30") },
		want: found{"main": "running WARNING: warning lifecycle/deletes-control"},
		says: []string{"created goes first: reset with nobody touching it"}},
	{name: "a rule over the whole bucket, due within a week",
		is:   func(w *scene) { w.lifecycle(expireAfter(404)); w.prod() },
		want: found{"main": "running CRITICAL: critical lifecycle/deletes-control"}},
	{name: "a rule over the whole bucket, due since yesterday, and S3 is late",
		is:   func(w *scene) { w.lifecycle(expireAfter(398)); w.prod() },
		want: found{"main": "running CRITICAL: critical lifecycle/deletes-control"},
		says: []string{"overdue"}},
	{name: "a rule over the whole bucket that is switched off",
		is: func(w *scene) {
			w.lifecycle("<Rule><ID>prune</ID><Status>Disabled</Status><Filter/><Expiration><Days>90</Days></Expiration></Rule>")
			w.prod()
		},
		want: found{"main": "running OK"}},
	{name: "a rule for noncurrent versions alone",
		is: func(w *scene) {
			w.lifecycle(rule("old", "", "<NoncurrentVersionExpiration><NoncurrentDays>30</NoncurrentDays></NoncurrentVersionExpiration>"))
			w.prod()
		},
		want: found{"main": "running OK"}},
	{name: "a rule for unfinished uploads alone",
		is: func(w *scene) {
			w.lifecycle(rule("uploads", "", "<AbortIncompleteMultipartUpload><DaysAfterInitiation>7</DaysAfterInitiation></AbortIncompleteMultipartUpload>"))
			w.prod()
		},
		want: found{"main": "running OK"}},
	{name: "a rule for the prefix backups, with which no key of kops begins",
		is: func(w *scene) {
			w.lifecycle(rule("b", "backups/", "<Expiration><Days>90</Days></Expiration>"))
			w.prod()
		},
		want: found{"main": "running OK"}},
	{name: "a rule for the snapshots alone, by their year",
		is: func(w *scene) {
			w.lifecycle(rule("b", mainRoot+"/20", "<Expiration><Days>400</Days></Expiration>"))
			w.prod()
		},
		want: found{"main": "running OK"}},
	{name: "a rule for the snapshots alone, as long as kops has them kept",
		is: func(w *scene) {
			w.lifecycle(rule("b", mainRoot+"/20", "<Expiration><Days>60</Days></Expiration>"))
			w.prod()
		},
		want: found{"main": "running OK"}},
	{name: "a rule for the snapshots alone, and shorter than kops has them kept",
		is: func(w *scene) {
			w.lifecycle(rule("b", mainRoot+"/20", "<Expiration><Days>30</Days></Expiration>"))
			w.prod()
		},
		want: found{"main": "running WARNING: warning lifecycle/cuts-ladder"}},
	{name: "a rule for objects with a tag that the control files do not have",
		is: func(w *scene) {
			w.lifecycle(rule("scratch", "<Tag><Key>scratch</Key><Value>yes</Value></Tag>", "<Expiration><Days>1</Days></Expiration>"))
			w.prod()
		},
		want: found{"main": "running OK"}},
	{name: "a rule for objects with a tag, and the tags may not be read",
		is: func(w *scene) {
			w.lifecycle(rule("scratch", "<Tag><Key>scratch</Key><Value>yes</Value></Tag>", "<Expiration><Days>1</Days></Expiration>"))
			w.prod()
			w.state.Deny("s3:GetObjectTagging")
		},
		want: found{"main": "running CRITICAL: critical lifecycle/deletes-control, info audit/blind"},
		says: []string{"may do so at any moment (assuming the worse: tags not read)"}},
	{name: "a rule that moves everything to Glacier, and S3 leaves small objects where they are",
		is: func(w *scene) {
			w.lifecycle(rule("cold", "", "<Transition><Days>450</Days><StorageClass>GLACIER</StorageClass></Transition>"))
			w.prod()
		},
		want: found{"main": "running WARNING: warning lifecycle/archives-control, warning lifecycle/archives-control"},
		says: []string{"nothing but S3's default for small objects"}},
	{name: "a rule that moves everything to Glacier, in a bucket of the old default for small objects",
		is: func(w *scene) {
			w.lifecycle(rule("cold", "", "<Transition><Days>450</Days><StorageClass>GLACIER</StorageClass></Transition>"))
			w.state.SetTransitionSizeDefault("varies_by_storage_class")
			w.prod()
		},
		want: found{"main": "running WARNING: warning lifecycle/archives-control, warning lifecycle/archives-control"},
		says: []string{"2027-01-20 00:00:00Z"}},
	{name: "a rule of two buckets' worth of prefixes: the store next door is hit, and this one is not",
		is: func(w *scene) {
			w.lifecycle(rule("old", "old.example.com/", "<Expiration><Days>500</Days></Expiration>"))
			w.prod()
			w.kops("old.example.com", 400*day)
			w.tree("old.example.com/backups/etcd/main").lives(400 * day)
		},
		want: found{"main": "running OK", "kops-state/old.example.com/backups/etcd/main": "running WARNING: warning lifecycle/deletes-control"}},
	{name: "Object Lock with default retention: the cleanup cannot delete, and nothing has piled up yet",
		is:   func(w *scene) { w.locked(30 * day); w.prod() },
		want: found{"main": "running WARNING: warning retention/writer-locked"}},
	{name: "Object Lock with default retention: snapshots of ten days have piled up",
		is: func(w *scene) {
			w.locked(30 * day)
			s := w.prod()
			s.stops(10 * day)
			for a := 10 * day; a > 0; a -= 15 * minute {
				s.takes(a)
			}
		},
		want: found{"main": "running WARNING: warning retention/writer-locked"},
		says: []string{"of which etcd-manager's cleanup should have deleted"}},
	{name: "versioning is suspended",
		is:   func(w *scene) { w.prod(); w.state.SetVersioning("Suspended") },
		want: found{"main": "running WARNING: warning bucket/unversioned"}},
	{name: "a bucket as AWS makes one, with versioning on",
		is: func(w *scene) {
			w.prod()
			w.state.Configure(storetest.Settings{Encryption: "AES256"})
		},
		want: found{"main": "running OK: info bucket/hygiene"}},
	{name: "MFA delete is on, so that the cleanup can delete nothing",
		is: func(w *scene) {
			w.prod()
			set := wellKept()
			set.MFADelete = true
			w.state.Configure(set)
		},
		want: found{"main": "running OK: info bucket/hygiene"}},
	{name: "the whole world may read the bucket",
		is: func(w *scene) {
			w.prod()
			public := true
			w.state.Configure(storetest.Settings{PublicPolicy: &public, Encryption: "AES256", ObjectLock: wellKept().ObjectLock})
		},
		want: found{"main": "running CRITICAL: critical bucket/public, info bucket/hygiene"}},
	{name: "uploads that nobody finished lie in the bucket",
		is: func(w *scene) {
			w.prod()
			set := wellKept()
			set.Uploads = []storetest.Upload{{Key: "dump.tar", Begun: w.ago(60 * day)}}
			w.state.Configure(set)
		},
		want: found{"main": "running OK: info bucket/hygiene"}},

	{name: "the control files are there, and the bucket holds other things of kops's and of others",
		is: func(w *scene) {
			w.prod()
			for _, key := range []string{"prod.example.com/pki/issued/etcd-manager-ca-main/keyset.yaml", "prod.example.com/secrets/dockerconfig", "prod.example.com/instancegroup/nodes", "terraform.tfstate"} {
				w.state.Put(key, []byte("x"), w.when(day))
			}
		},
		want: found{"main": "running OK"}},
	{name: "somebody keeps notes and a copy of a snapshot in the store",
		is: func(w *scene) {
			s := w.prod()
			s.put("README.txt", []byte("x"), day)
			s.put("keep/before-upgrade/"+etcdmanager.DataFile, filledSnapshot, day)
		},
		want: found{"main": "running OK: info control/stray"}},
}

// locked gives the bucket Object Lock with a default retention.
func (w *scene) locked(retention time.Duration) {
	set := wellKept()
	lock := *set.ObjectLock
	lock.Mode, lock.Retention = "COMPLIANCE", retention
	set.ObjectLock = &lock
	w.state.Configure(set)
}
