package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"backstop/audit"
	"backstop/rules"
	"backstop/store"
)

// parseConfig reads a configuration file, and gives every mistake in it. now is
// needed for what must end soon.
func parseConfig(body []byte, now time.Time) (config, mistakes) {
	r := &configReader{now: now}
	top, ok := r.document(body)
	if !ok {
		return config{}, r.sorted()
	}
	var c config
	version := ""
	var stores []position
	r.mapping(top, keys{
		"version": func(at position) {
			if r.into(&version, nil)(at); version != "" && version != "1" {
				r.mistake(position{Node: at.Node}, "version is %s, want 1", version)
			}
		},
		"defaults": func(at position) {
			k := keys{}
			r.thresholds(k, &c.defaults)
			r.mapping(at, k)
			r.consistent(at, c.defaults, settings{})
		},
		"max_requests_per_second": func(at position) {
			c.perSecond = new(float64)
			r.rate(c.perSecond)(at)
		},
		"notify": func(at position) { r.notify(at, &c.notify) },
		"stores": func(at position) { r.list(at, func(at position) { stores = append(stores, at) }) },
	})
	if version == "" && !r.said("version") && resolve(top.Node).Kind == yaml.MappingNode {
		r.mistake(top, "version is missing; the file begins with `version: 1`")
	}
	first := map[string]string{}
	for _, at := range stores { // after the defaults, wherever they stand
		e := r.store(at, c.defaults)
		if id := e.EndpointURL + "\x00" + strings.TrimRight(e.URL, "/"); e.URL != "" {
			if other, twice := first[id]; twice {
				r.mistake(at, "%s is named twice, first by %s", masked(e.URL), other)
			}
			first[id] = at.path
		}
		c.stores = append(c.stores, e)
	}
	return c, r.sorted()
}

type configReader struct {
	yamlReader
	now time.Time
}

// thresholds adds the keys that defaults and stores share.
func (r *configReader) thresholds(k keys, s *settings) {
	k["interval"] = r.length(&s.interval)
	k["keep"] = func(at position) {
		r.mapping(at, keys{"hourly": r.length(&s.keepHourly), "daily": r.length(&s.keepDaily)})
	}
	k["horizon"] = func(at position) {
		r.mapping(at, keys{"critical": r.length(&s.critical), "warning": r.length(&s.warning)})
	}
}

// consistent looks at thresholds together, as they hold with the defaults.
func (r *configReader) consistent(at position, own, defaults settings) {
	p := own.on(defaults.on(audit.DefaultPolicy()))
	if (own.critical != 0 || own.warning != 0) && p.HorizonCritical > p.HorizonWarning {
		r.mistake(at, "horizon.critical (%s) is longer than horizon.warning (%s)", lengthText(p.HorizonCritical), lengthText(p.HorizonWarning))
	}
	if (own.keepHourly != 0 || own.keepDaily != 0) && p.KeepHourly > p.KeepDaily {
		r.mistake(at, "keep.hourly (%s) is longer than keep.daily (%s)", lengthText(p.KeepHourly), lengthText(p.KeepDaily))
	}
}

var roleARN = regexp.MustCompile(`^arn:[a-z-]+:iam::[0-9]*:role/\S+$`)

