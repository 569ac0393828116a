package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"backstop/audit"
	"backstop/store/etcdmanager"
	"backstop/store/storetest"
)

// What situations are made of: buckets in a fake S3, kops's documents, and stores
// to which things happen in the order in which they are told. A length of time
// says how long ago something happened.

const (
	minute = time.Minute
	hour   = time.Hour
	day    = audit.Day
)

// A scene is all that there is in one situation.
type scene struct {
	t    *testing.T
	now  time.Time // by S3's clock
	off  time.Duration
	fake *storetest.Fake
	// endpoint is where the fake listens, once somebody has looked.
	endpoint string
	state    *storetest.Bucket // s3://kops-state
	server   *storetest.Server // nil for AWS
	places   []string          // STORE arguments; the state store if there are none
	flags    []string
	config   string
	fault    func(storetest.Request) *storetest.Fault
}

// newScene is a state store without clusters, in a bucket that is well kept, on a
// Monday at noon.
func newScene(t *testing.T) *scene {
	w := &scene{t: t, now: at("2026-11-30T12:00:00Z")}
	w.fake = storetest.NewFake(func() time.Time { return w.now })
	w.state = w.bucket("kops-state")
	return w
}

// bucket makes a bucket with which nothing is wrong: versioned, encrypted,
// closed, and without lifecycle rules.
func (w *scene) bucket(name string) *storetest.Bucket {
	b := w.fake.CreateBucket(name)
	b.SetVersioning("Enabled")
	b.Configure(wellKept())
	return b
}

func (w *scene) ago(d time.Duration) time.Time { return w.now.Add(-d) }

// when is the option that dates an object.
func (w *scene) when(ago time.Duration) storetest.Option { return storetest.WithTime(w.ago(ago)) }

// lifecycle sets the rules of the state store's bucket.
func (w *scene) lifecycle(rules string) {
	w.state.SetLifecycle([]byte("<LifecycleConfiguration>" + rules + "</LifecycleConfiguration>"))
}

// ourClockIs sets the auditor's clock off S3's. Requests are signed by the
// machine's clock, so that is ours here, and S3 refuses what is signed for
// another time than its own.
func (w *scene) ourClockIs(off time.Duration) {
	w.off = off
	w.now = time.Now().UTC().Truncate(time.Second).Add(-off)
	w.fake.CheckTime()
}

// look runs backstop, and gives its report.
func (w *scene) look() (audit.Report, result) {
	w.t.Helper()
	if w.endpoint == "" {
		w.endpoint = w.fake.URL(w.t)
	}
	endpoint := w.endpoint
	args := append([]string{"audit", "-o", "json"}, w.flags...)
	client := &http.Client{Transport: toFake{endpoint}}
	if w.server != nil {
		w.fake.Be(*w.server)
		args = append(args, "--endpoint-url", endpoint)
		client = &http.Client{}
	}
	if w.fault != nil {
		w.fake.Fault(w.fault)
	}
	if w.config != "" {
		name := filepath.Join(w.t.TempDir(), "backstop.yaml")
		if err := os.WriteFile(name, []byte("version: 1\nstores:\n"+w.config), 0o600); err != nil {
			w.t.Fatal(err)
		}
		args = append(args, "--config", name)
	} else if len(w.places) == 0 {
		w.places = []string{"s3://kops-state"}
	}
	var out, errs bytes.Buffer
	p := &program{ctx: w.t.Context(), stdout: &out, stderr: &errs, now: func() time.Time { return w.now.Add(w.off) },
		env:        func(string) (string, bool) { return "", false },
		testOnlyS3: func(o *s3Settings) { o.RetryDelay, o.HTTPClient = time.Millisecond, client }}
	res := result{code: p.run(append(args, w.places...))}
	res.stdout, res.stderr = out.String(), errs.String()
	var r audit.Report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		w.t.Fatalf("exit %d, not JSON (%v)\n%s\n%s", res.code, err, res.stdout, res.stderr)
	}
	w.holdToSchema(res.stdout)
	return r, res
}

// reportSchema is what docs promise of a report.
var reportSchema = sync.OnceValues(func() (*jsonschema.Schema, error) {
	return jsonschema.NewCompiler().Compile("../../docs/report.schema.json")
})

func (w *scene) holdToSchema(report string) {
	w.t.Helper()
	schema, err := reportSchema()
	if err != nil {
		w.t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(report))
	if err == nil {
		err = schema.Validate(doc)
	}
	if err != nil {
		w.t.Errorf("the report is not of its schema: %v", err)
	}
}

// toFake sends what is meant for AWS, where a bucket is the first part of the
// host's name, to a fake S3, where it is the first part of the path.
type toFake struct{ endpoint string }

func (t toFake) RoundTrip(r *http.Request) (*http.Response, error) {
	to, err := url.Parse(t.endpoint)
	if err != nil {
		return nil, err
	}
	bucket, _, ok := strings.Cut(r.URL.Hostname(), ".s3.")
	if !ok {
		return nil, fmt.Errorf("%s is none of AWS's buckets", r.URL.Host)
	}
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host, r.Host = to.Scheme, to.Host, to.Host
	path := r.URL.EscapedPath()
	r.URL.Path, r.URL.RawPath = "/"+bucket+r.URL.Path, "/"+bucket+path
	return http.DefaultTransport.RoundTrip(r)
}

