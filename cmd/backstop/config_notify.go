package main

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"backstop/alerts"
	"backstop/alerts/notify"
	"backstop/audit"
)

// A notifyConfig says whom to tell what was found.
type notifyConfig struct {
	runbooks string // ends with a slash
	channels []notify.Channel
	deadmen  []deadman
	printed  []printedChannel // all of them, in the order of the file
}

// A deadman is a dead-man's switch, and from which verdict on a run has failed.
type deadman struct {
	notify.Deadman
	failOn audit.Verdict
}

// deadmanType is the type of a channel that is told of runs, and not of findings.
const deadmanType = "deadman"

// PagerDuty's address, for those who are not in its European region.
const pagerDutyURL = "https://events.pagerduty.com/v2/enqueue"

// channelKeys are the keys that a channel of each type may have, besides name, type
// and ca_file.
var channelKeys = map[string][]string{
	string(notify.Alertmanager): {"severity", "urls", "ends_after", "username", "password_file", "bearer_token_file"},
	string(notify.Slack):        {"severity", "url_file"},
	string(notify.PagerDuty):    {"severity", "url", "routing_key_file"},
	string(notify.Webhook): {"severity", "url", "url_file", "username", "password_file", "bearer_token_file", "headers",
		"secret_file", "template", "each", "content_type"},
	deadmanType: {"url", "url_file", "fail_on"},
}

// printedNotify is how `config print` writes it.
type printedNotify struct {
	Runbooks string           `yaml:"runbooks"`
	Channels []printedChannel `yaml:"channels"`
}

// A printedChannel is a channel as it stands in the file.
type printedChannel struct {
	Name            string            `yaml:"name"`
	Type            string            `yaml:"type"`
	Severity        string            `yaml:"severity,omitempty"`
	URL             string            `yaml:"url,omitempty"`
	URLs            []string          `yaml:"urls,omitempty"`
	URLFile         string            `yaml:"url_file,omitempty"`
	Username        string            `yaml:"username,omitempty"`
	PasswordFile    string            `yaml:"password_file,omitempty"`
	BearerTokenFile string            `yaml:"bearer_token_file,omitempty"`
	RoutingKeyFile  string            `yaml:"routing_key_file,omitempty"`
	SecretFile      string            `yaml:"secret_file,omitempty"`
	CAFile          string            `yaml:"ca_file,omitempty"`
	Headers         map[string]string `yaml:"headers,omitempty"`
	Template        string            `yaml:"template,omitempty"`
	Each            string            `yaml:"each,omitempty"`
	ContentType     string            `yaml:"content_type,omitempty"`
	EndsAfter       string            `yaml:"ends_after,omitempty"`
	FailOn          string            `yaml:"fail_on,omitempty"`
}

// notify reads the part of the file that is about telling.
func (r *configReader) notify(at position, n *notifyConfig) {
	n.runbooks = alerts.Runbooks
	var channels []position
	r.mapping(at, keys{
		"runbooks": r.into(&n.runbooks, serverURL),
		"channels": func(at position) { r.list(at, func(at position) { channels = append(channels, at) }) },
	})
	n.runbooks = strings.TrimRight(n.runbooks, "/") + "/"
	for _, at := range channels {
		r.channel(at, n)
	}
}

// serverURL refuses what is not the URL of a server. It does not repeat it: its
// path may be a secret.
func serverURL(s string) error {
	switch {
	case userinfo.MatchString(s):
		return errors.New("it holds a user or a password; those come from username and password_file")
	case !notify.IsURL(s):
		return errors.New("it is not the URL of a server; want one such as https://hooks.example.org/backstop")
	}
	return nil
}

var channelName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)

