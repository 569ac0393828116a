package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"backstop/audit"
	"backstop/rules/lifecycle"
	"backstop/store/etcdmanager"
)

// Limits of what is read of one store, so that a mistake in it, or malice, does
// not fill the auditor's memory. The documents have 33 to 300 bytes when
// etcd-manager and kops write them.
const (
	DocumentLimit = 1 << 20 // bytes of a control file, a meta file or a command
	QueueLimit    = 100     // queued commands that are read
	versionLimit  = 1000    // versions of the control files that are kept
	countLimit    = 10_000  // versions of the whole store that are counted
)

// ObserveBucket looks at what is true of the bucket as a whole. It is asked once
// for each bucket, and goes into the observation of each of its stores.
func ObserveBucket(ctx context.Context, b Bucket) audit.Bucket {
	seen := audit.Bucket{Name: b.Name()}
	v, err := b.Versioning(ctx)
	switch {
	case err != nil:
		seen.Versioning = audit.Unknown[string](why(err))
	case v.Status == "":
		seen.Versioning = audit.None[string]()
	default:
		seen.Versioning, seen.MFADelete = audit.Is(v.Status), v.MFADelete
	}
	dead := err // what every other answer will be, if it is fatal
	seen.Lifecycle = ask(ctx, dead, func(ctx context.Context) (audit.Document, error) {
		l, err := b.Lifecycle(ctx)
		dead, seen.TransitionSizeDefault = err, l.TransitionSizeDefault
		return audit.Document{Body: l.Body}, err
	})
	if !fatal(dead) {
		seen.Region = b.Region()
	}
	// The rest is asked at once, so that a server which hangs at what it does
	// not know costs one time limit and not five.
	var g errgroup.Group
	g.Go(func() error { seen.ObjectLock = ask(ctx, dead, b.ObjectLock); return nil })
	g.Go(func() error { seen.PublicAccessBlock = ask(ctx, dead, b.PublicAccessBlock); return nil })
	g.Go(func() error { seen.PublicPolicy = ask(ctx, dead, b.PolicyStatus); return nil })
	g.Go(func() error { seen.Encryption = ask(ctx, dead, b.Encryption); return nil })
	g.Go(func() error {
		seen.Uploads = ask(ctx, dead, func(ctx context.Context) (audit.Uploads, error) { return b.Uploads(ctx, "") })
		return nil
	})
	_ = g.Wait() // what could not be seen is in the facts
	return seen
}

// ask makes a fact of what the bucket answers, unless an earlier answer was
// fatal.
func ask[T any](ctx context.Context, earlier error, what func(context.Context) (T, error)) audit.Fact[T] {
	if fatal(earlier) {
		return audit.Unknown[T](why(earlier))
	}
	v, err := what(ctx)
	switch {
	case errors.Is(err, ErrMissing):
		return audit.None[T]()
	case err != nil:
		return audit.Unknown[T](why(err))
	}
	return audit.Is(v)
}

// fatal reports whether an error will repeat itself for every other request, so
// that the rest need not be asked.
func fatal(err error) bool {
	var e *Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Cause {
	case audit.CauseCredentials, audit.CauseNoBucket, audit.CauseUnreachable, audit.CauseRedirect:
		return true
	}
	return errors.Is(err, context.Canceled)
}

// Observe looks at one store. It never fails: what could not be seen is an
// unseen fact, with its reason. Beyond the pages of listings it makes at most
// six requests (two for each control file, the newest meta, the meta that a
// queued restore names), one for each queued command up to QueueLimit, and one
// for each control file's tags where a lifecycle rule asks for tags.
func Observe(ctx context.Context, b Bucket, bucket audit.Bucket, s audit.Store, now func() time.Time) *audit.Observation {
	return observe(ctx, b, bucket, s, now, nil, nil)
}

