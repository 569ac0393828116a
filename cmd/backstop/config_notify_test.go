package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"backstop/alerts/notify"
	"backstop/audit"
)

// oneChannel is a configuration with one channel and these keys of it.
func oneChannel(keys string) string {
	return "version: 1\nnotify:\n  channels:\n  - name: x\n    " + strings.ReplaceAll(keys, "\n", "\n    ") + "\n"
}

const noURL = "it is not the URL of a server; want one such as https://hooks.example.org/backstop"

// notifyMistakes are all the mistakes that the part about telling can have.
var notifyMistakes = map[string]struct {
	body     string
	want     []string
	bySchema bool
}{
	"notify is a list":         {"version: 1\nnotify: []\n", []string{"line 2: notify: want keys with values, found a list"}, true},
	"channels are keys":        {"version: 1\nnotify: {channels: {name: x}}\n", []string{"line 2: notify.channels: want a list, found keys with values"}, true},
	"unknown in notify":        {"version: 1\nnotify: {chanels: []}\n", []string{`line 2: notify: unknown key "chanels"; did you mean "channels"?`}, true},
	"runbooks is no URL":       {"version: 1\nnotify: {runbooks: wiki}\n", []string{"line 2: notify.runbooks: " + noURL}, true},
	"runbooks with a secret":   {"version: 1\nnotify: {runbooks: 'https://joe:hunter2@wiki'}\n", []string{"line 2: notify.runbooks: it holds a user or a password; those come from username and password_file"}, true},
	"a channel of nothing":     {"version: 1\nnotify: {channels: [{}]}\n", []string{"line 2: notify.channels[0]: name is missing: a channel has name and type", "line 2: notify.channels[0]: type is missing: a channel has name and type"}, true},
	"a channel is a word":      {"version: 1\nnotify: {channels: [slack]}\n", []string{`line 2: notify.channels[0]: want keys with values, found "slack"`}, true},
	"a channel, null":          {"version: 1\nnotify:\n  channels:\n  -\n", []string{"line 4: notify.channels[0]: name is missing: a channel has name and type", "line 4: notify.channels[0]: type is missing: a channel has name and type"}, true},
	"unknown in a channel":     {oneChannel("type: slack\nurl_file: /x\npassword: hunter2"), []string{`line 7: notify.channels[0]: unknown key "password"`}, true},
	"a token in the file":      {oneChannel("type: webhook\nurl: https://x\nbearer_token: hunter2"), []string{`line 7: notify.channels[0]: unknown key "bearer_token"`}, true},
	"a type of no kind":        {oneChannel("type: email"), []string{`line 5: notify.channels[0].type: "email" is no type of a channel; want alertmanager, deadman, pagerduty, slack, webhook`}, true},
	"a name with a space":      {"version: 1\nnotify:\n  channels:\n  - {name: My Chat, type: slack, url_file: /x}\n", []string{`line 4: notify.channels[0].name: "My Chat" is not a name for a channel: it stands in metrics, so want small letters, digits and dashes`}, true},
	"two of one name":          {"version: 1\nnotify:\n  channels:\n  - {name: x, type: slack, url_file: /x}\n  - {name: x, type: slack, url_file: /y}\n", []string{`line 5: notify.channels[1].name: two channels are named "x"`}, false},
	"severity of no kind":      {oneChannel("type: slack\nurl_file: /x\nseverity: info"), []string{`line 7: notify.channels[0].severity: "info" is no severity; want warning, unknown, critical`}, true},
	"alertmanager, urls":       {oneChannel("type: alertmanager"), []string{"line 4: notify.channels[0]: urls is missing: a channel of the type alertmanager has one"}, true},
	"alertmanager, no urls":    {oneChannel("type: alertmanager\nurls: []"), []string{"line 6: notify.channels[0].urls: it is empty"}, false},
	"alertmanager, no URL":     {oneChannel("type: alertmanager\nurls: ['am:9093']"), []string{"line 6: notify.channels[0].urls[0]: " + noURL}, true},
	"alertmanager twice":       {oneChannel("type: alertmanager\nurls: [http://am, http://am]"), []string{"line 6: notify.channels[0].urls[1]: it is named twice"}, false},
	"alertmanager, a path":     {oneChannel("type: alertmanager\nurls: [http://am]\nends_after: soon"), []string{`line 7: notify.channels[0].ends_after: "soon" is not a length of time; want one such as 15m, 90d or 2y`}, true},
	"alertmanager, url":        {oneChannel("type: alertmanager\nurls: [http://am]\nurl: http://am"), []string{"line 7: notify.channels[0].url: it is not for a channel of the type alertmanager"}, true},
	"slack, url_file":          {oneChannel("type: slack"), []string{"line 4: notify.channels[0]: url_file is missing: a channel of the type slack has one"}, true},
	"slack, url":               {oneChannel("type: slack\nurl: https://hooks.slack.com/services/hunter2"), []string{"line 4: notify.channels[0]: url_file is missing: a channel of the type slack has one", "line 6: notify.channels[0].url: it is not for a channel of the type slack"}, true},
	"pagerduty, key":           {oneChannel("type: pagerduty"), []string{"line 4: notify.channels[0]: routing_key_file is missing: a channel of the type pagerduty has one"}, true},
	"pagerduty, fail_on":       {oneChannel("type: pagerduty\nrouting_key_file: /x\nfail_on: warning"), []string{"line 7: notify.channels[0].fail_on: it is not for a channel of the type pagerduty"}, true},
	"webhook, no url":          {oneChannel("type: webhook"), []string{"line 4: notify.channels[0]: want url, or url_file where it is a secret, and not both"}, false},
	"webhook, two urls":        {oneChannel("type: webhook\nurl: https://x\nurl_file: /x"), []string{"line 4: notify.channels[0]: want url, or url_file where it is a secret, and not both"}, false},
	"webhook, its password":    {oneChannel("type: webhook\nurl: https://joe:hunter2@x"), []string{"line 6: notify.channels[0].url: it holds a user or a password; those come from username and password_file"}, true},
	"webhook, a fragment":      {oneChannel("type: webhook\nurl: https://x/#hunter2"), []string{"line 6: notify.channels[0].url: " + noURL}, true},
	"webhook, half a login":    {oneChannel("type: webhook\nurl: https://x\nusername: joe"), []string{"line 4: notify.channels[0]: username and password_file go together"}, true},
	"webhook, two logins":      {oneChannel("type: webhook\nurl: https://x\nusername: joe\npassword_file: /x\nbearer_token_file: /y"), []string{"line 4: notify.channels[0]: bearer_token_file and password_file do not go together"}, false},
	"webhook, headers":         {oneChannel("type: webhook\nurl: https://x\nheaders: [X-Team]"), []string{"line 7: notify.channels[0].headers: want keys with values, found a list"}, true},
	"webhook, authorization":   {oneChannel("type: webhook\nurl: https://x\nheaders: {authorization: hunter2}"), []string{"line 7: notify.channels[0].headers.authorization: it is a secret; it comes from bearer_token_file, or username and password_file"}, false},
	"webhook, a cookie":        {oneChannel("type: webhook\nurl: https://x\nheaders: {Cookie: hunter2}"), []string{"line 7: notify.channels[0].headers.Cookie: it is a secret; it comes from bearer_token_file, or username and password_file"}, false},
	"webhook, content type":    {oneChannel("type: webhook\nurl: https://x\nheaders: {Content-Type: a}"), []string{"line 7: notify.channels[0].headers.Content-Type: it is not for a configuration to set; see content_type"}, false},
	"webhook, a header's name": {oneChannel("type: webhook\nurl: https://x\nheaders: {'X Team': a}"), []string{"line 7: notify.channels[0].headers.X Team: it is not the name of a header"}, false},
	"webhook, two lines":       {oneChannel("type: webhook\nurl: https://x\nheaders: {X-Team: \"a\\r\\nX-Injected: 1\"}"), []string{"line 7: notify.channels[0].headers.X-Team: it holds more than one line"}, false},
	"webhook, each of what":    {oneChannel("type: webhook\nurl: https://x\neach: alert"), []string{"line 7: notify.channels[0].each: it is about a template, and there is none"}, false},
	"webhook, each store":      {oneChannel("type: webhook\nurl: https://x\ntemplate: x\ncontent_type: text/plain\neach: store"), []string{`line 9: notify.channels[0].each: "store" is no thing to make a request for; want alert, round`}, true},
	"webhook, type of what":    {oneChannel("type: webhook\nurl: https://x\ncontent_type: text/plain"), []string{"line 7: notify.channels[0].content_type: without a template it is JSON"}, false},
	"webhook, bad template":    {oneChannel("type: webhook\nurl: https://x\ntemplate: '{{.Nope}}'"), []string{"line 7: notify.channels[0].template: line 1:2: executing \"template\" at <.Nope>: can't evaluate field Nope in type notify.Batch"}, false},
	"webhook, no JSON":         {oneChannel("type: webhook\nurl: https://x\ntemplate: hello"), []string{"line 7: notify.channels[0].template: what it makes is not JSON; write texts as {{json .Message}}"}, false},
	"deadman, no url":          {oneChannel("type: deadman"), []string{"line 4: notify.channels[0]: want url, or url_file where it is a secret, and not both"}, false},
	"deadman, severity":        {oneChannel("type: deadman\nurl: https://x\nseverity: critical"), []string{"line 7: notify.channels[0].severity: it is not for a channel of the type deadman"}, true},
	"deadman, fails on what":   {oneChannel("type: deadman\nurl: https://x\nfail_on: unknown"), []string{`line 7: notify.channels[0].fail_on: "unknown" is no verdict to fail on; want warning, critical`}, true},
}

