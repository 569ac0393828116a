package forecast

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"backstop/audit"
	"backstop/rules/lifecycle"
	"backstop/store/etcdmanager"
)

// usualLag is how late S3 acts on a usual day. Each stage of a cascade that
// begins after midnight loses a day.
const usualLag = time.Hour

// A controlFile is one of the two, with what will happen to it.
type controlFile struct {
	path     string
	presence etcdmanager.Presence
	stack    []lifecycle.Version // newest first
	pending  []happening         // in the order in which they happen
	fate     Fate
}

// A happening is a lifecycle event of a control file.
type happening struct {
	lifecycle.Event
	late time.Time
}

// run is when it happens at the earliest, seen from a time.
func (h happening) run(now time.Time) time.Time { return h.Run(now) }

// takes reports whether readers lose the file by it.
func (h happening) takes() bool {
	return h.AllVersions || h.Kind == lifecycle.Expire || h.Kind == lifecycle.Hide ||
		h.Kind == lifecycle.Transition && h.Reader == lifecycle.Archived
}

// ofOldVersion reports whether it concerns what readers do not see.
func (h happening) ofOldVersion() bool {
	return !h.AllVersions && (h.Kind == lifecycle.DestroyNoncurrent || h.Kind == lifecycle.RemoveMarker)
}

// stackOf gives the version stack of a control file: from the listing of
// versions, with the document that was read on top.
func stackOf(o *audit.Observation, path string, doc audit.Fact[audit.Document]) []lifecycle.Version {
	key := o.Store.Key(path)
	var stack []lifecycle.Version
	for _, v := range o.ControlVersions.Value {
		if v.Key == key {
			stack = append(stack, lifecycle.Version{Key: key, VersionID: v.VersionID, Size: v.Size, LastModified: v.LastModified,
				DeleteMarker: v.Marker, StorageClass: v.StorageClass})
		}
	}
	current, ok := currentOf(o, key, doc)
	switch {
	case !ok && len(stack) > 0 && !stack[0].DeleteMarker && doc.State == audit.Unset:
		return stack[1:] // it was deleted between the two looks
	case !ok:
		return stack
	case len(stack) > 0 && (current.VersionID == "" || stack[0].VersionID == current.VersionID) && !stack[0].DeleteMarker:
		current.VersionID = cmp.Or(current.VersionID, stack[0].VersionID)
		stack[0] = current
		return stack
	}
	return slices.Insert(stack, 0, current)
}

// currentOf gives the current version of a control file: as it was read, or,
// where it could not be, as it is listed.
func currentOf(o *audit.Observation, key string, doc audit.Fact[audit.Document]) (lifecycle.Version, bool) {
	if doc.IsSet() {
		return VersionOf(doc.Value), true
	}
	for _, l := range o.Listing.Value.Control {
		if l.Key == key && !doc.Seen() {
			return lifecycle.Version{Key: key, Size: l.Size, LastModified: l.LastModified, StorageClass: l.StorageClass}, true
		}
	}
	return lifecycle.Version{}, false
}

// VersionOf is the current version of an object that was read.
func VersionOf(d audit.Document) lifecycle.Version {
	return lifecycle.Version{
		Key: d.Key, VersionID: d.VersionID, Size: d.Size, LastModified: d.LastModified, StorageClass: d.StorageClass,
		Tags: d.Tags.Value, TagsKnown: d.Tags.IsSet(),
	}
}

// foresee fills in what will happen to a control file from a time on.
func (f *foresight) foresee(c *controlFile, doc audit.Fact[audit.Document], now time.Time) {
	c.pending = nil
	switch {
	case len(c.stack) == 0:
	case f.known:
		c.pending = f.course(c.stack, now)
	default:
		if h, ok := f.announced(doc); ok {
			c.pending = []happening{h}
		}
	}
}