// channel reads one entry of channels.
func (r *configReader) channel(at position, n *notifyConfig) {
	var c printedChannel
	var endsAfter time.Duration
	given := map[string]position{}
	note := func(key string, use func(position)) func(position) {
		return func(at position) {
			given[key] = at
			use(at)
		}
	}
	oneOf := func(what string, words ...string) func(string) error {
		return func(s string) error {
			if !slices.Contains(words, s) {
				return fmt.Errorf("%q is no %s; want %s", s, what, strings.Join(words, ", "))
			}
			return nil
		}
	}
	k := keys{
		"name": r.into(&c.Name, func(s string) error {
			if !channelName.MatchString(s) {
				return fmt.Errorf("%q is not a name for a channel: it stands in metrics, so want small letters, digits and dashes", s)
			}
			if slices.ContainsFunc(n.printed, func(o printedChannel) bool { return o.Name == s }) {
				return fmt.Errorf("two channels are named %q", s)
			}
			return nil
		}),
		"type":              r.into(&c.Type, oneOf("type of a channel", slices.Sorted(maps.Keys(channelKeys))...)),
		"severity":          r.into(&c.Severity, oneOf("severity", "warning", "unknown", "critical")),
		"url":               r.into(&c.URL, serverURL),
		"urls":              func(at position) { r.list(at, func(at position) { r.url(at, &c.URLs) }) },
		"url_file":          r.into(&c.URLFile, nil),
		"username":          r.into(&c.Username, nil),
		"password_file":     r.into(&c.PasswordFile, nil),
		"bearer_token_file": r.into(&c.BearerTokenFile, nil),
		"routing_key_file":  r.into(&c.RoutingKeyFile, nil),
		"secret_file":       r.into(&c.SecretFile, nil),
		"ca_file":           r.into(&c.CAFile, nil),
		"headers":           func(at position) { c.Headers = r.headers(at) },
		"template":          r.into(&c.Template, nil),
		"each":              r.into(&c.Each, oneOf("thing to make a request for", "alert", "round")),
		"content_type":      r.into(&c.ContentType, nil),
		"ends_after":        r.length(&endsAfter),
		"fail_on":           r.into(&c.FailOn, oneOf("verdict to fail on", "warning", "critical")),
	}
	for key, use := range k {
		k[key] = note(key, use)
	}
	before := len(r.wrong)
	r.mapping(at, k)
	if endsAfter > 0 {
		c.EndsAfter = lengthText(endsAfter)
	}
	r.fitting(at, c, given)
	n.printed = append(n.printed, c)
	if len(r.wrong) == before {
		r.addChannel(given["template"], c, endsAfter, n)
	}
}

// url reads one of several URLs.
func (r *configReader) url(at position, to *[]string) {
	var s string
	r.into(&s, serverURL)(at)
	if slices.Contains(*to, s) && s != "" {
		r.mistake(at, "it is named twice")
	}
	*to = append(*to, s)
}

var headerName = regexp.MustCompile(`^[A-Za-z0-9-]+$`)

// headers reads headers that are sent along. What lets somebody in is no header
// but a secret.
func (r *configReader) headers(at position) map[string]string {
	all := map[string]string{}
	n := resolve(at.Node)
	if n.Kind != yaml.MappingNode {
		r.mistake(at, "want keys with values, found %s", kindOf(n))
		return all
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := http.CanonicalHeaderKey(n.Content[i].Value)
		here := position{Node: n.Content[i+1], path: at.below(n.Content[i].Value)}
		var value string
		r.into(&value, func(s string) error {
			switch {
			case !headerName.MatchString(name):
				return errors.New("it is not the name of a header")
			case slices.Contains([]string{"Authorization", "Proxy-Authorization", "Cookie"}, name):
				return errors.New("it is a secret; it comes from bearer_token_file, or username and password_file")
			case slices.Contains([]string{"Content-Type", "Content-Length", "Host"}, name):
				return errors.New("it is not for a configuration to set; see content_type")
			case strings.ContainsAny(s, "\r\n\x00"):
				return errors.New("it holds more than one line")
			}
			return nil
		})(here)
		all[name] = value
	}
	return all
}

