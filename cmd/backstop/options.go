package main

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"backstop/audit"
	"backstop/rules"
	"backstop/rules/lifecycle"
	"backstop/rules/lint"
	"backstop/store"
)

// options are the flags that commands share.
type options struct {
	config      string
	endpoint    string
	region      string
	profile     string
	pathStyle   bool
	concurrency int
	timeout     time.Duration
	interval    string
	perSecond   float64
	replay      string
	record      string
	at          string
	color       string
	logLevel    string
	logFormat   string

	// charm says to look at snapshots of Juju's etcd charm too.
	charm bool
	// proposed are lifecycle configurations that may come: what they ask about
	// control files is looked at, too.
	proposed []lifecycle.Configuration
	// shard is the part of the stores to look at.
	shard store.Shard
	// places are those of which everything was listed, once somebody has looked.
	places []lint.Place

	flags *pflag.FlagSet
}

// given reports whether a flag was given, or its variable in the environment.
func (o *options) given(flag string) bool { return o.flags != nil && o.flags.Changed(flag) }

// addReaching adds the flags that stand over what a configuration says.
func (o *options) addReaching(f *pflag.FlagSet) {
	o.addS3(f)
	f.StringVar(&o.interval, "interval", "", "expected backup `interval`, as in 15m (default: the configuration's, else kops's, else 15m)")
}

// addS3 adds the flags that say how S3 is reached.
func (o *options) addS3(f *pflag.FlagSet) {
	o.flags = f
	f.StringVar(&o.config, "config", "", "configuration `file` (YAML)")
	f.StringVar(&o.endpoint, "endpoint-url", "", "S3 `URL` other than AWS's own")
	f.StringVar(&o.region, "region", "", "`region` to ask first; a bucket's own is found by itself")
	f.StringVar(&o.profile, "profile", "", "`profile` of the shared AWS configuration")
	f.BoolVar(&o.pathStyle, "force-path-style", false, "put the bucket's name into the path of the URL")
	f.Float64Var(&o.perSecond, "max-requests-per-second", store.DefaultPerSecond, "S3 `requests` a second of the whole run, retries included; 0 is no limit")
}

// addLooking adds the flags that say where and how to look.
func (o *options) addLooking(f *pflag.FlagSet) {
	o.addReaching(f)
	f.IntVar(&o.concurrency, "concurrency", 8, "stores looked at at a time")
	f.StringVar(&o.replay, "replay", "", "judge the observations in `file` instead of looking")
	f.StringVar(&o.at, "at", "", "judge as of this `time` (RFC 3339, or a date)")
	f.DurationVar(&o.timeout, "timeout", 30*time.Second, "limit for one S3 call with its retries")
	o.addTerminal(f)
}

// addTerminal adds the flags that say how to write.
func (o *options) addTerminal(f *pflag.FlagSet) {
	f.StringVar(&o.color, "color", "auto", "auto, always or never")
	f.StringVar(&o.logLevel, "log-level", "warn", "debug, info, warn or error, on stderr")
	f.StringVar(&o.logFormat, "log-format", "text", "text or json")
}

// fromEnvironment fills in flags that were not given from BACKSTOP_FLAG_NAME.
func (p *program) fromEnvironment(c *cobra.Command) error {
	var first error
	c.Flags().VisitAll(func(f *pflag.Flag) {
		name := "BACKSTOP_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		v, ok := p.env(name)
		if f.Changed || !ok || first != nil {
			return
		}
		if err := c.Flags().Set(f.Name, v); err != nil {
			first = usagef("%s: %w", name, err)
		}
	})
	return first
}

// check refuses values that no part of the program would notice.
func (o *options) check() error {
	switch {
	case o.concurrency < 1:
		return usagef("--concurrency is %d, want at least 1", o.concurrency)
	case o.timeout <= 0:
		return usagef("--timeout is %v, want more than 0", o.timeout)
	}
	if err := o.checkTerminal(); err != nil {
		return err
	}
	return o.checkReaching()
}

