package rules

import (
	"time"

	"backstop/audit"
	"backstop/rules/forecast"
	"backstop/rules/lifecycle"
)

// keeping is a bucket's lifecycle rules, ready to be asked what becomes of objects
// of which nothing but their line in a listing is known.
type keeping struct {
	config lifecycle.Configuration
	bucket lifecycle.Bucket
	now    time.Time
}

// keepingOf gives the rules of a store's bucket. ok is false where there are none,
// or where they were not seen or cannot be read (lifecycle/unseen speaks).
func keepingOf(o *audit.Observation, now time.Time) (k keeping, ok bool) {
	config, err := forecast.ConfigurationOf(o)
	return keeping{config, forecast.BucketOf(o), now}, err == nil && len(config.Rules) > 0
}

// taken gives the first event that takes a current object away from readers: by
// deleting or hiding it, or by archiving it. Nobody has tagged it: etcd-manager and
// kops tag nothing.
func (k keeping) taken(obj audit.Object) (lifecycle.Event, bool) {
	stack := []lifecycle.Version{{Key: obj.Key, Size: obj.Size, LastModified: obj.LastModified, StorageClass: obj.StorageClass, TagsKnown: true}}
	if _, ok := k.config.Next(k.bucket, stack, 0, k.now); !ok {
		return lifecycle.Event{}, false
	}
	for _, e := range k.config.Timeline(k.bucket, stack, k.now) {
		if removes(e) || e.Kind == lifecycle.Transition && e.Reader == lifecycle.Archived {
			return e, true
		}
	}
	return lifecycle.Event{}, false
}

// removes reports whether an event makes an object missing to readers.
func removes(e lifecycle.Event) bool {
	return e.AllVersions || e.Kind == lifecycle.Expire || e.Kind == lifecycle.Hide
}

// does says what an event does to an object.
func does(e lifecycle.Event) string {
	switch {
	case e.Kind == lifecycle.Transition:
		return "moves to " + e.Class
	case e.Kind == lifecycle.Hide && !e.AllVersions:
		return "hides"
	}
	return "deletes"
}

// dated says when an event is due.
func dated(e lifecycle.Event, now time.Time) string {
	if !e.At.After(now) {
		return "at any moment (due since " + stamp(e.At) + ")"
	}
	return "on " + stamp(e.At) + ", in " + span(e.At.Sub(now))
}