// store reads one entry of stores.
func (r *configReader) store(at position, defaults settings) configEntry {
	var e configEntry
	role := ""
	k := keys{
		"url": r.into(&e.URL, func(s string) error {
			if userinfo.MatchString(s) {
				return fmt.Errorf("%s holds credentials; they come from the SDK's chain", masked(s))
			}
			_, err := store.ParseTarget(s)
			return err
		}),
		"region":  r.into(&e.Region, nil),
		"profile": r.into(&e.Profile, nil),
		"role_arn": r.into(&e.RoleARN, func(s string) error {
			if !roleARN.MatchString(s) {
				return fmt.Errorf("%q is not the name of a role; want one such as arn:aws:iam::111122223333:role/NAME", s)
			}
			return nil
		}),
		"external_id_file": r.into(&e.ExternalIDFile, nil),
		"endpoint_url": r.into(&e.EndpointURL, func(s string) error {
			if !isEndpoint(s) {
				return fmt.Errorf("%q is not the address of a server; want one such as https://s3.example.org", masked(s))
			}
			return nil
		}),
		"force_path_style": r.boolean(&e.ForcePathStyle),
		"role": r.into(&role, func(s string) error {
			if e.role = audit.Role(s); !slices.Contains([]audit.Role{audit.Live, audit.Replica, audit.Archive}, e.role) {
				return fmt.Errorf("%q is no role of a store; want live, replica or archive", s)
			}
			return nil
		}),
		"windows": func(at position) {
			r.list(at, func(at position) { e.windows = append(e.windows, r.window(at)) })
		},
		"assume": func(at position) {
			r.list(at, func(at position) { e.Assume = append(e.Assume, r.assumption(at, e.Assume)) })
		},
		"acknowledged": func(at position) {
			r.list(at, func(at position) { e.Acknowledged = append(e.Acknowledged, r.acknowledgement(at, e.Acknowledged)) })
		},
		"ignore": func(at position) {
			r.list(at, func(at position) { e.Ignore = append(e.Ignore, r.ignored(at, e.Ignore)) })
		},
	}
	r.thresholds(k, &e.settings)
	if isNull(resolve(at.Node)) {
		r.mistake(at, "url is missing")
		return e
	}
	r.mapping(at, k)
	r.reach(at, e.configTarget)
	r.consistent(at, e.settings, defaults)
	if p := e.on(defaults.on(audit.DefaultPolicy())); len(e.windows) > 0 {
		p.Windows = e.windows
		if neverAwake(p, r.now) {
			r.mistake(at, "windows leave no time in which a backup is expected: together they never end")
		}
	}
	return e
}

// reach looks at how a place is reached.
func (r *configReader) reach(at position, t configTarget) {
	if t.URL == "" {
		if resolve(at.Node).Kind == yaml.MappingNode && !r.said(at.below("url")) {
			r.mistake(at, "url is missing")
		}
		return
	}
	if t.ExternalIDFile != "" && t.RoleARN == "" {
		r.mistake(at, "external_id_file belongs to a role_arn, and there is none")
	}
	if place, err := store.ParseTarget(t.URL); err == nil && place.Dir != "" && t != (configTarget{URL: t.URL}) {
		r.mistake(at, "%s is a directory: there is no region, profile, role or endpoint to reach it by", t.URL)
	}
}

// said reports whether something is known to be wrong at a path already.
func (r *configReader) said(path string) bool {
	return slices.ContainsFunc(r.wrong, func(m mistake) bool { return m.path == path })
}

// length reads a length of time.
func (r *configReader) length(to *time.Duration) func(at position) {
	return func(at position) {
		s, ok := r.text(at)
		if !ok {
			return
		}
		d, err := parseDuration(s)
		switch {
		case err != nil:
			r.mistake(at, "%v", err)
		case d == 0:
			r.mistake(at, "%q is no time at all", s)
		default:
			*to = d
		}
	}
}

// rate reads a number of requests a second, which may be 0.
func (r *configReader) rate(to *float64) func(at position) {
	return func(at position) {
		s, ok := r.text(at)
		if !ok {
			return
		}
		n, err := strconv.ParseFloat(s, 64)
		if err != nil || !isRate(n) {
			r.mistake(at, "%q is not a number of requests; want one such as 100, or 0 for no limit", s)
			return
		}
		*to = n
	}
}

// instant reads a date, which is its first moment in UTC, or a time.
func (r *configReader) instant(to *time.Time) func(at position) {
	return func(at position) {
		s, ok := r.text(at)
		if !ok {
			return
		}
		t, ok := parseTime(s)
		if !ok {
			r.mistake(at, "%q is not a date; want one such as 2027-01-15, or a time such as 2027-01-15T06:00:00Z", s)
			return
		}
		*to = t
	}
}

// reason reads why.
func (r *configReader) reason(to *string) func(at position) {
	return func(at position) {
		r.into(to, nil)(at)
		*to = strings.Join(strings.Fields(*to), " ")
	}
}

// needs notes what is missing from a mapping, unless it is there and wrong.
func (r *configReader) needs(at position, why string, given map[string]bool) {
	if n := resolve(at.Node); n.Kind != yaml.MappingNode && !isNull(n) {
		return
	}
	for _, key := range []string{"cron", "for", "fact", "value", "rule", "event", "until", "reason"} {
		if is, asked := given[key]; asked && !is && !r.said(at.below(key)) {
			r.mistake(at, "%s is missing: %s", key, why)
		}
	}
}

func (r *configReader) window(at position) audit.Window {
	var w audit.Window
	r.mapping(at, keys{
		"cron": r.into(&w.Cron, func(s string) error {
			_, err := parseCron(s, r.now)
			return err
		}),
		"for":    r.length(&w.For),
		"reason": r.reason(&w.Reason),
	})
	r.needs(at, "a window has cron, for and reason", map[string]bool{"cron": w.Cron != "", "for": w.For != 0, "reason": w.Reason != ""})
	return w
}

