package store_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"backstop/audit"
	"backstop/store"
	"backstop/store/etcdmanager"
	"backstop/store/storetest"
)

const main = "prod.example.com/backups/etcd/main"

// seeded is a fake with a small store in it, as etcd-manager writes one.
func seeded(t *testing.T) (*storetest.Fake, *storetest.Bucket, *store.S3) {
	t.Helper()
	f := storetest.NewFake(atNoon)
	b := f.CreateBucket("backups")
	old := storetest.WithTime(noon.Add(-1000 * time.Hour))
	b.Put(main+"/control/etcd-cluster-created", etcdmanager.FormatCreated(noon.Add(-1000*time.Hour)), old)
	b.Put(main+"/control/etcd-cluster-spec", []byte(`{"memberCount": 1, "etcdVersion": "3.5.30"}`), old)
	for i := range 4 {
		putSnapshot(b, noon.Add(-time.Duration(i)*15*time.Minute-time.Minute))
	}
	return f, b, open(t, f.URL(t))
}

func putSnapshot(b *storetest.Bucket, at time.Time) string {
	name := etcdmanager.FormatName(at, 1)
	b.Put(main+"/"+name+"/etcd.backup.gz", make([]byte, 3000), storetest.WithTime(at))
	b.Put(main+"/"+name+"/_etcd_backup.meta", []byte(`{"etcdVersion": "3.5.30"}`), storetest.WithTime(at))
	return name
}

func observe(t *testing.T, b store.Bucket) *audit.Observation {
	t.Helper()
	return store.Observe(t.Context(), b, store.ObserveBucket(t.Context(), b), store.StoreAt(b, main), atNoon)
}

// requests counts the requests for objects.
func requests(f *storetest.Fake) (n int, which []string) {
	for _, r := range f.Requests() {
		if r.Key != "" {
			n++
			which = append(which, r.Operation+" "+r.Key)
		}
	}
	return n, which
}

// Beyond listings, the bucket's own documents and the queue, a look costs five
// requests at a healthy store and at most eight at any; one less where the newest
// snapshot is so small that its first bytes are all.
func TestObserveIsThrifty(t *testing.T) {
	for name, c := range map[string]struct {
		change func(b *storetest.Bucket)
		most   int
		queued int
	}{
		"healthy": {func(b *storetest.Bucket) {
			b.Put(main+"/"+etcdmanager.FormatName(noon.Add(-time.Minute), 1)+"/etcd.backup.gz", make([]byte, 100_000), storetest.WithTime(noon.Add(-time.Minute)))
		}, 5, 0},
		"a small snapshot": {func(*storetest.Bucket) {}, 4, 0},
		"both control files missing, an orphan": {func(b *storetest.Bucket) {
			b.Purge(main + "/control/etcd-cluster-created")
			b.Purge(main + "/control/etcd-cluster-spec")
			b.Purge(main + "/" + etcdmanager.FormatName(noon.Add(-46*time.Minute), 1) + "/_etcd_backup.meta")
		}, 8, 0},
		"all at once, with a queue": {func(b *storetest.Bucket) {
			b.Purge(main + "/control/etcd-cluster-created")
			b.Purge(main + "/control/etcd-cluster-spec")
			for i := range 3 {
				b.Put(fmt.Sprintf("%s/control/2026-01-15T11:0%d:00Z-000000/_command.json", main, i),
					fmt.Appendf(nil, `{"timestamp": "%d", "restoreBackup": {"backup": %q}}`, 1000+i, etcdmanager.FormatName(noon.Add(-31*time.Minute), 1)))
			}
		}, 8, 3},
	} {
		t.Run(name, func(t *testing.T) {
			f, b, s := seeded(t)
			b.SetVersioning("Enabled")
			c.change(b)
			o := observe(t, s)
			n, which := requests(f)
			if name == "healthy" && n != c.most {
				t.Errorf("%d requests, want %d: %q", n, c.most, which)
			}
			if n > c.most+c.queued {
				t.Errorf("%d requests, at most %d and %d for the queue: %q", n, c.most, c.queued, which)
			}
			total := 0
			for _, k := range o.Usage.Requests {
				total += k
			}
			if total == 0 || o.Usage.Bytes == 0 {
				t.Errorf("usage %+v", o.Usage)
			}
		})
	}
}

