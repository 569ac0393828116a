package main

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"backstop/audit"
	"backstop/store"
)

// A config is a configuration file that was read and found to be whole. Its
// format is described in docs/configuration.md.
type config struct {
	defaults settings
	stores   []configEntry
	// perSecond is how many requests a run makes at most; nil where it is not
	// given, and 0 for no limit.
	perSecond *float64
	notify    notifyConfig
}

// A configEntry is a place to look at, how to reach it, and what is expected of
// the stores there.
type configEntry struct {
	configTarget
	settings
	audit.Exceptions
	role    audit.Role
	windows []audit.Window
}

// A configTarget is a place to look at, and how to reach it.
type configTarget struct {
	URL            string `yaml:"url"`
	Region         string `yaml:"region,omitempty"`
	Profile        string `yaml:"profile,omitempty"`
	RoleARN        string `yaml:"role_arn,omitempty"`
	ExternalIDFile string `yaml:"external_id_file,omitempty"`
	EndpointURL    string `yaml:"endpoint_url,omitempty"`
	ForcePathStyle bool   `yaml:"force_path_style,omitempty"`
}

// settings are the thresholds; what is zero was not given.
type settings struct {
	interval              time.Duration
	keepHourly, keepDaily time.Duration
	critical, warning     time.Duration // the horizons
}

// on changes what is given.
func (s settings) on(p audit.Policy) audit.Policy {
	set := func(to *time.Duration, d time.Duration) (given bool) {
		if d != 0 {
			*to = d
		}
		return d != 0
	}
	p.Given.Interval = set(&p.Interval, s.interval) || p.Given.Interval
	p.Given.KeepHourly = set(&p.KeepHourly, s.keepHourly) || p.Given.KeepHourly
	p.Given.KeepDaily = set(&p.KeepDaily, s.keepDaily) || p.Given.KeepDaily
	set(&p.HorizonCritical, s.critical)
	set(&p.HorizonWarning, s.warning)
	return p
}

// readConfig reads the configuration file that the options name; without one
// the configuration is empty.
func (p *program) readConfig(o *options) (config, error) {
	if o.config == "" {
		return config{}, nil
	}
	body, err := os.ReadFile(o.config)
	if err != nil {
		return config{}, &failure{status: exitConfig, err: fmt.Errorf("read configuration: %w", err)}
	}
	c, wrong := parseConfig(body, p.now())
	if len(wrong) > 0 {
		return config{}, &failure{status: exitConfig, err: fmt.Errorf("configuration %s: %w", o.config, wrong), hint: "`backstop config validate` lists mistakes line by line; docs/configuration.md describes the file"}
	}
	return c, nil
}

// flags are the settings that flags or the environment give.
func (o *options) settings() (settings, error) {
	if o.interval == "" {
		return settings{}, nil
	}
	d, err := parseDuration(o.interval)
	if err != nil || d == 0 {
		return settings{}, usagef("--interval: %q is not a length of time; want one such as 15m", o.interval)
	}
	return settings{interval: d}, nil
}

// maxPerSecond is the limit of requests per second in effect.
func (c config) maxPerSecond(o *options) float64 {
	if c.perSecond != nil && !o.given("max-requests-per-second") {
		return *c.perSecond
	}
	return o.perSecond
}

// targets are the STOREs of the command line, else the configuration's, else
// kops's state store. pace bounds the requests to all of them.
func (p *program) targets(args []string, o *options) (ts []target, pace store.Pace, err error) {
	c, err := p.readConfig(o)
	if err != nil {
		return nil, nil, err
	}
	return p.targetsOf(c, args, o)
}

// targetsOf is targets, of a configuration that was read.
func (p *program) targetsOf(c config, args []string, o *options) (ts []target, pace store.Pace, err error) {
	ts, err = p.effective(c, args, o)
	if err != nil {
		return nil, nil, err
	}
	if len(ts) == 0 {
		return nil, nil, &failure{status: exitUsage, err: errors.New("no STORE: want s3://BUCKET[/PREFIX] or a directory"),
			hint: "or give --config with stores, or set KOPS_STATE_STORE"}
	}
	if len(args) == 0 {
		// The most particular place comes first, so that a store which two
		// entries lead to is judged by the one that names it more closely.
		slices.SortStableFunc(ts, func(a, b target) int { return len(b.URL) - len(a.URL) })
	}
	return ts, store.PerSecond(c.maxPerSecond(o)), nil
}