func TestNotifyMistakes(t *testing.T) {
	schema := configSchema(t)
	for name, c := range notifyMistakes {
		_, wrong := parseConfig([]byte(c.body), configNoon)
		var got []string
		for _, m := range wrong {
			got = append(got, m.String())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
		if strings.Contains(strings.Join(got, ""), "hunter2") {
			t.Errorf("%s tells a secret: %q", name, got)
		}
		for _, args := range [][]string{{"config", "validate"}, {"audit", "--notify"}, {"notify", "test"}} {
			if r := command(t, configNoon, append(args, "--config", configured(t, c.body))...); r.code != exitConfig || strings.Contains(r.stdout+r.stderr, "hunter2") {
				t.Errorf("%s: %q: exit %d\n%s%s", name, args, r.code, r.stdout, r.stderr)
			}
		}
		doc, ok := asDocument(t, c.body)
		if refused := ok && schema.Validate(doc) != nil; !ok || refused != c.bySchema {
			t.Errorf("%s: the schema refuses it: %t, want %t", name, refused, c.bySchema)
		}
	}
}

// What a channel becomes, and what is printed of it.
func TestNotifyConfig(t *testing.T) {
	c, wrong := parseConfig([]byte(documented(t)), configNoon)
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	n := c.notify
	if n.runbooks != "https://wiki.example.org/backstop/" || len(n.channels) != 4 || len(n.deadmen) != 1 {
		t.Fatalf("%+v", n)
	}
	am := n.channels[0]
	if am.Type != notify.Alertmanager || len(am.URLs) != 2 || am.EndsAfter != 4*time.Hour || am.Username != "backstop" || am.PasswordFile != "/run/secrets/alertmanager" || am.Least != "" {
		t.Errorf("%+v", am)
	}
	if chat := n.channels[1]; chat.Type != notify.Slack || chat.URLFile != "/run/secrets/slack-url" || chat.Least != audit.Critical {
		t.Errorf("%+v", chat)
	}
	if pager := n.channels[2]; pager.URLs[0] != "https://events.pagerduty.com/v2/enqueue" || pager.SecretFile != "/run/secrets/pagerduty" {
		t.Errorf("%+v", pager)
	}
	if hook := n.channels[3]; hook.Template == nil || hook.ContentType != "text/plain" || hook.Header["X-Team"] != "sre" || hook.CAFile != "/etc/ssl/example.pem" {
		t.Errorf("%+v", hook)
	}
	if d := n.deadmen[0]; d.URLFile != "/run/secrets/healthchecks" || d.failOn != audit.VerdictCritical {
		t.Errorf("%+v", d)
	}
	for body, want := range map[string]string{
		oneChannel("type: webhook\nurl: https://x/hunter2?token=hunter2"):                                 "url: https://x/REDACTED\n",
		oneChannel("type: deadman\nurl: https://x:8000/ping/hunter2"):                                     "url: https://x:8000/REDACTED\n",
		oneChannel("type: webhook\nurl: https://x"):                                                       "url: https://x\n",
		oneChannel("type: pagerduty\nrouting_key_file: /x\nurl: https://events.pagerduty.com/v2/enqueue"): "url: https://events.pagerduty.com/v2/enqueue\n",
		"version: 1\nnotify: {runbooks: https://wiki}\n":                                                  "runbooks: https://wiki/\n",
		"version: 1\nnotify:\n": "runbooks: https://backstop.invalid/\n",
	} {
		r := command(t, configNoon, "config", "print", "--config", configured(t, body))
		if r.code != 0 || !strings.Contains(r.stdout, want) || strings.Contains(r.stdout, "hunter2") {
			t.Errorf("%s: exit %d\n%s%s", body, r.code, r.stdout, r.stderr)
		}
		if doc, ok := asDocument(t, body); !ok || configSchema(t).Validate(doc) != nil {
			t.Errorf("%s: the schema refuses it", body)
		}
	}
}