// What is true of the bucket is asked for in seven requests, whatever the
// answers, and each answer is kept apart from the lack of one.
func TestObserveBucket(t *testing.T) {
	f, b, s := seeded(t)
	public := true
	lock, block := audit.ObjectLock{Mode: "COMPLIANCE", Retention: 30 * audit.Day}, audit.PublicAccessBlock{RestrictPublicBuckets: true}
	b.SetVersioning("Enabled")
	b.Configure(storetest.Settings{
		MFADelete: true, ObjectLock: &lock, PublicAccessBlock: &block, PublicPolicy: &public, Encryption: "aws:kms",
		Uploads: []storetest.Upload{{Key: "anywhere", Begun: noon}},
	})
	o := store.ObserveBucket(t.Context(), s)
	if !o.MFADelete || o.ObjectLock.Value != lock || o.PublicAccessBlock.Value != block || !o.PublicPolicy.Value || o.Encryption.Value != "aws:kms" || o.Uploads.Value.Count != 1 {
		t.Errorf("set: %+v", o)
	}
	if n := len(f.Requests()); n != 7 {
		t.Errorf("%d requests, want 7", n)
	}
	b.Configure(storetest.Settings{})
	o = store.ObserveBucket(t.Context(), s)
	for name, state := range states(o) {
		want := audit.Unset
		if name == audit.FactUploads || name == audit.FactVersioning {
			want = audit.Set // there are none, and it is on
		}
		if state != want {
			t.Errorf("never set: %s is %s, want %s", name, state, want)
		}
	}
	b.Deny("s3:GetBucketVersioning", "s3:GetLifecycleConfiguration", "s3:GetBucketObjectLockConfiguration", "s3:GetBucketPublicAccessBlock",
		"s3:GetBucketPolicyStatus", "s3:GetEncryptionConfiguration", "s3:ListBucketMultipartUploads")
	whole := audit.Observation{Bucket: store.ObserveBucket(t.Context(), s)}
	for name := range states(o) {
		if why, not := whole.Unseen(name); !not || why.Cause != audit.CauseDenied || why.Permission == "" {
			t.Errorf("refused: %s: %+v", name, why)
		}
	}
}

func states(b audit.Bucket) map[audit.FactName]audit.State {
	return map[audit.FactName]audit.State{
		audit.FactVersioning: b.Versioning.State, audit.FactLifecycle: b.Lifecycle.State, audit.FactObjectLock: b.ObjectLock.State,
		audit.FactPublicAccessBlock: b.PublicAccessBlock.State, audit.FactPublicPolicy: b.PublicPolicy.State,
		audit.FactEncryption: b.Encryption.State, audit.FactUploads: b.Uploads.State,
	}
}

// Where the first answer says that the others will be the same, they are not
// asked for.
func TestObserveBucketGivesUp(t *testing.T) {
	for _, fails := range []string{"GetBucketVersioning", "GetBucketLifecycleConfiguration"} {
		f, _, s := seeded(t)
		f.Fault(func(r storetest.Request) *storetest.Fault {
			if r.Operation != fails {
				return nil
			}
			return &storetest.Fault{Kind: storetest.Refused, Status: 403, Code: "InvalidAccessKeyId"}
		})
		o := store.ObserveBucket(t.Context(), s)
		if n := len(f.Requests()); n > 2 || o.Uploads.WhyUnseen().Cause != audit.CauseCredentials || o.ObjectLock.WhyUnseen().Cause != audit.CauseCredentials {
			t.Errorf("%s: %d requests, uploads %+v", fails, n, o.Uploads.WhyUnseen())
		}
	}
}