// checkTerminal does the same for the flags of addTerminal.
func (o *options) checkTerminal() error {
	switch {
	case !slices.Contains([]string{"auto", "always", "never"}, o.color):
		return usagef("--color is %q, want auto, always or never", o.color)
	case !slices.Contains([]string{"text", "json"}, o.logFormat):
		return usagef("--log-format is %q, want text or json", o.logFormat)
	case !slices.Contains([]string{"debug", "info", "warn", "error"}, o.logLevel):
		return usagef("--log-level is %q, want debug, info, warn or error", o.logLevel)
	}
	return nil
}

// checkReaching does the same for the flags of addReaching.
func (o *options) checkReaching() error {
	switch {
	case o.endpoint != "" && !isEndpoint(o.endpoint):
		return usagef("--endpoint-url is %q, want one such as https://s3.example.org", masked(o.endpoint))
	case !isRate(o.perSecond):
		return usagef("--max-requests-per-second is %v, want a number of requests, or 0 for no limit", o.perSecond)
	}
	return nil
}

// isRate reports whether n is a number of requests a second, or 0 for no limit.
func isRate(n float64) bool { return n >= 0 && !math.IsInf(n, 0) }

// logger writes to stderr; stdout is the report's.
func (p *program) logger(o *options) zerolog.Logger {
	level, _ := zerolog.ParseLevel(o.logLevel)
	out := zerolog.SyncWriter(p.stderr) // stores are looked at at a time
	w := zerolog.New(out)
	if o.logFormat == "text" {
		w = zerolog.New(zerolog.ConsoleWriter{Out: out, NoColor: true, TimeFormat: time.RFC3339})
	}
	return w.Level(level).With().Timestamp().Logger()
}

// terminal tells whether stdout is one, and how wide it is.
func (p *program) terminal(o *options) (color bool, width int) {
	f, isFile := p.stdout.(*os.File)
	tty := isFile && term.IsTerminal(int(f.Fd()))
	if tty {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil {
			width = w
		}
	}
	_, noColor := p.env("NO_COLOR")
	kind, _ := p.env("TERM")
	return o.color == "always" || o.color == "auto" && tty && !noColor && kind != "dumb", width
}

// parseAt parses --at; zero when it was not given.
func (o *options) parseAt() (time.Time, error) {
	if o.at == "" {
		return time.Time{}, nil
	}
	if t, ok := parseTime(o.at); ok {
		return t, nil
	}
	return time.Time{}, usagef("--at is %q, want a time such as 2027-01-15T06:00:00Z, or a date", o.at)
}

// parseTime parses a time, or a date, which is its first moment in UTC.
func parseTime(s string) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04Z07:00", time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

// ruleset gives all rules, or those that were asked for.
func ruleset(ids []string) (audit.Ruleset, error) {
	if len(ids) == 0 {
		return rules.Set, nil
	}
	set := audit.Ruleset{State: rules.Set.State, Control: rules.Set.Control}
	for _, id := range ids {
		if _, ok := rules.Named(id); !ok {
			return audit.Ruleset{}, usagef("--rules: there is no rule %q; `backstop explain` lists them", id)
		}
	}
	for _, r := range rules.All {
		if slices.Contains(ids, r.ID) {
			set.Rules = append(set.Rules, r)
		}
	}
	return set, nil
}

// parseDuration parses a length of time that may have days (90d) and years (2y),
// as the configuration and etcd-manager have them.
func parseDuration(s string) (time.Duration, error) {
	unit := map[byte]time.Duration{'d': audit.Day, 'y': 365 * audit.Day}
	if s != "" {
		if u, ok := unit[s[len(s)-1]]; ok {
			var n int
			if _, err := fmt.Sscanf(s[:len(s)-1]+" ", "%d ", &n); err != nil || fmt.Sprint(n) != s[:len(s)-1] || n < 0 || n > int(math.MaxInt64/u) {
				return 0, fmt.Errorf("%q is not a length of time; want one such as 15m, 90d or 2y", s)
			}
			return time.Duration(n) * u, nil
		}
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is not a length of time; want one such as 15m, 90d or 2y", s)
	}
	return d, nil
}