// observe is Observe where the listing may already have failed: unlisted is why.
// The control files may still tell something. Of proposed lifecycle configurations
// it is asked what they ask for.
func observe(ctx context.Context, b Bucket, bucket audit.Bucket, s audit.Store, now func() time.Time, unlisted error, proposed []lifecycle.Configuration) *audit.Observation {
	b = b.Fork()
	o := &audit.Observation{Schema: audit.ObservationSchema, Store: s, Bucket: bucket, Begun: now().UTC(), Kops: audit.None[audit.Kops]()}
	l := &look{ctx: ctx, b: b, o: o, now: now, unlisted: unlisted, proposed: proposed}
	if err := l.list(); fatal(err) {
		l.giveUp(err)
	} else if s.Layout == audit.LayoutCharm {
		l.withoutControl()
	} else {
		l.documents()
	}
	o.ClockOffset, o.Usage, o.Ended = b.ClockOffset(), b.Usage(), now().UTC()
	return o
}

// A look is one observation being made.
type look struct {
	ctx context.Context
	b   Bucket
	o   *audit.Observation
	now func() time.Time

	proposed []lifecycle.Configuration

	unlisted error                   // why no listing is possible, if that is known
	listed   map[string]audit.Object // control files and commands, by key, of a complete listing
}

// giveUp leaves everything unseen for one reason.
func (l *look) giveUp(err error) {
	w := why(err)
	l.o.Created, l.o.Spec = audit.Unknown[audit.Document](w), audit.Unknown[audit.Document](w)
	l.o.Queue = audit.Unknown[[]audit.Command](w)
	l.o.NewestMeta, l.o.RestoreMeta = audit.Unknown[audit.Document](w), audit.Unknown[audit.Document](w)
	l.o.ControlVersions, l.o.Versions = audit.Unknown[[]audit.Version](w), audit.Unknown[audit.Versions](w)
}

// documents reads what the listing showed. The second looks come last, so that
// some time has passed since the first.
func (l *look) documents() {
	created := l.control(etcdmanager.CreatedPath)
	spec := l.control(etcdmanager.SpecPath)
	l.queue()
	l.metas()
	l.versions()
	l.o.Created = l.again(etcdmanager.CreatedPath, created)
	l.o.Spec = l.again(etcdmanager.SpecPath, spec)
	l.orphans()
	l.tags(&l.o.Created)
	l.tags(&l.o.Spec)
}

// list makes the complete listing. The error is what ended it early.
func (l *look) list() error {
	if l.unlisted != nil {
		l.o.Listing = audit.Unknown[audit.Listing](why(l.unlisted))
		return l.unlisted
	}
	var c collector
	root := dirPrefix(l.o.Store.Prefix)
	for obj, err := range l.b.List(l.ctx, ListInput{Prefix: root}) {
		if err != nil {
			l.o.Listing = audit.Unknown[audit.Listing](why(err))
			return err
		}
		if l.o.Store.Layout == audit.LayoutCharm {
			c.addCharm(strings.TrimPrefix(obj.Key, root), obj)
			continue
		}
		c.add(strings.TrimPrefix(obj.Key, root), obj)
	}
	l.listed = map[string]audit.Object{}
	for _, obj := range c.Control {
		l.listed[obj.Key] = obj
	}
	l.o.Listing = audit.Is(c.listing())
	return nil
}

func (l *look) isListed(key string) bool { _, ok := l.listed[key]; return ok }

// A collector sorts the objects of a listing by what they are.
type collector struct {
	audit.Listing
	commands int
	byName   map[string]int // index in Snapshots
}

func (c *collector) add(rel string, obj audit.Object) {
	c.Objects++
	c.Bytes += obj.Size
	kind, name := etcdmanager.Classify(rel)
	switch kind {
	case etcdmanager.Created, etcdmanager.Spec:
		c.Control = append(c.Control, obj)
	case etcdmanager.QueuedCommand:
		if c.commands++; c.commands <= QueueLimit+1 {
			c.Control = append(c.Control, obj)
		}
	case etcdmanager.Data:
		c.snapshot(name).Data = &obj
	case etcdmanager.Meta:
		c.snapshot(name).Meta = &obj
	default:
		if c.StrayCount++; c.StrayCount <= audit.StrayLimit {
			c.Strays = append(c.Strays, obj)
		}
	}
}

func (c *collector) snapshot(name string) *audit.Snapshot {
	i, ok := c.byName[name]
	if !ok {
		if c.byName == nil {
			c.byName = map[string]int{}
		}
		i = len(c.Snapshots)
		c.byName[name] = i
		taken, _ := etcdmanager.ParseName(name)
		c.Snapshots = append(c.Snapshots, audit.Snapshot{Name: name, Taken: taken})
	}
	return &c.Snapshots[i]
}