// A tree is one backup store.
type tree struct {
	w       *scene
	b       *storetest.Bucket
	root    string
	members int
	version string
	hourly  time.Duration // how long the first snapshot of each hour is kept
	clock   time.Duration // the writer's clock less S3's
	taken   int           // snapshots so far
}

// kops writes the documents of a cluster that was applied when it was created.
func (w *scene) kops(name string, ago time.Duration, change ...func(c *clusterSpec)) clusterSpec {
	c := clusterSpec{name: name, created: w.ago(ago), members: 3, version: "3.5.30", retention: 60, hourly: "1d"}
	for _, f := range change {
		f(&c)
	}
	c.put(w.state, c.created)
	return c
}

// tree is the place of a store in the state store's bucket.
func (w *scene) tree(root string) *tree { return w.treeIn(w.state, root) }

func (w *scene) treeIn(b *storetest.Bucket, root string) *tree {
	return &tree{w: w, b: b, root: root, members: 3, version: "3.5.30", hourly: day}
}

const mainRoot = "prod.example.com/backups/etcd/main"

// cluster is a kops cluster and the store of its main etcd, in which nothing has
// happened yet.
func (w *scene) cluster(ago time.Duration, change ...func(c *clusterSpec)) *tree {
	w.kops("prod.example.com", ago, change...)
	return w.tree(mainRoot)
}

// prod is a cluster of 400 days with which all is well: three members, etcd
// 3.5.30, and the snapshots that kops has it keep: the first of each hour for a
// day, and of each day for sixty.
func (w *scene) prod(change ...func(c *clusterSpec)) *tree {
	return w.cluster(400*day, change...).lives(400 * day)
}

// lives makes a store whose cluster was born then, and is well.
func (s *tree) lives(ago time.Duration) *tree {
	return s.born(ago).ladder(min(ago, 60*day), time.Minute)
}

func (s *tree) key(parts ...string) string { return s.root + "/" + strings.Join(parts, "/") }

func (s *tree) put(path string, body []byte, ago time.Duration, more ...storetest.Option) *tree {
	s.b.Put(s.key(path), body, append(more, s.w.when(ago))...)
	return s
}

// born is the birth of a cluster: kops has written the spec a few minutes before,
// and etcd-manager writes both files.
func (s *tree) born(ago time.Duration) *tree {
	s.specBy("kops", ago+5*time.Minute, s.members, s.version)
	s.specBy("etcd-manager", ago, s.members, s.version)
	return s.created(ago, ago)
}

// created puts etcd-cluster-created, with the time of a birth inside.
func (s *tree) created(birth, ago time.Duration) *tree {
	return s.put(etcdmanager.CreatedPath, etcdmanager.FormatCreated(s.w.ago(birth)), ago)
}

// spec puts etcd-cluster-spec as kops does.
func (s *tree) spec(ago time.Duration, members int, version string) *tree {
	return s.specBy("kops", ago, members, version)
}

func (s *tree) specBy(who string, ago time.Duration, members int, version string) *tree {
	body := string(etcdmanager.FormatSpec(etcdmanager.ClusterSpec{MemberCount: int32(members), EtcdVersion: version}))
	if who == "etcd-manager" {
		body = strings.ReplaceAll(body, `": `, `":  `)
	}
	return s.put(etcdmanager.SpecPath, []byte(body), ago)
}

// loses deletes control files, as DeleteObject does.
func (s *tree) loses(ago time.Duration, paths ...string) *tree {
	for _, p := range paths {
		s.b.Delete(s.key(p), s.w.when(ago))
	}
	return s
}

// losesAll deletes everything, as `kops delete cluster` does.
func (s *tree) losesAll(ago time.Duration) *tree {
	for _, key := range s.b.Keys() {
		if strings.HasPrefix(key, s.root+"/") {
			s.b.Delete(key, s.w.when(ago))
		}
	}
	return s
}

// queues puts a restore command into the queue.
func (s *tree) queues(ago time.Duration, backup string) *tree {
	return s.queuesBody(ago, fmt.Sprintf(`{"timestamp":"%d","restoreBackup":{"clusterSpec":{"memberCount":%d,"etcdVersion":%q},"backup":%q}}`,
		s.w.ago(ago).UnixNano(), s.members, s.version, backup))
}

func (s *tree) queuesBody(ago time.Duration, body string) *tree {
	return s.put(etcdmanager.ControlDir+"/"+etcdmanager.FormatName(s.w.ago(ago), 0)+"/"+etcdmanager.CommandFile, []byte(body), ago)
}

// Snapshots have the bytes of real ones: of a cluster with some keys, and of an
// empty one.
var filledSnapshot, emptySnapshot = realSnapshots()