// course follows a stack, without lag and with it.
func (f *foresight) course(stack []lifecycle.Version, now time.Time) []happening {
	events := f.config.Follow(f.bucket, stack, now, 0).Events
	if len(events) == 0 {
		return nil
	}
	type step struct {
		kind      lifecycle.Kind
		id, class string
	}
	late := map[step]time.Time{}
	for _, e := range f.config.Follow(f.bucket, stack, now, usualLag).Events {
		late[step{e.Kind, e.VersionID, e.Class}] = e.At
	}
	course := make([]happening, len(events))
	for i, e := range events {
		course[i] = happening{Event: e}
		if l := latest(e.Latest, late[step{e.Kind, e.VersionID, e.Class}]); l.After(e.At) {
			course[i].late = l
		}
	}
	return course
}

// announced is S3's own word on a control file, where the rules were not seen.
// Ceph's header is wrong in versioned buckets: it speaks of rules for noncurrent
// versions there (measured on RGW 16.2.15).
func (f *foresight) announced(doc audit.Fact[audit.Document]) (happening, bool) {
	at, rule, ok := lifecycle.ParseExpirationHeader(doc.Value.Expiration)
	v := f.o.Bucket.Versioning
	if !ok || f.o.Store.Endpoint != "" && v.State != audit.Unset {
		return happening{}, false
	}
	e := lifecycle.Event{At: at, Latest: at, Kind: lifecycle.Expire, Rule: rule, Key: doc.Value.Key, VersionID: doc.Value.VersionID,
		Overdue: !at.After(f.Now), Reader: lifecycle.Missing,
		Unsure: "as S3's x-amz-expiration header says; the rules themselves were not seen"}
	if v.IsSet() && v.Value == "Enabled" {
		e.Kind = lifecycle.Hide
	}
	return happening{Event: e}, true
}

// apply changes the stack as an event does that happens at run.
func (c *controlFile) apply(h happening, run time.Time) {
	i := slices.IndexFunc(c.stack, func(v lifecycle.Version) bool { return v.VersionID == h.VersionID })
	switch {
	case h.AllVersions:
		c.stack = nil
	case h.Kind == lifecycle.Transition && i >= 0:
		c.stack[i].StorageClass = h.Class
	case h.Kind == lifecycle.Hide:
		if h.Destroys != "" {
			c.drop(h.Destroys)
		}
		c.push(h, run)
	case h.Kind != lifecycle.Transition:
		c.drop(h.VersionID)
		if h.Kind == lifecycle.Expire && h.Marker != "" {
			c.push(h, run)
		}
	}
	switch {
	case h.AllVersions, h.Kind == lifecycle.Expire, h.Kind == lifecycle.Hide:
		c.presence = etcdmanager.Missing
	case h.takes():
		c.presence = etcdmanager.Unreadable
	}
}

func (c *controlFile) drop(id string) {
	c.stack = slices.DeleteFunc(c.stack, func(v lifecycle.Version) bool { return v.VersionID == id })
}

func (c *controlFile) push(h happening, run time.Time) {
	c.stack = slices.Insert(c.stack, 0, lifecycle.Version{Key: h.Key, VersionID: h.Marker, LastModified: run, DeleteMarker: true, TagsKnown: true})
}

// rewrite puts a new version on top, as etcd-manager does when it makes a
// cluster. Markers of an earlier course get names that a new one does not use.
func (c *controlFile) rewrite(key string, size int64, at time.Time, versioning lifecycle.Versioning) {
	id := "rewritten-" + at.Format(time.RFC3339)
	switch versioning {
	case lifecycle.Off:
		c.stack, id = nil, ""
	case lifecycle.Suspended:
		c.drop(lifecycle.NullVersion)
		id = lifecycle.NullVersion
	}
	for i := range c.stack {
		if strings.HasPrefix(c.stack[i].VersionID, "marker-") {
			c.stack[i].VersionID = "earlier-" + c.stack[i].VersionID
		}
	}
	c.stack = slices.Insert(c.stack, 0, lifecycle.Version{Key: key, VersionID: id, Size: size, LastModified: at, TagsKnown: true})
	c.presence = etcdmanager.Present
}

// recoverable counts the versions under a marker that still hold content.
func (c *controlFile) recoverable() int {
	n := 0
	for _, v := range c.stack {
		if !v.DeleteMarker {
			n++
		}
	}
	return n
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
