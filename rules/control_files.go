package rules

import (
	"strings"
	"time"

	"backstop/audit"
	"backstop/rules/lifecycle"
	"backstop/store/etcdmanager"
)

// ControlOf says of the two control files whether they are there, how old they
// are, and when lifecycle rules take them away.
func ControlOf(o *audit.Observation, now time.Time) []audit.ControlFile {
	if o.Store.Layout != "" {
		return nil
	}
	return []audit.ControlFile{
		controlFile(o, o.Created, etcdmanager.CreatedPath, now),
		controlFile(o, o.Spec, etcdmanager.SpecPath, now),
	}
}

func controlFile(o *audit.Observation, f audit.Fact[audit.Document], path string, now time.Time) audit.ControlFile {
	c := audit.ControlFile{File: strings.TrimPrefix(path, etcdmanager.ControlDir+"/"), State: audit.Unseen}
	switch {
	case !f.Seen():
		c.Expires = audit.Unknown[time.Time](f.WhyUnseen())
	case f.IsSet():
		c.State, c.LastModified = audit.Set, f.Value.LastModified
		c.Expires = expires(o, f, path, now)
	default:
		c.State, c.Expires = audit.Unset, audit.None[time.Time]()
	}
	return c
}

// expires is when lifecycle rules take a control file away. That they never do is
// said only where they were seen and read.
func expires(o *audit.Observation, f audit.Fact[audit.Document], path string, now time.Time) audit.Fact[time.Time] {
	if d, ok := deletion(o, f, path, now); ok {
		return audit.Is(d.at)
	}
	rules := o.Bucket.Lifecycle
	if !rules.Seen() {
		return audit.Unknown[time.Time](rules.WhyUnseen())
	}
	if rules.IsSet() {
		if _, err := lifecycle.Parse(rules.Value.Body); err != nil {
			return audit.Unknown[time.Time](audit.Why{Cause: audit.CauseMalformed, Reason: "the lifecycle configuration cannot be read: " + err.Error()})
		}
	}
	return audit.None[time.Time]()
}