func (r *configReader) assumption(at position, others []audit.Assumption) audit.Assumption {
	var a audit.Assumption
	var fact string
	r.mapping(at, keys{
		"fact": r.into(&fact, func(s string) error {
			if audit.AssumableValues[audit.FactName(s)] == nil {
				return fmt.Errorf("the fact %q cannot be assumed; want lifecycle or versioning", s)
			}
			if slices.ContainsFunc(others, func(o audit.Assumption) bool { return string(o.Fact) == s }) {
				return fmt.Errorf("%s is assumed twice", s)
			}
			return nil
		}),
		"value":  r.into(&a.Value, nil),
		"until":  r.instant(&a.Until),
		"reason": r.reason(&a.Reason),
	})
	a.Fact = audit.FactName(fact)
	if can := audit.AssumableValues[a.Fact]; can != nil && a.Value != "" && !slices.Contains(can, a.Value) {
		r.mistake(at, "%s cannot be assumed to be %q; want %s", fact, a.Value, strings.Join(can, ", "))
	}
	r.needs(at, "an assumption has fact, value, until and reason",
		map[string]bool{"fact": fact != "", "value": a.Value != "", "until": !a.Until.IsZero(), "reason": a.Reason != ""})
	return a
}

func (r *configReader) acknowledgement(at position, others []audit.Acknowledgement) audit.Acknowledgement {
	var a audit.Acknowledgement
	r.mapping(at, keys{
		"rule":   r.into(&a.Rule, excusable),
		"event":  r.into(&a.Event, nil),
		"reason": r.reason(&a.Reason),
	})
	if slices.ContainsFunc(others, func(o audit.Acknowledgement) bool { return a.Event != "" && o.Rule == a.Rule && o.Event == a.Event }) {
		r.mistake(at, "the event %s of %s is acknowledged twice", a.Event, a.Rule)
	}
	r.needs(at, "an acknowledgement has rule, event and reason", map[string]bool{"rule": a.Rule != "", "event": a.Event != "", "reason": a.Reason != ""})
	return a
}

func (r *configReader) ignored(at position, others []audit.Ignore) audit.Ignore {
	var i audit.Ignore
	r.mapping(at, keys{
		"rule": r.into(&i.Rule, func(s string) error {
			if slices.ContainsFunc(others, func(o audit.Ignore) bool { return o.Rule == s }) {
				return fmt.Errorf("%s is ignored twice", s)
			}
			return excusable(s)
		}),
		"until":  r.instant(&i.Until),
		"reason": r.reason(&i.Reason),
	})
	if excusable(i.Rule) == nil && dangerous(i.Rule) && i.Until.After(r.now.Add(longestIgnore)) {
		r.mistake(at, "%s can be ignored for 7 days at most, and %s is further ahead: what it speaks of loses clusters", i.Rule, audit.Until(i.Until))
	}
	r.needs(at, "an ignore has rule, until and reason", map[string]bool{"rule": i.Rule != "", "until": !i.Until.IsZero(), "reason": i.Reason != ""})
	return i
}

// longestIgnore is how far ahead the end of ignoring a dangerous rule may lie.
const longestIgnore = 7 * audit.Day

func dangerous(rule string) bool {
	return strings.HasPrefix(rule, "control/") || rule == "lifecycle/deletes-control"
}

// excusable reports why findings of a rule cannot be excused.
func excusable(id string) error {
	rule, ok := rules.Named(id)
	switch {
	case !ok:
		return fmt.Errorf("there is no rule %q; %s", id, strings.ReplaceAll(closest(id), "\n", " "))
	case rule.May(audit.Critical) || rule.May(audit.Warning):
		return nil
	case rule.May(audit.Unsure):
		return fmt.Errorf("%s says what could not be looked at, and that cannot be ignored; see assume", id)
	}
	return fmt.Errorf("%s is information already", id)
}

// lengthText writes a length of time as the configuration has it.
func lengthText(d time.Duration) string {
	switch {
	case d > 0 && d%(365*audit.Day) == 0:
		return strconv.Itoa(int(d/(365*audit.Day))) + "y"
	case d > 0 && d%audit.Day == 0:
		return strconv.Itoa(int(d/audit.Day)) + "d"
	}
	s := d.String() // 1h0m0s
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
