package storetest

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"
)

// A Fake is an S3 in memory. It answers the reading calls that an auditor may
// make as AWS documents them, and 501 NotImplemented to everything else: a
// fake that ignores what it does not know makes tests pass that should not.
// Nothing can be written over HTTP; buckets are filled with Go methods.
//
// It speaks path style only, and checks that requests are signed but not the
// signatures. Its methods are safe for concurrent use.
type Fake struct {
	clock func() time.Time

	mu        sync.Mutex
	buckets   map[string]*Bucket
	requests  []Request
	asked     map[string]int // how often, by method and URL
	fault     func(Request) *Fault
	anonymous bool
	checkTime bool
	pageSize  int
	latency   time.Duration
	closed    chan struct{}
}

// NewFake makes an S3 without buckets, whose clock is clock: it gives the Date
// of answers, and LastModified to what is put.
func NewFake(clock func() time.Time) *Fake {
	return &Fake{clock: clock, buckets: map[string]*Bucket{}, asked: map[string]int{}, pageSize: 1000, closed: make(chan struct{})}
}

// Start serves the fake on a free port of the loopback interface and gives its
// URL. Stop ends it, and whatever it is stalling; it cannot be started again.
func (f *Fake) Start() (endpoint string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("start fake S3: %w", err)
	}
	srv := &http.Server{Handler: f, ReadHeaderTimeout: time.Minute}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(l) // it ends with ErrServerClosed
	}()
	var once sync.Once
	return "http://" + l.Addr().String(), func() {
		once.Do(func() {
			close(f.closed)
			_ = srv.Close() // nothing is left to save
			<-done
		})
	}, nil
}

// URL starts the fake for the time of a test.
func (f *Fake) URL(tb testing.TB) string {
	tb.Helper()
	endpoint, stop, err := f.Start()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(stop)
	return endpoint
}

// AllowAnonymous lets unsigned requests in.
func (f *Fake) AllowAnonymous() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.anonymous = true
}

// SetPageSize sets how many entries a page of a listing has at most. It is 1000
// as in S3 until it is set.
func (f *Fake) SetPageSize(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pageSize = n
}

// SetLatency makes every answer come so much later than the request.
func (f *Fake) SetLatency(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.latency = d
}

// CreateBucket makes an empty bucket that was never versioned, in us-east-1.
// One of that name that exists is replaced.
func (f *Fake) CreateBucket(name string) *Bucket {
	f.mu.Lock()
	defer f.mu.Unlock()
	b := &Bucket{fake: f, name: name, keys: map[string][]*version{}, denied: map[string]bool{}, sizeDefault: "all_storage_classes_128K"}
	f.buckets[name] = b
	return b
}

// Bucket gives the bucket of that name, or nil.
func (f *Fake) Bucket(name string) *Bucket {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.buckets[name]
}

// Digest sums up everything that the fake holds. It is the same before and
// after whatever only reads.
func (f *Fake) Digest() string {
	h := sha256.New()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(f.buckets)) {
		fmt.Fprintln(h, f.buckets[name].dump())
	}
	return hex.EncodeToString(h.Sum(nil))
}

// A Bucket is a bucket of a Fake.
type Bucket struct {
	fake *Fake // its mutex guards the bucket too
	name string

	keys       map[string][]*version // newest first
	order      []string              // the keys, sorted; nil when that is to be done
	made       int                   // versions so far, for their ids
	versioning string
	lifecycle  []byte
	// sizeDefault is the header that S3 sends with the lifecycle rules.
	sizeDefault string
	settings    Settings
	region      string
	denied      map[string]bool // IAM actions and operations
	listOnly    *string
	expiration  func(Object) string
}

// An Object is what to put into a bucket, and what comes out of it.
type Object struct {
	Key  string
	Body []byte
	// Time is LastModified, in whole seconds as S3 keeps it; zero means the
	// fake's clock.
	Time time.Time
	// Class is the storage class; empty means STANDARD. An object in GLACIER
	// or DEEP_ARCHIVE cannot be read.
	Class string
	Tags  map[string]string
	// VersionID is made up when it is empty and the bucket is versioned.
	VersionID string
	// Marker makes it a delete marker, which has no body.
	Marker bool
	// Size is what listings say, where that is not the length of Body: for
	// objects that are too large for a test, and that nobody reads.
	Size int
	// Refusal is the S3 error code, as "AccessDenied" or
	// "KMS.DisabledException", with which a GET is refused; see [SealedBy].
	Refusal, RefusalMessage string
}