func realSnapshots() (filled, empty []byte) {
	files, err := storetest.Archive("healthy-etcd35")
	if err != nil {
		panic(err) // it is part of the test binary
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Key, etcdmanager.DataFile) {
			continue
		}
		if len(f.Body) > len(filled) {
			filled = f.Body
		}
		if empty == nil || len(f.Body) < len(empty) {
			empty = f.Body
		}
	}
	return filled, empty
}

// newest is the name of the newest snapshot.
func (s *tree) newest() string {
	var newest string
	for _, key := range s.b.Keys() {
		dir, _, _ := strings.Cut(strings.TrimPrefix(key, s.root+"/"), "/")
		if _, ok := etcdmanager.ParseName(dir); ok && strings.HasPrefix(key, s.root+"/") {
			newest = max(newest, dir)
		}
	}
	return newest
}

// takes takes snapshots.
func (s *tree) takes(ago ...time.Duration) *tree {
	for _, a := range ago {
		s.takesOne(a, filledSnapshot)
	}
	return s
}

// takesOne takes a snapshot of these bytes; data first and meta second, as
// etcd-manager does.
func (s *tree) takesOne(ago time.Duration, body []byte, more ...storetest.Option) *tree {
	s.taken++
	return s.takesNamed(etcdmanager.FormatName(s.w.ago(ago).Add(s.clock), s.taken), ago, body, more...)
}

func (s *tree) takesNamed(name string, ago time.Duration, body []byte, more ...storetest.Option) *tree {
	s.put(name+"/"+etcdmanager.DataFile, body, ago, more...)
	return s.put(name+"/"+etcdmanager.MetaFile, s.meta(name), ago-time.Second)
}

func (s *tree) meta(name string) []byte {
	taken, _ := etcdmanager.ParseName(name)
	return fmt.Appendf(nil, "{\n  \"etcdVersion\":  %q,\n  \"timestamp\":  \"%d\",\n  \"clusterSpec\":  {\n    \"memberCount\":  %d,\n    \"etcdVersion\":  %q\n  }\n}", s.version, taken.Unix(), s.members, s.version)
}

// ladder takes a snapshot every quarter of an hour from a time on until another,
// of which those are left that etcd-manager's cleanup leaves: all of the last
// hour, the first of each hour for a time, and the first of each day.
func (s *tree) ladder(from, to time.Duration) *tree {
	var ages []time.Duration
	kept := map[time.Time]bool{}
	step := 15 * time.Minute
	for a := from - from%step + to%step; a >= to; a -= step {
		slot := s.w.ago(a).Truncate(time.Hour)
		if a-to >= s.hourly {
			slot = s.w.ago(a).Truncate(day)
		}
		if a-to >= time.Hour && kept[slot] {
			continue
		}
		kept[slot] = true
		ages = append(ages, a)
	}
	return s.takes(ages...)
}

// stops removes the snapshots since a time, as if none had been taken.
func (s *tree) stops(ago time.Duration) *tree {
	for _, key := range s.b.Keys() {
		dir, _, _ := strings.Cut(strings.TrimPrefix(key, s.root+"/"), "/")
		if t, ok := etcdmanager.ParseName(dir); ok && strings.HasPrefix(key, s.root+"/") && t.After(s.w.ago(ago)) {
			s.b.Purge(key)
		}
	}
	return s
}

// copiesTo copies the current objects to another place, as `aws s3 sync` does: all
// of them have the time of the copy.
func (s *tree) copiesTo(b *storetest.Bucket, root string, ago time.Duration, skip ...string) *tree {
	for _, key := range s.b.Keys() {
		rel, ok := strings.CutPrefix(key, s.root+"/")
		if o, there := s.b.Stat(key); ok && there && !slices.ContainsFunc(skip, func(p string) bool { return strings.HasPrefix(rel, p) }) {
			b.Put(root+"/"+rel, o.Body, s.w.when(ago))
		}
	}
	to := *s
	to.b, to.root = b, root
	return &to
}

// replicatesTo copies the current objects as S3's replication does: times stay.
func (s *tree) replicatesTo(b *storetest.Bucket) *tree {
	for _, key := range s.b.Keys() {
		if o, ok := s.b.Stat(key); ok && strings.HasPrefix(key, s.root+"/") {
			b.Put(key, o.Body, storetest.WithTime(o.Time))
		}
	}
	to := *s
	to.b = b
	return &to
}

// resetOnPurpose makes a new cluster two hours ago, as a person does who wants an
// empty one: created is deleted, and etcd-manager finds a spec without it.
func (s *tree) resetOnPurpose() *tree {
	s.stops(2*hour).loses(2*hour+30*time.Second, etcdmanager.CreatedPath).specBy("etcd-manager", 2*hour, s.members, s.version).created(2*hour, 2*hour)
	return s.takesOne(2*hour-time.Second, emptySnapshot).takesOne(105*minute, emptySnapshot).takes(90*minute, 75*minute, hour, 45*minute, 30*minute, 15*minute, minute)
}

// event is how a birth is named in acknowledgements.
func (s *tree) event(birth time.Duration) string { return fmt.Sprint(s.w.ago(birth).UnixNano()) }