func (c *collector) listing() audit.Listing {
	slices.SortFunc(c.Snapshots, func(a, b audit.Snapshot) int { return cmp.Compare(a.Name, b.Name) })
	return c.Listing
}

// control reads one control file.
func (l *look) control(path string) audit.Fact[audit.Document] {
	key := l.o.Store.Key(path)
	doc, err := l.b.Get(l.ctx, key, DocumentLimit)
	switch {
	case err == nil:
		listed, ok := l.listed[key]
		switch {
		case ok && doc.Unreadable != "":
			doc.Object = listed // a refusal tells neither size nor time
		case ok && differs(listed, doc):
			return audit.Unknown[audit.Document](audit.Why{Cause: audit.CauseMalformed,
				Reason: fmt.Sprintf("read %s: %d bytes came, and the listing shows %d of the same object", l.b.URL(key), len(doc.Body), listed.Size)})
		}
		return audit.Is(doc)
	case errors.Is(err, ErrMissing):
		return audit.None[audit.Document]()
	case l.o.Listing.IsSet() && !l.isListed(key):
		// S3 answers 403 for a key that is not there to whoever may not list
		// the bucket, or may list only part of it. The complete listing is
		// the better witness.
		return audit.None[audit.Document]()
	}
	return audit.Unknown[audit.Document](why(err))
}

// differs reports whether what was read is not the object that was listed, though
// it has the same date: an answer that a proxy cut short or made up. One that was
// written in between has another date.
func differs(listed audit.Object, doc audit.Document) bool {
	return listed.Size != int64(len(doc.Body)) &&
		listed.LastModified.Truncate(time.Second).Equal(doc.LastModified.Truncate(time.Second))
}

// again takes a second look at a control file that looked missing, before
// anyone is woken for it. A second look that fails does not unmake the first,
// save where the listing had shown the file.
func (l *look) again(path string, first audit.Fact[audit.Document]) audit.Fact[audit.Document] {
	if first.State != audit.Unset {
		return first
	}
	return l.control(path)
}

// queue reads the queued commands.
func (l *look) queue() {
	if !l.o.Listing.IsSet() {
		l.o.Queue = audit.Unknown[[]audit.Command](*l.o.Listing.Why)
		return
	}
	queue := []audit.Command{}
	for _, obj := range l.o.Listing.Value.Control {
		rel := strings.TrimPrefix(obj.Key, dirPrefix(l.o.Store.Prefix))
		if kind, _ := etcdmanager.Classify(rel); kind != etcdmanager.QueuedCommand {
			continue
		}
		if len(queue) == QueueLimit {
			queue = append(queue, audit.Command{Object: obj, Body: audit.Unknown[audit.Document](audit.Why{
				Cause:  audit.CauseTooBig,
				Reason: "the queue holds more commands than are read (" + l.b.URL(obj.Key) + " and what follows it)",
			})})
			break
		}
		doc, err := l.b.Get(l.ctx, obj.Key, DocumentLimit)
		switch {
		case err == nil:
			queue = append(queue, audit.Command{Object: obj, Body: audit.Is(doc)})
		case errors.Is(err, ErrMissing): // carried out, or removed, since it was listed
		default:
			queue = append(queue, audit.Command{Object: obj, Body: audit.Unknown[audit.Document](why(err))})
		}
	}
	l.o.Queue = audit.Is(queue)
}

// metas reads the meta of the newest snapshot, and of the one that etcd-manager
// would restore.
func (l *look) metas() {
	if !l.o.Listing.IsSet() {
		w := *l.o.Listing.Why
		l.o.NewestMeta, l.o.RestoreMeta = audit.Unknown[audit.Document](w), audit.Unknown[audit.Document](w)
		return
	}
	l.o.NewestMeta, l.o.RestoreMeta = audit.None[audit.Document](), audit.None[audit.Document]()
	newest, _, ok := l.o.Listing.Value.Newest(l.now())
	if ok {
		l.o.NewestMeta = l.meta(newest)
	}
	if target := restoreTarget(l.o.Queue.Value); target != "" {
		for _, s := range l.o.Listing.Value.Snapshots {
			switch {
			case s.Name != target || s.Meta == nil:
			case s.Name == newest.Name:
				l.o.RestoreMeta = l.o.NewestMeta
			default:
				l.o.RestoreMeta = l.meta(s)
			}
		}
	}
}