// A control file that looks missing is looked at once more before anyone is told.
func TestSecondLookAtMissingFile(t *testing.T) {
	f, b, s := seeded(t)
	b.Purge(main + "/control/etcd-cluster-created")
	if o := observe(t, s); o.Created.State != audit.Unset {
		t.Errorf("missing twice: %+v", o.Created)
	}
	looks := 0
	for _, r := range f.Requests() {
		if strings.HasSuffix(r.Key, "etcd-cluster-created") {
			looks++
		}
	}
	if looks != 2 {
		t.Errorf("%d looks at the missing file, want 2", looks)
	}
}

// A file that was put back between the looks is there.
func TestSecondLookFindsWhatWasPutBack(t *testing.T) {
	f := storetest.NewFake(atNoon)
	b := f.CreateBucket("backups")
	putSnapshot(b, noon.Add(-time.Minute))
	s := open(t, f.URL(t))
	w := &between{Bucket: s, after: main + "/control/etcd-cluster-spec", do: func() {
		b.Put(main+"/control/etcd-cluster-created", []byte(`{"timestamp":1}`))
	}}
	if o := observe(t, w); !o.Created.IsSet() || o.Spec.IsSet() {
		t.Errorf("created %+v, spec %+v", o.Created.State, o.Spec.State)
	}
}

// between does something after the first read of a key.
type between struct {
	store.Bucket
	after string
	do    func()
}

func (b *between) Fork() store.Bucket { return b }

func (b *between) Get(ctx context.Context, key string, limit int64) (audit.Document, error) {
	d, err := b.Bucket.Get(ctx, key, limit)
	if key == b.after && b.do != nil {
		b.do()
		b.do = nil
	}
	return d, err
}

// What etcd-manager's cleanup removes while the store is listed is no orphan,
// and neither is a deleted command.
func TestSecondLookAtOrphans(t *testing.T) {
	_, b, s := seeded(t)
	gone := etcdmanager.FormatName(noon.Add(-46*time.Minute), 1)
	b.Purge(main + "/" + gone + "/_etcd_backup.meta") // the cleanup deletes the meta first
	w := &between{Bucket: s, after: main + "/control/etcd-cluster-created", do: func() { b.Purge(main + "/" + gone + "/etcd.backup.gz") }}
	o := observe(t, w)
	for _, s := range o.Listing.Value.Snapshots {
		if s.Name == gone {
			t.Errorf("%s is still an orphan: %+v", gone, s)
		}
	}
	if n := len(o.Listing.Value.Snapshots); n != 3 {
		t.Errorf("%d snapshots, want 3", n)
	}
}

// Many orphans are looked at by listing the store again, not one by one.
func TestManyOrphans(t *testing.T) {
	f, b, s := seeded(t)
	for i := range 30 {
		b.Put(main+"/"+etcdmanager.FormatName(noon.Add(-time.Duration(i+2)*time.Hour), 7)+"/etcd.backup.gz", []byte("x"), storetest.WithTime(noon.Add(-time.Duration(i+2)*time.Hour)))
	}
	o := observe(t, s)
	lists := 0
	for _, r := range f.Requests() {
		if r.Operation == "ListObjectsV2" {
			lists++
		}
	}
	if lists != 2 || len(o.Listing.Value.Snapshots) != 34 {
		t.Errorf("%d listings, %d snapshots; want 2 and 34", lists, len(o.Listing.Value.Snapshots))
	}
}

// An archived control file keeps the date that the listing gives it.
func TestArchivedControlFileKeepsItsDate(t *testing.T) {
	_, b, s := seeded(t)
	at := noon.Add(-90 * 24 * time.Hour)
	b.Put(main+"/control/etcd-cluster-created", []byte("{}"), storetest.WithTime(at), storetest.WithClass("GLACIER"))
	o := observe(t, s)
	if d := o.Created.Value; d.Unreadable == "" || !d.LastModified.Equal(at) || d.StorageClass != "GLACIER" {
		t.Errorf("created %+v", o.Created)
	}
}

