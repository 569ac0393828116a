package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A lifecycleRule is a lifecycle rule of a scenario. Days are whole days; 0 is no
// such action.
type lifecycleRule struct {
	ID          string `yaml:"id"`
	Prefix      string `yaml:"prefix"`
	Disabled    bool   `yaml:"disabled"`
	Expire      int    `yaml:"expire"`
	ExpireDate  moment `yaml:"expire-date"`
	Archive     int    `yaml:"archive"`
	Class       string `yaml:"class"`
	Noncurrent  int    `yaml:"noncurrent"`
	KeepNewer   int    `yaml:"keep-newer"`
	LargerThan  int    `yaml:"larger-than"`
	SmallerThan int    `yaml:"smaller-than"`
}

const day = 24 * time.Hour

// midnight is the first midnight UTC at or after a time.
func midnight(t time.Time) time.Time {
	d := t.UTC().Truncate(day)
	if d.Before(t) {
		d = d.Add(day)
	}
	return d
}

func (r lifecycleRule) matches(v *version) bool {
	size := v.Size
	if v.Marker {
		size = 0
	}
	return !r.Disabled && strings.HasPrefix(v.Key, r.Prefix) &&
		(r.LargerThan == 0 || size > int64(r.LargerThan)) && (r.SmallerThan == 0 || size < int64(r.SmallerThan))
}

// expires is when the rule ends an object that is current.
func (r lifecycleRule) expires(v *version) (due time.Time, ok bool) {
	switch {
	case !r.matches(v):
		return due, false
	case r.Expire > 0:
		return midnight(v.LastModified.Add(time.Duration(r.Expire) * day)), true
	case !time.Time(r.ExpireDate).IsZero():
		if due = time.Time(r.ExpireDate); due.Before(v.LastModified) {
			due = v.LastModified
		}
		return due, true
	}
	return due, false
}

// archives is when the rule moves an object that is current. An object under 128 KiB
// stays unless the rule speaks of sizes, or the bucket has the older default.
func (r lifecycleRule) archives(v *version, sizeMode string) (due time.Time, ok bool) {
	sized := r.LargerThan > 0 || r.SmallerThan > 0
	if r.Archive == 0 || !r.matches(v) || v.Marker || v.StorageClass == r.Class || !sized && v.Size < 128<<10 && sizeMode != "varies_by_storage_class" {
		return due, false
	}
	return midnight(v.LastModified.Add(time.Duration(r.Archive) * day)), true
}

// runLifecycle is one nightly run: S3 does with each object what is due, one thing
// at most.
func (b *bucket) runLifecycle() {
	if len(b.rules) == 0 {
		return
	}
	for _, s := range slices.Clone(b.below("")) {
		top := s.versions[0]
		if !top.Marker {
			b.runCurrent(top)
		}
		b.runNoncurrent(s)
		if top.Marker && len(s.versions) == 1 {
			b.runLoneMarker(top)
		}
	}
}

func (b *bucket) due(v *version, when func(lifecycleRule) (time.Time, bool)) (rule lifecycleRule, ok bool) {
	for _, r := range b.rules {
		if due, acts := when(r); acts && !due.After(b.clock.now) {
			return r, true
		}
	}
	return rule, false
}

// runCurrent: permanent deletion comes before archiving, archiving before a marker.
func (b *bucket) runCurrent(v *version) {
	_, expires := b.due(v, func(r lifecycleRule) (time.Time, bool) { return r.expires(v) })
	to, archives := b.due(v, func(r lifecycleRule) (time.Time, bool) { return r.archives(v, b.sizeMode) })
	switch {
	case expires && (b.versioning == "" || !archives):
		b.remove(v.Key)
	case archives:
		v.StorageClass = to.Class
		b.tell(v.Key)
	}
}

// runNoncurrent destroys old versions. They age from when they were followed.
func (b *bucket) runNoncurrent(s *stack) {
	for i := len(s.versions) - 1; i > 0; i-- {
		v, since := s.versions[i], s.versions[i-1].LastModified
		for _, r := range b.rules {
			if r.Noncurrent > 0 && r.matches(v) && i-1 >= r.KeepNewer && !midnight(since.Add(time.Duration(r.Noncurrent)*day)).After(b.clock.now) {
				b.drop(s.key, v.VersionID)
				break
			}
		}
	}
}

func (b *bucket) runLoneMarker(v *version) {
	if _, due := b.due(v, func(r lifecycleRule) (time.Time, bool) { return r.expires(v) }); due {
		b.drop(v.Key, v.VersionID)
	}
}

// expiration is the x-amz-expiration header of a current object.
func (b *bucket) expiration(v *version) string {
	var first time.Time
	var by string
	for _, r := range b.rules {
		if due, ok := r.expires(v); ok && (by == "" || due.Before(first)) {
			first, by = due, r.ID
		}
	}
	if by == "" {
		return ""
	}
	return fmt.Sprintf(`expiry-date="%s", rule-id="%s"`, first.Format("Mon, 02 Jan 2006 15:04:05 GMT"), by)
}

// document is the configuration as S3 sends it.
func (b *bucket) document() []byte {
	var x strings.Builder
	x.WriteString(`<LifecycleConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">`)
	for _, r := range b.rules {
		status := "Enabled"
		if r.Disabled {
			status = "Disabled"
		}
		fmt.Fprintf(&x, "<Rule><ID>%s</ID>%s<Status>%s</Status>", r.ID, r.filter(), status)
		if r.Archive > 0 {
			fmt.Fprintf(&x, "<Transition><Days>%d</Days><StorageClass>%s</StorageClass></Transition>", r.Archive, r.Class)
		}
		if r.Expire > 0 {
			fmt.Fprintf(&x, "<Expiration><Days>%d</Days></Expiration>", r.Expire)
		} else if d := time.Time(r.ExpireDate); !d.IsZero() {
			fmt.Fprintf(&x, "<Expiration><Date>%s</Date></Expiration>", d.Format(time.RFC3339))
		}
		if r.Noncurrent > 0 {
			newer := ""
			if r.KeepNewer > 0 {
				newer = fmt.Sprintf("<NewerNoncurrentVersions>%d</NewerNoncurrentVersions>", r.KeepNewer)
			}
			fmt.Fprintf(&x, "<NoncurrentVersionExpiration>%s<NoncurrentDays>%d</NoncurrentDays></NoncurrentVersionExpiration>", newer, r.Noncurrent)
		}
		x.WriteString("</Rule>")
	}
	x.WriteString("</LifecycleConfiguration>")
	return []byte(x.String())
}

func (r lifecycleRule) filter() string {
	bounds, prefix := "", "<Prefix>"+r.Prefix+"</Prefix>"
	if r.LargerThan > 0 {
		bounds += fmt.Sprintf("<ObjectSizeGreaterThan>%d</ObjectSizeGreaterThan>", r.LargerThan)
	}
	if r.SmallerThan > 0 {
		bounds += fmt.Sprintf("<ObjectSizeLessThan>%d</ObjectSizeLessThan>", r.SmallerThan)
	}
	if bounds != "" {
		return "<Filter><And>" + prefix + bounds + "</And></Filter>"
	}
	return "<Filter>" + prefix + "</Filter>"
}