type version struct {
	Object
	etag string
}

// size is what listings tell.
func (v *version) size() int {
	if v.Size != 0 {
		return v.Size
	}
	return len(v.Body)
}

// An Option says more of an object to put.
type Option func(*Object)

// WithTime sets LastModified.
func WithTime(t time.Time) Option { return func(o *Object) { o.Time = t } }

// WithClass sets the storage class.
func WithClass(class string) Option { return func(o *Object) { o.Class = class } }

// WithTags sets the tags.
func WithTags(tags map[string]string) Option { return func(o *Object) { o.Tags = tags } }

// WithSize sets the size that listings tell.
func WithSize(n int) Option { return func(o *Object) { o.Size = n } }

// WithVersionID sets the version id.
func WithVersionID(id string) Option { return func(o *Object) { o.VersionID = id } }

// SealedBy refuses to read the object with an error code of KMS, or with
// AccessDenied and the message that S3 gives to one who may read the object
// but not use its key.
func SealedBy(code string) Option {
	return func(o *Object) {
		o.Refusal, o.RefusalMessage = code, "The key of the object cannot be used."
		if code == "AccessDenied" {
			o.RefusalMessage = "User: arn:aws:iam::111122223333:role/auditor is not authorized to perform: kms:Decrypt on the resource " +
				"associated with this ciphertext because no identity-based policy allows the kms:Decrypt action"
		}
	}
}

// Put writes an object as PutObject does, and gives its version id: "null" in
// a bucket that is not versioned, or no longer.
func (b *Bucket) Put(key string, body []byte, options ...Option) string {
	o := Object{Key: key, Body: slices.Clone(body)}
	for _, set := range options {
		set(&o)
	}
	return b.Add(o)
}

// Delete deletes a key as DeleteObject does: with versioning it puts a delete
// marker on top, and gives its version id.
func (b *Bucket) Delete(key string, options ...Option) string {
	o := Object{Key: key, Marker: true}
	for _, set := range options {
		set(&o)
	}
	return b.Add(o)
}

// Add puts o on top of the versions of its key, or deletes the key where o is
// a delete marker and the bucket was never versioned.
func (b *Bucket) Add(o Object) string {
	b.fake.mu.Lock()
	defer b.fake.mu.Unlock()
	b.made++
	if o.Time.IsZero() {
		o.Time = b.fake.clock()
	}
	o.Time = o.Time.UTC().Truncate(time.Second)
	if b.versioning != "Enabled" {
		o.VersionID = "null"
		b.drop(o.Key, "null")
	} else if o.VersionID == "" {
		// Ids of S3 say nothing of their order, and these do not either.
		sum := sha256.Sum256(fmt.Append(nil, b.name, b.made))
		o.VersionID = base64.RawURLEncoding.EncodeToString(sum[:24])
	}
	if o.Marker && b.versioning == "" {
		return ""
	}
	v := &version{Object: o}
	if !o.Marker {
		sum := md5.Sum(o.Body)
		v.etag = `"` + hex.EncodeToString(sum[:]) + `"`
	}
	if _, known := b.keys[o.Key]; !known {
		b.order = nil
	}
	b.keys[o.Key] = slices.Insert(b.keys[o.Key], 0, v)
	return o.VersionID
}

// SetContents puts contents into the bucket.
func (b *Bucket) SetContents(c Contents) {
	if c.Versioning != "" {
		b.SetVersioning("Enabled")
	}
	for _, o := range c.Objects {
		b.Add(o)
	}
	b.SetVersioning(c.Versioning)
	b.SetLifecycle(c.Lifecycle)
	b.Configure(c.Settings)
}

// Configure sets what the bucket says of itself besides versioning and
// lifecycle. The fake does not act on it.
func (b *Bucket) Configure(s Settings) {
	b.fake.mu.Lock()
	defer b.fake.mu.Unlock()
	b.settings = s
}

// DeleteVersion removes one version, or one delete marker, for good.
func (b *Bucket) DeleteVersion(key, id string) {
	b.fake.mu.Lock()
	defer b.fake.mu.Unlock()
	b.drop(key, id)
}