// effective puts together what flags, environment, file and defaults say, in the
// order of the file.
func (p *program) effective(c config, args []string, o *options) ([]target, error) {
	flags, err := o.settings()
	if err != nil {
		return nil, err
	}
	if len(args) == 0 && len(c.stores) == 0 {
		if kops, ok := p.env("KOPS_STATE_STORE"); ok && kops != "" {
			args = []string{kops}
		}
	}
	var ts []target
	for _, a := range args {
		at, err := store.ParseTarget(a)
		if err != nil {
			return nil, &failure{status: exitUsage, err: err}
		}
		t := target{configTarget: configTarget{URL: a}, policy: c.defaults.on(audit.DefaultPolicy())}
		if i, whole := c.entryOf(at, o.endpoint); i >= 0 {
			t.configTarget, t.policy = c.stores[i].configTarget, c.policy(i, whole)
			t.URL = a
			if whole {
				t.namedBy = "configuration"
			}
		}
		ts = append(ts, t)
	}
	if len(args) == 0 {
		for i, e := range c.stores {
			ts = append(ts, target{configTarget: e.configTarget, policy: c.policy(i, true), namedBy: "configuration"})
		}
	}
	for i := range ts {
		ts[i].configTarget = ts[i].or(o)
		ts[i].policy = flags.on(ts[i].policy)
	}
	return ts, nil
}

// or gives the target with the flags that were set in place of the file's. They
// do not concern a directory.
func (t configTarget) or(o *options) configTarget {
	if at, err := store.ParseTarget(t.URL); err != nil || at.Dir != "" {
		return t
	}
	pick := func(flag, file string) string {
		if flag != "" {
			return flag
		}
		return file
	}
	t.Region, t.Profile, t.EndpointURL = pick(o.region, t.Region), pick(o.profile, t.Profile), pick(o.endpoint, t.EndpointURL)
	if o.given("force-path-style") {
		t.ForcePathStyle = o.pathStyle
	}
	return t
}

// policy is what an entry expects. Where the run looks at a part of the entry's
// stores only, nobody can say that an exception has no use.
func (c config) policy(i int, whole bool) audit.Policy {
	e := c.stores[i]
	p := e.on(c.defaults.on(audit.DefaultPolicy()))
	p.Entry = fmt.Sprintf("stores[%d]", i)
	p.Role, p.Windows, p.Exceptions = e.role, e.windows, e.Exceptions
	if !whole {
		p.Elsewhere = p.Names()
	}
	return p
}

// entryOf finds the entry that a place belongs to: the one that names it, else
// the closest above it. whole says that it is the entry's own place.
func (c config) entryOf(at store.Target, endpoint string) (best int, whole bool) {
	best = -1
	var closest store.Target
	for i, e := range c.stores {
		above, err := store.ParseTarget(e.URL)
		if err != nil || !holds(above, at) || endpoint != "" && e.EndpointURL != "" && e.EndpointURL != endpoint {
			continue
		}
		if best < 0 || holds(closest, above) && closest != above {
			best, closest = i, above
		}
	}
	return best, best >= 0 && holds(at, closest)
}

// holds reports whether b is the place a, or lies below it.
func holds(a, b store.Target) bool {
	if a.Bucket != b.Bucket {
		return false
	}
	below := func(a, b, separator string) bool {
		return a == b || a == "" || strings.HasPrefix(b, strings.TrimSuffix(a, separator)+separator)
	}
	if a.Bucket != "" {
		return below(a.Prefix, b.Prefix, "/")
	}
	return below(filepath.Clean(a.Dir), filepath.Clean(b.Dir), string(filepath.Separator))
}

// rejudge gives recorded observations the policies of a configuration, in place
// of those that they were recorded with.
func (p *program) rejudge(sights []sight, o *options) ([]sight, error) {
	flags, err := o.settings()
	if err != nil {
		return nil, err
	}
	c, err := p.readConfig(o)
	if err != nil {
		return nil, err
	}
	again := slices.Clone(sights)
	for i, s := range again {
		if o.config != "" {
			again[i].Policy = c.defaults.on(audit.DefaultPolicy())
			at, err := store.ParseTarget(s.Observation.Store.URL)
			if j, _ := c.entryOf(at, s.Observation.Store.Endpoint); err == nil && j >= 0 {
				again[i].Policy = c.policy(j, true)
			}
		}
		again[i].Policy = flags.on(again[i].Policy)
	}
	return again, nil
}

// userinfo is what stands before the host of a URL, and may be a secret.
var userinfo = regexp.MustCompile(`://[^/?#\s]*@`)

// masked gives text without user and password of the URLs in it.
func masked(s string) string { return userinfo.ReplaceAllString(s, "://REDACTED@") }

// isEndpoint reports whether s is the address of a server.
func isEndpoint(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.RawQuery == "" && u.Fragment == ""
}
