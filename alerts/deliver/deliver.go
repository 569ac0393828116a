// Package deliver makes the HTTP requests that must arrive: it tries again, keeps
// to a limit, follows no redirect, and lets no secret into an error.
package deliver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/cenkalti/backoff/v5"
)

// A Client makes requests. The zero value is ready.
type Client struct {
	// Transport makes one request; nil means http.DefaultTransport, which
	// honours the proxies of the environment.
	Transport http.RoundTripper
	// Tries is how often a request is made at most. Zero means 5.
	Tries uint
	// Delay is the wait before the second try, more or less; it doubles with
	// each further one. What Retry-After asks for goes before. Zero means 1 s.
	Delay time.Duration
	// Limit is for all tries of one request together. Zero means 30 s.
	Limit time.Duration
}

// maxAnswer bounds what is read of an answer: a Pushgateway's list of groups is
// long.
const maxAnswer = 256 << 20

// Do makes a request, again where the answer is 429 or 5xx or does not come. It
// gives the last answer, whatever its status, with its body read already; the
// error is that there was none. The request's body must be one that can be read
// again (see http.Request.GetBody).
func (c *Client) Do(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(req.Context(), orElse(c.Limit, 30*time.Second))
	defer cancel()
	waits := &backoff.ExponentialBackOff{InitialInterval: orElse(c.Delay, time.Second), RandomizationFactor: 0.5, Multiplier: 2, MaxInterval: 10 * time.Second}
	var last *http.Response
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		resp, err := c.once(ctx, req)
		if err == nil {
			last = resp
			err = again(resp)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(waits), backoff.WithMaxTries(orElse(c.Tries, 5)), backoff.WithMaxElapsedTime(orElse(c.Limit, 30*time.Second)))
	if last != nil {
		return last, nil
	}
	return nil, plainly(req, err)
}

// once makes a request once, and reads the answer.
func (c *Client) once(ctx context.Context, req *http.Request) (*http.Response, error) {
	one := req.Clone(ctx)
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, backoff.Permanent(err)
		}
		one.Body = body
	}
	client := &http.Client{Transport: c.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(one)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }() // it was read, or is given up
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// again gives an error where another try may help.
func again(r *http.Response) error {
	if r.StatusCode != http.StatusTooManyRequests && (r.StatusCode < 500 || r.StatusCode == http.StatusNotImplemented) {
		return nil
	}
	if wait, err := strconv.Atoi(r.Header.Get("Retry-After")); err == nil && wait >= 0 {
		return backoff.RetryAfter(wait)
	}
	return fmt.Errorf("HTTP %d", r.StatusCode)
}

// plainly leaves the URL out of an error: its path may be the secret.
func plainly(req *http.Request, err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return fmt.Errorf("%s %s: %w", req.Method, Shown(req.URL.String()), err)
}

// Shown is a URL as it may be shown: without user, path and query, of which each
// may be a secret.
func Shown(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return "(a URL that cannot be read)"
	}
	s := u.Scheme + "://" + u.Host
	if strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		s += "/..."
	}
	return s
}

// A Message is a request that must be accepted.
type Message struct {
	Method, URL string
	Header      http.Header
	Body        []byte
	// Secrets must not stand in an error, though the answer may repeat them.
	Secrets []string
}

// Send makes the request of a message. Any answer but 2xx is an error, which
// holds the beginning of what was said.
func (c *Client) Send(ctx context.Context, m Message) error {
	req, err := http.NewRequestWithContext(ctx, m.Method, m.URL, bytes.NewReader(m.Body))
	if err != nil {
		return fmt.Errorf("%s %s: the request cannot be made", m.Method, Shown(m.URL)) // err may quote the URL
	}
	for name, values := range m.Header {
		req.Header[name] = values
	}
	resp, err := c.Do(req)
	if err != nil {
		return errors.New(m.hide(err.Error()))
	}
	if resp.StatusCode/100 == 2 {
		return nil
	}
	body, _ := io.ReadAll(resp.Body) // it is in memory
	said := ""
	if text := excerpt(m.hide(string(body))); text != "" {
		said = ": " + text
	}
	return fmt.Errorf("%s %s: HTTP %d%s", m.Method, Shown(m.URL), resp.StatusCode, said)
}

// hide takes the secrets out of a text.
func (m Message) hide(text string) string {
	for _, s := range m.Secrets {
		if s != "" {
			text = strings.ReplaceAll(text, s, "REDACTED")
		}
	}
	return text
}

// excerpt is the beginning of a text, on one line and harmless to show.
func excerpt(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > 200 {
		text = text[:200] + "..."
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || unicode.Is(unicode.Bidi_Control, r) {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
}

func orElse[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}