// A queue of a million commands is not read to its end, and says so.
func TestQueueIsBounded(t *testing.T) {
	f, b, s := seeded(t)
	for i := range store.QueueLimit + 50 {
		b.Put(fmt.Sprintf("%s/control/%06d/_command.json", main, i), []byte(`{}`))
	}
	o := observe(t, s)
	if why, not := o.Unseen(audit.FactQueue); !not || why.Cause != audit.CauseTooBig {
		t.Errorf("queue: %v %v", why, not)
	}
	if n, _ := requests(f); n > store.QueueLimit+8 {
		t.Errorf("%d requests", n)
	}
}

// A document that is too big is not read, and unseen.
func TestBigSpecIsUnseen(t *testing.T) {
	_, b, s := seeded(t)
	b.Put(main+"/control/etcd-cluster-spec", make([]byte, store.DocumentLimit+1))
	if o := observe(t, s); o.Spec.Seen() || o.Spec.WhyUnseen().Cause != audit.CauseTooBig {
		t.Errorf("spec: %+v", o.Spec.WhyUnseen())
	}
}

// Tags are asked for only where a rule cannot be decided without them.
func TestTagsOnlyWhereNeeded(t *testing.T) {
	for rule, want := range map[string]int{
		`<Filter><Prefix></Prefix></Filter>`:                                                         0,
		`<Filter><Tag><Key>a</Key><Value>b</Value></Tag></Filter>`:                                   2,
		`<Filter><And><Prefix>other/</Prefix><Tag><Key>a</Key><Value>b</Value></Tag></And></Filter>`: 0,
	} {
		f, b, s := seeded(t)
		b.SetLifecycle([]byte(`<LifecycleConfiguration><Rule><ID>r</ID><Status>Enabled</Status>` + rule + `<Expiration><Days>9</Days></Expiration></Rule></LifecycleConfiguration>`))
		o := observe(t, s)
		n := 0
		for _, r := range f.Requests() {
			if r.Operation == "GetObjectTagging" {
				n++
			}
		}
		if n != want || want > 0 && !o.Created.Value.Tags.IsSet() {
			t.Errorf("%s: tags asked for %d times, want %d (%+v)", rule, n, want, o.Created.Value.Tags)
		}
	}
}