// fitting looks at the keys of a channel together.
func (r *configReader) fitting(at position, c printedChannel, given map[string]position) {
	n := resolve(at.Node)
	if n.Kind != yaml.MappingNode && !isNull(n) {
		return
	}
	has := func(key string) bool { _, ok := given[key]; return ok }
	for _, key := range []string{"name", "type"} {
		if !has(key) {
			r.mistake(at, "%s is missing: a channel has name and type", key)
		}
	}
	allowed, known := channelKeys[c.Type]
	if !known {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains([]string{"name", "type", "ca_file"}, key) && !slices.Contains(allowed, key) {
			r.mistake(given[key], "it is not for a channel of the type %s", c.Type)
		}
	}
	for kind, key := range map[string]string{"alertmanager": "urls", "slack": "url_file", "pagerduty": "routing_key_file"} {
		if c.Type == kind && !has(key) {
			r.mistake(at, "%s is missing: a channel of the type %s has one", key, kind)
		}
	}
	if c.Type == "alertmanager" && has("urls") && len(c.URLs) == 0 && !r.said(given["urls"].path) {
		r.mistake(given["urls"], "it is empty")
	}
	if slices.Contains([]string{"webhook", "deadman"}, c.Type) && has("url") == has("url_file") {
		r.mistake(at, "want url, or url_file where it is a secret, and not both")
	}
	if has("username") != has("password_file") {
		r.mistake(at, "username and password_file go together")
	}
	if has("bearer_token_file") && has("password_file") {
		r.mistake(at, "bearer_token_file and password_file do not go together")
	}
	if c.Type == "webhook" && has("each") && !has("template") {
		r.mistake(given["each"], "it is about a template, and there is none")
	}
	if c.Type == "webhook" && has("content_type") && !has("template") {
		r.mistake(given["content_type"], "without a template it is JSON")
	}
}

// addChannel makes a channel of what was read without a mistake.
func (r *configReader) addChannel(template position, c printedChannel, endsAfter time.Duration, n *notifyConfig) {
	if c.Type == deadmanType {
		d := deadman{Deadman: notify.Deadman{Name: c.Name, URL: c.URL, URLFile: c.URLFile, CAFile: c.CAFile}, failOn: audit.VerdictWarning}
		if c.FailOn == "critical" {
			d.failOn = audit.VerdictCritical
		}
		n.deadmen = append(n.deadmen, d)
		return
	}
	out := notify.Channel{
		Name: c.Name, Type: notify.Type(c.Type), Least: audit.Severity(c.Severity), URLs: c.URLs, URLFile: c.URLFile,
		Username: c.Username, PasswordFile: c.PasswordFile, BearerTokenFile: c.BearerTokenFile, Header: c.Headers,
		SecretFile: c.SecretFile, CAFile: c.CAFile, EndsAfter: endsAfter, ContentType: c.ContentType,
	}
	if c.URL != "" {
		out.URLs = []string{c.URL}
	}
	if out.Type == notify.PagerDuty {
		out.SecretFile = c.RoutingKeyFile
		if c.URL == "" {
			out.URLs = []string{pagerDutyURL}
		}
	}
	if c.Template != "" {
		var err error
		isJSON := c.ContentType == "" || c.ContentType == "application/json"
		if out.Template, err = notify.ParseTemplate(c.Template, c.Each == "alert", isJSON); err != nil {
			r.mistake(template, "%v", err)
		}
	}
	n.channels = append(n.channels, out)
}

// count says how many channels there are; nothing for none.
func (n notifyConfig) count() string {
	if len(n.printed) == 0 {
		return ""
	}
	return " and " + audit.Plural(len(n.printed), "channel")
}

// print gives what is in effect, without the part of a URL that may be a secret.
func (n notifyConfig) print() *printedNotify {
	if len(n.printed) == 0 && n.runbooks == "" {
		return nil
	}
	out := &printedNotify{Runbooks: n.runbooks, Channels: []printedChannel{}}
	for _, c := range n.printed {
		if c.Severity == "" && c.Type != deadmanType {
			c.Severity = string(audit.Warning)
		}
		c.URL = shownURL(c.URL)
		out.Channels = append(out.Channels, c)
	}
	return out
}

// shownURL is a URL of which the path is left out.
func shownURL(s string) string {
	if s == "" || s == pagerDutyURL {
		return s
	}
	return hidePath.ReplaceAllString(s, "${1}/REDACTED")
}

var hidePath = regexp.MustCompile(`^(https?://[^/?]+)[/?].+$`)
