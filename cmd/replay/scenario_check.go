package main

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"backstop/rules"
)

// Limits of a scenario, so that a slip of the pen does not take a week.
const (
	dayLimit     = 3660
	clusterLimit = 2000
)

var (
	bucketName  = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	clusterName = regexp.MustCompile(`^[a-z0-9%]([a-z0-9.%-]{0,200}[a-z0-9%])?$`)
	versionName = regexp.MustCompile(`^\d+\.\d+\.\d+$`)
)

// check looks for what the reader cannot see, and fills in what is not given.
func (r *reader) check(s *scenario) {
	if s.Days < 1 || s.Days > dayLimit {
		r.mistake(1, "days: want 1 to %d", dayLimit)
	}
	if time.Time(s.Start).IsZero() {
		r.mistake(1, "start: want a time, as in 2026-01-05T00:00:00Z")
	}
	s.Audit = or(s.Audit, length(15*time.Minute))
	if s.Audit < length(time.Minute) {
		r.mistake(1, "audit: want at least 1m")
	}
	if s.Quiet < 0 || s.Audit > 0 && s.Quiet%s.Audit != 0 {
		r.mistake(1, "quiet: want a multiple of audit, which is %v", time.Duration(s.Audit))
	}
	if (s.Quiet > 0) != (s.Dense > 0) || s.Dense < 0 {
		r.mistake(1, "quiet and dense go together")
	}
	if s.HTTP != "" {
		d, err := parseLength(s.HTTP)
		if s.httpDay = length(d); err != nil || d < 0 || d >= time.Duration(s.Days)*day {
			r.mistake(1, "http: want a day of the scenario, as in 12d")
		}
	}
	known := map[string]bool{}
	for i := range s.Buckets {
		r.checkBucket(&s.Buckets[i], known)
	}
	total, names := 0, map[string]bool{}
	for i := range s.Clusters {
		c := &s.Clusters[i]
		r.checkCluster(c, known)
		if total += max(1, c.Count); names[c.Name] {
			r.mistake(c.Line, "name: there are two clusters %s", c.Name)
		}
		names[c.Name] = true
	}
	if total == 0 || total > clusterLimit {
		r.mistake(1, "clusters: want 1 to %d of them, found %d", clusterLimit, total)
	}
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

func (r *reader) oneOf(line int, what, found string, of ...string) {
	if !slices.Contains(of, found) {
		r.mistake(line, "%s: want one of %s; found %q", what, strings.Join(of, ", "), found)
	}
}

func (r *reader) checkBucket(b *bucketEntry, known map[string]bool) {
	if !bucketName.MatchString(b.Name) {
		r.mistake(b.Line, "name: want the name of a bucket, found %q", b.Name)
	}
	if known[b.Name] {
		r.mistake(b.Line, "name: there are two buckets %s", b.Name)
	}
	known[b.Name] = true
	r.oneOf(b.Line, "versioning", b.Versioning, "", "Enabled", "Suspended")
	r.oneOf(b.Line, "role", b.Role, "", "replica", "archive")
	r.oneOf(b.Line, "sizes", b.Sizes, "", "all_storage_classes_128K", "varies_by_storage_class")
	r.checkLifecycle(b.Line, b.Lifecycle)
	r.checkRules(b.Line, b.Allow)
}

func (r *reader) checkLifecycle(line int, all []lifecycleRule) {
	for _, l := range all {
		if l.ID == "" {
			r.mistake(line, "lifecycle: each rule needs an id")
		}
		if (l.Archive > 0) != (l.Class != "") {
			r.mistake(line, "lifecycle rule %s: archive and class go together", l.ID)
		}
		if l.Class != "" {
			r.oneOf(line, "class", l.Class, "GLACIER", "DEEP_ARCHIVE", "GLACIER_IR", "STANDARD_IA", "ONEZONE_IA")
		}
		if d := time.Time(l.ExpireDate); !d.Equal(d.Truncate(day)) {
			r.mistake(line, "lifecycle rule %s: expire-date is a midnight in UTC", l.ID)
		}
		if l.Expire == 0 && time.Time(l.ExpireDate).IsZero() && l.Archive == 0 && l.Noncurrent == 0 {
			r.mistake(line, "lifecycle rule %s does nothing", l.ID)
		}
	}
}

func (r *reader) checkRules(line int, ids []string) {
	for _, id := range ids {
		if _, ok := rules.Named(id); !ok {
			r.mistake(line, "there is no rule %q", id)
		}
	}
}

func (r *reader) checkCluster(c *clusterEntry, buckets map[string]bool) {
	if !clusterName.MatchString(c.Name) {
		r.mistake(c.Line, "name: want the name of a cluster, with %% for its number where count is given; found %q", c.Name)
	}
	if c.Count > 999 || c.Count > 1 && !strings.Contains(c.Name, "%") {
		r.mistake(c.Line, "count: want at most 999, and a %% in the name")
	}
	if !buckets[c.Bucket] {
		r.mistake(c.Line, "bucket: %q is not one of buckets", c.Bucket)
	}
	c.Members, c.Version = or(c.Members, 3), or(c.Version, "3.5.30")
	if c.Members != 1 && c.Members != 3 && c.Members != 5 {
		r.mistake(c.Line, "members: want 1, 3 or 5")
	}
	if !versionName.MatchString(c.Version) {
		r.mistake(c.Line, "version: want one of etcd's, as in 3.5.30")
	}
	if len(c.Etcd) == 0 {
		c.Etcd = []string{"main", "events"}
	}
	for _, etcd := range c.Etcd {
		r.oneOf(c.Line, "etcd", etcd, "main", "events", "cilium", "leases")
	}
	for _, url := range c.Stores {
		r.checkURL(c.Line, "stores", url, buckets)
	}
	for _, w := range c.Windows {
		if _, err := cron.ParseStandard(w.Cron); err != nil || w.For <= 0 {
			r.mistake(w.Line, "windows: want cron, as in \"0 20 * * *\", and for")
		}
	}
	for i := range c.Events {
		r.checkEvent(&c.Events[i], c, buckets)
	}
}

func (r *reader) checkURL(line int, what, url string, buckets map[string]bool) {
	name, prefix, ok := strings.Cut(strings.TrimPrefix(url, "s3://"), "/")
	if !strings.HasPrefix(url, "s3://") || !ok || prefix == "" || !buckets[name] {
		r.mistake(line, "%s: want s3://BUCKET/PREFIX with one of buckets, found %q", what, url)
	}
}

// checkEvent checks an event against what its action takes.
func (r *reader) checkEvent(e *event, c *clusterEntry, buckets map[string]bool) {
	a, ok := actions[e.Do]
	if !ok {
		r.mistake(e.Line, "do: there is no action %q; known are %s", e.Do, strings.Join(actionNames(), ", "))
		return
	}
	if e.Given["at"] == 0 {
		r.mistake(e.Line, "%s: at is missing", e.Do)
	}
	for key, line := range e.Given {
		if !slices.Contains(ofEveryEvent, key) && !slices.Contains(a.takes, key) && !slices.Contains(a.needs, key) {
			r.mistake(line, "%s takes no %s; it takes %s", e.Do, key, strings.Join(slices.Concat(a.needs, a.takes), ", "))
		}
	}
	for _, key := range a.needs {
		if e.Given[key] == 0 {
			r.mistake(e.Line, "%s needs %s", e.Do, key)
		}
	}
	if e.Every != 0 && (e.Every < length(time.Minute) || e.Spread >= e.Every) || e.Spread < 0 {
		r.mistake(e.Line, "%s: every is at least 1m and more than spread, which is not negative", e.Do)
	}
	e.Etcd = or(e.Etcd, c.Etcd[0])
	if !slices.Contains(c.Etcd, e.Etcd) {
		r.mistake(e.Line, "%s: the cluster has no etcd %q", e.Do, e.Etcd)
	}
	r.checkParameters(e, buckets)
	r.checkRules(e.Line, e.Allow)
	for i := range e.Expect {
		r.checkExpectation(&e.Expect[i], e)
	}
}

func (r *reader) checkParameters(e *event, buckets map[string]bool) {
	if e.To != "" {
		r.checkURL(e.Line, "to", e.To, buckets)
	}
	if e.Bucket != "" && !buckets[e.Bucket] {
		r.mistake(e.Line, "bucket: %q is not one of buckets", e.Bucket)
	}
	r.checkLifecycle(e.Line, e.Lifecycle)
	if e.Part != "" {
		r.oneOf(e.Line, "part", e.Part, "data", "meta")
	}
	if e.Class != "" {
		r.oneOf(e.Line, "class", e.Class, "GLACIER", "DEEP_ARCHIVE")
	}
	if e.Copy != "" {
		r.oneOf(e.Line, "copy", e.Copy, "all", "control", "nothing")
	}
	if e.How != "" {
		r.oneOf(e.Line, "how", e.How, "empty", "no-meta", "no-data", "bad-meta")
	}
	if e.Given["status"] > 0 {
		r.oneOf(e.Line, "status", e.Status, "Enabled", "Suspended")
	}
	if e.Version != "" && !versionName.MatchString(e.Version) && e.Do == "update" {
		r.mistake(e.Line, "version: want one of etcd's, as in 3.5.30")
	}
}

func (r *reader) checkExpectation(x *expectation, e *event) {
	if e.Every != 0 {
		r.mistake(x.Line, "expect: an event that repeats cannot have one")
	}
	x.Etcd, x.After = or(x.Etcd, e.Etcd), or(x.After, "event")
	r.checkRules(x.Line, []string{x.Rule})
	r.oneOf(x.Line, "after", x.After, "event", "loss", "stop")
	r.oneOf(x.Line, "severity", or(x.Severity, "critical"), "info", "warning", "critical")
	if x.Within < 0 || x.Ahead < 0 {
		r.mistake(x.Line, "expect: within and ahead are not negative")
	}
}