func (l *look) meta(s audit.Snapshot) audit.Fact[audit.Document] {
	doc, err := l.b.Get(l.ctx, s.Meta.Key, DocumentLimit)
	if err != nil {
		return audit.Unknown[audit.Document](why(err))
	}
	return audit.Is(doc)
}

// restoreTarget names the snapshot that etcd-manager would restore; empty
// without a queued restore.
func restoreTarget(queue []audit.Command) string {
	bodies := make([][]byte, len(queue))
	for i, c := range queue {
		bodies[i] = c.Body.Value.Body
	}
	if i, cmd := etcdmanager.NextRestore(bodies); i >= 0 {
		return cmd.Restore.Backup
	}
	return ""
}

// manyOrphans is how many orphans are looked at one by one; if there are more,
// the whole store is listed again.
const manyOrphans = 3

// orphans takes a second look at snapshots of which one half is missing: an
// upload or etcd-manager's cleanup may have been under way, which writes the
// meta last and deletes it first.
func (l *look) orphans() {
	if !l.o.Listing.IsSet() {
		return
	}
	names := map[string]bool{}
	for _, s := range l.o.Listing.Value.Snapshots {
		if !s.Complete() && (s.Data == nil || l.now().Sub(s.Data.LastModified) > audit.UploadTime) {
			names[s.Name] = true
		}
	}
	if len(names) == 0 {
		return
	}
	prefixes := []string{dirPrefix(l.o.Store.Prefix)}
	if len(names) <= manyOrphans {
		prefixes = nil
		for name := range names {
			prefixes = append(prefixes, l.o.Store.Key(name)+"/")
		}
	}
	second, err := l.relist(prefixes)
	if err != nil {
		return // the first look stands
	}
	kept := l.o.Listing.Value.Snapshots[:0]
	for _, s := range l.o.Listing.Value.Snapshots {
		if !names[s.Name] {
			kept = append(kept, s)
			continue
		}
		if again, ok := second[s.Name]; ok {
			kept = append(kept, again)
		}
	}
	l.o.Listing.Value.Snapshots = kept
}

func (l *look) relist(prefixes []string) (map[string]audit.Snapshot, error) {
	var c collector
	root := dirPrefix(l.o.Store.Prefix)
	for _, p := range prefixes {
		for obj, err := range l.b.List(l.ctx, ListInput{Prefix: p}) {
			if err != nil {
				return nil, err
			}
			c.add(strings.TrimPrefix(obj.Key, root), obj)
		}
	}
	byName := map[string]audit.Snapshot{}
	for _, s := range c.Snapshots {
		byName[s.Name] = s
	}
	return byName, nil
}

// tags reads a control file's tags, where an enabled lifecycle rule, in force or
// proposed, matches it but for tags. etcd-manager and kops set none, so they are seldom needed.
func (l *look) tags(doc *audit.Fact[audit.Document]) {
	if !doc.IsSet() {
		return
	}
	doc.Value.Tags = audit.None[map[string]string]()
	config, _ := lifecycle.Parse(l.o.Bucket.Lifecycle.Value.Body) // without one, or with a bad one, nothing is asked
	needed := func(c lifecycle.Configuration) bool { return needsTags(c, doc.Value.Object) }
	if !needed(config) && !slices.ContainsFunc(l.proposed, needed) {
		return
	}
	tags, err := l.b.Tags(l.ctx, doc.Value.Key)
	if err != nil {
		doc.Value.Tags = audit.Unknown[map[string]string](why(err))
		return
	}
	doc.Value.Tags = audit.Is(tags)
}

// needsTags reports whether some rule's filter cannot be decided without tags.
func needsTags(c lifecycle.Configuration, o audit.Object) bool {
	v := lifecycle.Version{Key: o.Key, Size: o.Size, LastModified: o.LastModified, StorageClass: o.StorageClass}
	for _, r := range c.Rules {
		if r.Enabled() && r.Matches(v) == lifecycle.Unknown {
			return true
		}
	}
	return false
}