func TestDiscover(t *testing.T) {
	snap := func(root string) string { return root + "/2026-01-15T11:00:00Z-000001/_etcd_backup.meta" }
	created := func(root string) string { return root + "/control/etcd-cluster-created" }
	spec := func(root string) string { return root + "/control/etcd-cluster-spec" }
	const events = "prod.example.com/backups/etcd/events"
	for name, c := range map[string]struct {
		keys   []string
		prefix string
		want   []string
	}{
		"nothing":                          {nil, "", nil},
		"other things":                     {[]string{"prod.example.com/config", "a/control/x", "manual/_etcd_backup.meta"}, "", nil},
		"control files alone":              {[]string{created(main), spec(main)}, "", []string{main}},
		"a snapshot alone":                 {[]string{snap(main)}, "", []string{main}},
		"data alone":                       {[]string{main + "/2026-01-15T11:00:00Z-000001/etcd.backup.gz"}, "", []string{main}},
		"a queued command alone":           {[]string{main + "/control/2026-01-15T11:00:00Z-000000/_command.json"}, "", []string{main}},
		"several":                          {[]string{created(main), snap(main), created(events), "other/backups/etcd-main/control/etcd-cluster-spec"}, "", []string{"other/backups/etcd-main", events, main}},
		"below the prefix only":            {[]string{created(main), created(events)}, events, []string{events}},
		"a prefix is a folder":             {[]string{created("prod"), created("prod2")}, "prod", []string{"prod"}},
		"the whole bucket is one":          {[]string{"control/etcd-cluster-spec", "2026-01-15T11:00:00Z-000001/_etcd_backup.meta"}, "", []string{""}},
		"below a store, the store":         {[]string{created(main), spec(main)}, main + "/control", []string{main}},
		"a tree inside a store is its":     {[]string{created(main), snap(main), snap(main + "/old-copy")}, "", []string{main}},
		"but for one with control files":   {[]string{created(main), snap(main), snap(main + "/events"), created(main + "/events")}, "", []string{main, main + "/events"}},
		"a stray spec hides no armed one":  {[]string{spec("prod.example.com"), snap(main)}, "", []string{"prod.example.com", main}},
		"nor does a store at the top":      {[]string{"control/etcd-cluster-created", "2026-01-15T11:00:00Z-000001/_etcd_backup.meta", snap(main)}, "", []string{"", main}},
		"also one that sorts before it":    {[]string{created(main), snap(main), snap(main + "/0ld")}, "", []string{main}},
		"misplaced control hides nothing":  {[]string{"control/etcd-cluster-spec", created(main), snap(main)}, "", []string{"", main}},
		"misplaced snapshot hides nothing": {[]string{snap("prod.example.com"), created(main), snap(main)}, "", []string{"prod.example.com", main}},
	} {
		t.Run(name, func(t *testing.T) {
			f := storetest.NewFake(atNoon)
			b := f.CreateBucket("backups")
			for _, k := range c.keys {
				b.Put(k, []byte("x"))
			}
			got, err := store.Discover(t.Context(), open(t, f.URL(t)), c.prefix, 8)
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("Discover = %q, %v, want %q", got, err, c.want)
			}
		})
	}
}

// A store of which nothing is left but delete markers is found all the same.
func TestDiscoverDeleted(t *testing.T) {
	f := storetest.NewFake(atNoon)
	b := f.CreateBucket("backups")
	b.SetVersioning("Enabled")
	b.Put(main+"/control/etcd-cluster-created", []byte("x"))
	b.Delete(main + "/control/etcd-cluster-created")
	got, err := store.Discover(t.Context(), open(t, f.URL(t)), "", 8)
	if err != nil || !slices.Equal(got, []string{main}) {
		t.Errorf("Discover = %q, %v", got, err)
	}
}

// A folder full of snapshots above a store does not hide it.
func TestDiscoverBelowManySnapshots(t *testing.T) {
	f := storetest.NewFake(atNoon)
	b := f.CreateBucket("backups")
	for i := range 1500 {
		b.Put(fmt.Sprintf("prod.example.com/%s/_etcd_backup.meta", etcdmanager.FormatName(noon.Add(-time.Duration(i)*time.Minute), i)), []byte("x"))
	}
	b.Put(main+"/control/etcd-cluster-created", []byte("x"))
	b.Put("z/backups/etcd/main/control/etcd-cluster-spec", []byte("x"))
	got, err := store.Discover(t.Context(), open(t, f.URL(t)), "", 8)
	if want := []string{"prod.example.com", main, "z/backups/etcd/main"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("Discover = %q, %v, want %q", got, err, want)
	}
}

// An answer that is shorter than the object that was listed is no empty file.
func TestShortAnswerIsUnseen(t *testing.T) {
	for name, body := range map[string][]byte{"empty": nil, "another document": []byte("<html></html>")} {
		f, _, s := seeded(t)
		f.Fault(func(r storetest.Request) *storetest.Fault {
			if r.Operation == "GetObject" && strings.HasSuffix(r.Key, "etcd-cluster-created") {
				return &storetest.Fault{Kind: storetest.Foreign, Body: append([]byte{}, body...)}
			}
			return nil
		})
		if o := observe(t, s); o.Created.Seen() {
			t.Errorf("%s: created is %s: %q", name, o.Created.State, o.Created.Value.Body)
		}
	}
}
