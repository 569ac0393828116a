package notify

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"backstop/alerts/deliver"
	"backstop/audit"
)

// A Type is a way to tell.
type Type string

// The types of channels.
const (
	Alertmanager Type = "alertmanager"
	Slack        Type = "slack"
	PagerDuty    Type = "pagerduty"
	Webhook      Type = "webhook"
)

// A Channel is somebody to tell.
type Channel struct {
	Name string
	Type Type
	// Least is the least severity that is told; empty means warning.
	Least audit.Severity

	// URLs are where to tell: of Alertmanager every replica, of the others one.
	// URLFile holds the URL where it is a secret, as Slack's is.
	URLs    []string
	URLFile string
	// Username and PasswordFile are for basic authentication, BearerTokenFile for
	// the other. Header holds what else is to be sent.
	Username, PasswordFile, BearerTokenFile string
	Header                                  map[string]string
	// SecretFile holds what the template {{secret}} is: PagerDuty's routing key.
	SecretFile string
	// CAFile holds certificates to trust besides the system's.
	CAFile string

	// EndsAfter is for how long Alertmanager believes an alert that is not
	// repeated. Zero means 4 hours.
	EndsAfter time.Duration
	// Template makes the body of a webhook's request; nil means the type's own.
	Template *Template
	// ContentType is that of the template's text; empty means JSON.
	ContentType string
}

// endsAfter is the default of Channel.EndsAfter: an alert must not end between two
// runs of a CronJob, and backstop says when it is over.
const endsAfter = 4 * time.Hour

// wants reports whether an alert is urgent enough.
func (c Channel) wants(a Alert) bool {
	least := c.Least
	if least == "" {
		least = audit.Warning
	}
	return !least.Worse(audit.Severity(a.Verdict))
}

// send tells a batch. done is called for each alert that has arrived, and by one
// goroutine at a time.
func (c Channel) send(ctx context.Context, client deliver.Client, b Batch, done func(Alert)) error {
	k, err := c.keys()
	if err != nil {
		return err
	}
	if client.Transport, err = trusting(c.CAFile, client.Transport); err != nil {
		return err
	}
	if c.Type == Alertmanager {
		return c.sendAlertmanager(ctx, &client, k, b, done)
	}
	return c.sendWebhook(ctx, &client, k, b, done)
}

// keys are what a channel's files hold.
type keys struct {
	urls    []string
	header  http.Header
	secret  string
	secrets []string // all of them
}

// keys reads the files each time: a mounted secret changes under a running
// program.
func (c Channel) keys() (keys, error) {
	k := keys{urls: c.URLs, header: http.Header{"User-Agent": {"backstop"}}}
	var url, password, token string
	for _, f := range []struct {
		file string
		to   *string
	}{{c.URLFile, &url}, {c.PasswordFile, &password}, {c.BearerTokenFile, &token}, {c.SecretFile, &k.secret}} {
		if f.file == "" {
			continue
		}
		var err error
		if *f.to, err = readSecret(f.file); err != nil {
			return keys{}, err
		}
		k.secrets = append(k.secrets, *f.to)
	}
	if url != "" {
		if !IsURL(url) {
			return keys{}, fmt.Errorf("%s does not hold the URL of a server", c.URLFile)
		}
		k.urls = []string{url}
	}
	for name, value := range c.Header {
		k.header.Set(name, value)
	}
	switch {
	case token != "":
		k.header.Set("Authorization", "Bearer "+token)
	case password != "":
		pair := base64.StdEncoding.EncodeToString([]byte(c.Username + ":" + password))
		k.header.Set("Authorization", "Basic "+pair)
		k.secrets = append(k.secrets, pair)
	}
	return k, nil
}

// readSecret reads a file that holds one line.
func readSecret(file string) (string, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("read a secret: %w", err)
	}
	s := strings.TrimSpace(string(b))
	switch {
	case s == "":
		return "", fmt.Errorf("read a secret: %s is empty", file)
	case strings.ContainsAny(s, "\r\n\x00"):
		return "", fmt.Errorf("read a secret: %s holds more than one line", file)
	}
	return s, nil
}

// trusting gives a transport that trusts the certificates of a file besides the
// system's; without a file it is the one that was given.
func trusting(file string, given http.RoundTripper) (http.RoundTripper, error) {
	if file == "" {
		return given, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read certificates: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("read certificates: %s holds none", file)
	}
	own := http.DefaultTransport.(*http.Transport).Clone()
	own.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	return own, nil
}

// IsURL reports whether s is the URL of a server, without user and password.
func IsURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil && u.Fragment == ""
}

// message is a request to a URL of the channel.
func (k keys) message(url, contentType string, body []byte) deliver.Message {
	h := k.header.Clone()
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", contentType)
	}
	return deliver.Message{Method: http.MethodPost, URL: url, Header: h, Body: body, Secrets: k.secrets}
}