func (b *Bucket) drop(key, id string) {
	left := slices.DeleteFunc(b.keys[key], func(v *version) bool { return v.VersionID == id })
	if len(left) == 0 {
		if _, known := b.keys[key]; known {
			delete(b.keys, key)
			b.order = nil
		}
		return
	}
	b.keys[key] = left
}

// SetVersioning sets versioning to "Enabled" or "Suspended", or with "" to
// never on.
func (b *Bucket) SetVersioning(status string) {
	b.fake.mu.Lock()
	defer b.fake.mu.Unlock()
	b.versioning = status
}

// SetLifecycle sets the lifecycle configuration, as XML; nil removes it. The
// fake does not act on it.
func (b *Bucket) SetLifecycle(xml []byte) {
	b.fake.mu.Lock()
	defer b.fake.mu.Unlock()
	b.lifecycle = slices.Clone(xml)
}

// SetTransitionSizeDefault sets what is said of small objects beside the
// lifecycle rules. A new bucket says all_storage_classes_128K, as on AWS; empty
// says nothing, as other servers do.
func (b *Bucket) SetTransitionSizeDefault(mode string) {
	b.fake.mu.Lock()
	defer b.fake.mu.Unlock()
	b.sizeDefault = mode
}

// SetExpiration sets what gives the x-amz-expiration header of an object;
// empty gives none.
func (b *Bucket) SetExpiration(header func(Object) string) {
	b.fake.mu.Lock()
	defer b.fake.mu.Unlock()
	b.expiration = header
}

// SetRegion moves the bucket: from then on a request that is signed for
// another region is answered with a redirect to this one.
func (b *Bucket) SetRegion(region string) {
	b.fake.mu.Lock()
	defer b.fake.mu.Unlock()
	b.region = region
}

// Deny refuses operations, named as IAM does ("s3:ListBucket") or as the API
// does ("ListObjectsV2"). As in S3, one who may not list is answered 403 when
// he reads an object that does not exist.
func (b *Bucket) Deny(operations ...string) {
	b.fake.mu.Lock()
	defer b.fake.mu.Unlock()
	for _, op := range operations {
		b.denied[op] = true
	}
}

// DenyListExceptPrefix refuses listings but those of prefixes that begin with
// this one, as a policy with the condition s3:prefix does.
func (b *Bucket) DenyListExceptPrefix(prefix string) {
	b.fake.mu.Lock()
	defer b.fake.mu.Unlock()
	b.listOnly = &prefix
}

// Keys gives the keys of the current objects, sorted.
func (b *Bucket) Keys() []string {
	b.fake.mu.Lock()
	defer b.fake.mu.Unlock()
	keys := []string{}
	for _, key := range b.sorted("") {
		if b.current(key) != nil {
			keys = append(keys, key)
		}
	}
	return keys
}

// Dump describes everything in the bucket, one version a line.
func (b *Bucket) Dump() string {
	b.fake.mu.Lock()
	defer b.fake.mu.Unlock()
	return b.dump()
}

func (b *Bucket) dump() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s versioning=%q lifecycle=%q settings=%+v\n", b.name, b.versioning, b.lifecycle, b.settings)
	for _, key := range b.sorted("") {
		for _, v := range b.keys[key] {
			fmt.Fprintf(&s, "%q %s %s %d bytes %s class=%q tags=%q marker=%t\n",
				key, v.VersionID, v.Time.Format(time.RFC3339), len(v.Body), v.etag, v.Class, v.Tags, v.Marker)
		}
	}
	return s.String()
}

// sorted gives the keys that begin with prefix, current or not, in the order
// of their bytes. Nobody may change what it gives.
func (b *Bucket) sorted(prefix string) []string {
	if b.order == nil {
		b.order = slices.Sorted(maps.Keys(b.keys))
	}
	from := sort.SearchStrings(b.order, prefix)
	below := b.order[from:]
	return below[:sort.Search(len(below), func(i int) bool { return !strings.HasPrefix(below[i], prefix) })]
}

// current gives the current object of a key, or nil when there is none or it
// is deleted.
func (b *Bucket) current(key string) *version {
	if vs := b.keys[key]; len(vs) > 0 && !vs[0].Marker {
		return vs[0]
	}
	return nil
}
