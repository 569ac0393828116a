package forecast

import (
	"backstop/audit"
	"backstop/rules/lifecycle"
	"backstop/store/etcdmanager"
)

// effects says how far each enabled rule reaches into the store.
func (f *foresight) effects() []Effect {
	var all []Effect
	for i, r := range f.config.Rules {
		if !f.known || !r.Enabled() || !acts(r) {
			continue
		}
		alone := lifecycle.Configuration{Rules: f.config.Rules[i : i+1], DefaultMinimumSize: f.config.DefaultMinimumSize}
		e := Effect{Rule: r.Name()}
		for _, c := range f.files {
			if v, ok := currentOf(f.o, f.o.Store.Key(c.path), f.document(c.path)); ok && f.reach(&e, alone, v) {
				e.Control = append(e.Control, c.path)
			}
		}
		for _, s := range f.o.Listing.Value.Snapshots {
			reached := false
			for _, obj := range []*audit.Object{s.Data, s.Meta} {
				if obj != nil {
					v := lifecycle.Version{Key: obj.Key, Size: obj.Size, LastModified: obj.LastModified, StorageClass: obj.StorageClass, TagsKnown: true}
					reached = f.reach(&e, alone, v) || reached
				}
			}
			if reached {
				e.Snapshots++
			}
		}
		if len(e.Control) > 0 || e.Snapshots > 0 {
			all = append(all, e)
		}
	}
	return all
}

func (f *foresight) document(path string) audit.Fact[audit.Document] {
	if path == etcdmanager.CreatedPath {
		return f.o.Created
	}
	return f.o.Spec
}

// acts reports whether a rule does anything to current objects.
func acts(r lifecycle.Rule) bool {
	return len(r.Transitions) > 0 || r.DelMarkerExpirationDays != nil ||
		r.Expiration != nil && (r.Expiration.Days != nil || !r.Expiration.Date.IsZero() || r.Expiration.AllVersions)
}

// reach adds what a rule by itself does to one current object, and reports
// whether it matches it.
func (f *foresight) reach(e *Effect, alone lifecycle.Configuration, v lifecycle.Version) bool {
	if alone.Rules[0].Matches(v) == lifecycle.No {
		return false
	}
	if next, ok := alone.Next(f.bucket, []lifecycle.Version{v}, 0, f.Now); ok {
		e.First = earlier(e.First, next.At)
		if next.Overdue {
			e.Due++
		}
	}
	return true
}
