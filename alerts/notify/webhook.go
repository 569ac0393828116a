package notify

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/template"
	"time"
	"unicode/utf8"

	"backstop/alerts/deliver"
	"backstop/audit"
)

//go:embed templates/*.tmpl
var shipped embed.FS

// A Template makes the body of a request.
type Template struct {
	text *template.Template
	// each says that it is for one alert, and that every alert has a request of
	// its own; else it is for a whole round.
	each bool
}

// An Event is what a template for one alert is given.
type Event struct {
	Alert
	Event string // trigger or resolve
}

// ParseTemplate reads a template of text/template. each says that it is for one
// alert (see [Event]), and not for a round (see [Batch]). It is tried with an alert
// of the greatest kind; what is JSON must be JSON then.
func ParseTemplate(text string, each, isJSON bool) (*Template, error) {
	parsed, err := template.New("template").Option("missingkey=error").Funcs(functions("")).Parse(text)
	if err != nil {
		return nil, plainTemplateError(err)
	}
	t := &Template{parsed, each}
	a := Alert{Name: "BackstopTest", Store: "s3://a \"b\"", Message: "one\ntwo", Do: []string{"three"}, Since: time.Unix(0, 0), Over: ""}
	a.Verdict = string(audit.Critical)
	for _, b := range []Batch{
		{Now: time.Unix(0, 0), New: []Alert{a}, Open: []Alert{a}, Over: []Alert{}},
		{Now: time.Unix(0, 0), New: []Alert{}, Open: []Alert{}, Over: []Alert{a}},
	} {
		for _, r := range t.requests(b) {
			body, err := t.body(r.data, "")
			if err != nil {
				return nil, err
			}
			if isJSON && !json.Valid(body) {
				return nil, errors.New("what it makes is not JSON; write texts as {{json .Message}}")
			}
		}
	}
	return t, nil
}

// plainTemplateError leaves the name out that a template is given.
func plainTemplateError(err error) error {
	return errors.New(strings.ReplaceAll(strings.TrimPrefix(err.Error(), "template: "), "template:", "line "))
}

// own gives the shipped template of a type.
func own(t Type) *Template {
	text, err := shipped.ReadFile("templates/" + string(t) + ".tmpl")
	if err != nil {
		panic(err) // they are embedded
	}
	parsed, err := ParseTemplate(string(text), t == PagerDuty, true)
	if err != nil {
		panic(err) // they are tested
	}
	return parsed
}

// functions are what templates can use besides text/template's own.
func functions(secret string) template.FuncMap {
	return template.FuncMap{
		// json writes any value as JSON.
		"json": func(v any) (string, error) {
			var b bytes.Buffer
			e := json.NewEncoder(&b)
			e.SetEscapeHTML(false)
			err := e.Encode(v)
			return strings.TrimSpace(b.String()), err
		},
		"join":  func(separator string, list []string) string { return strings.Join(list, separator) },
		"upper": strings.ToUpper,
		// cut shortens a text to a number of characters.
		"cut": func(n int, s string) string {
			if utf8.RuneCountInString(s) <= n {
				return s
			}
			return string([]rune(s)[:max(0, n-3)]) + "..."
		},
		// slack makes a text that Slack shows as it is: it must not call a channel
		// together because an object is named <!channel>.
		"slack":   strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace,
		"rfc3339": func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"secret":  func() string { return secret },
	}
}

// A request is what one request is made of, and the alerts that it tells of.
type request struct {
	data any
	tell []Alert
}

// requests are what a batch comes to. What is repeated alone makes none.
func (t *Template) requests(b Batch) []request {
	if len(b.New)+len(b.Over) == 0 {
		return nil
	}
	news := append(b.New[:len(b.New):len(b.New)], b.Over...)
	if !t.each {
		return []request{{b, news}}
	}
	var all []request
	for _, a := range news {
		event := "trigger"
		if a.Over != "" {
			event = "resolve"
		}
		all = append(all, request{Event{a, event}, []Alert{a}})
	}
	return all
}

func (t *Template) body(data any, secret string) ([]byte, error) {
	text, err := t.text.Clone()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := text.Funcs(functions(secret)).Execute(&b, data); err != nil {
		return nil, plainTemplateError(err)
	}
	return b.Bytes(), nil
}

// sendWebhook makes the requests of a batch, each by the template.
func (c Channel) sendWebhook(ctx context.Context, client *deliver.Client, k keys, b Batch, done func(Alert)) error {
	t := c.Template
	if t == nil {
		t = own(c.Type)
	}
	contentType := c.ContentType
	if contentType == "" {
		contentType = "application/json"
	}
	var errs []error
	for _, r := range t.requests(b) {
		body, err := t.body(r.data, k.secret)
		if err == nil && contentType == "application/json" && !json.Valid(body) {
			err = errors.New("what the template makes is not JSON")
		}
		if err == nil {
			err = client.Send(ctx, k.message(k.urls[0], contentType, body))
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", names(r.tell), err))
			continue
		}
		for _, a := range r.tell {
			done(a)
		}
	}
	return errors.Join(errs...)
}

// names says what a request was about.
func names(told []Alert) string {
	if len(told) == 1 {
		return told[0].Name + " of " + told[0].Store
	}
	return audit.Plural(len(told), "alert")
}
