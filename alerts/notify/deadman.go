package notify

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"

	"backstop/alerts/deliver"
)

// A Deadman is told when a run begins and how it ended, and raises the alarm when
// it hears nothing. It speaks the language of healthchecks.io: URL/start, then
// URL/STATUS with the end of the report as body, both with one rid.
type Deadman struct {
	Name         string
	URL, URLFile string
	CAFile       string // certificates to trust besides the system's
	// Fails says which exit statuses count as failures there. Any other is told
	// as 0.
	Fails func(status int) bool
}

// maxBody is what healthchecks.io keeps of a body, in bytes.
const maxBody = 100_000

// A Run is one run that a Deadman watches.
type Run struct {
	dead   Deadman
	client deliver.Client
	id     string
}

// Begin tells that a run begins. An error keeps nobody from running, nor from
// telling how it ended.
func (d Deadman) Begin(ctx context.Context, client deliver.Client) (*Run, error) {
	r := &Run{d, client, newID()}
	return r, r.ping(ctx, "start", nil)
}

// End tells how the run ended.
func (r *Run) End(ctx context.Context, status int, body string) error {
	if r.dead.Fails != nil && !r.dead.Fails(status) {
		status = 0
	}
	if len(body) > maxBody {
		body = body[:maxBody]
	}
	return r.ping(ctx, strconv.Itoa(min(status, 255)), []byte(body))
}

func (r *Run) ping(ctx context.Context, what string, body []byte) error {
	address, err := r.address(what)
	client := r.client
	if err == nil {
		client.Transport, err = trusting(r.dead.CAFile, client.Transport)
	}
	if err == nil {
		secrets := []string{address}
		err = client.Send(ctx, deliver.Message{Method: http.MethodPost, URL: address, Body: body, Secrets: secrets,
			Header: http.Header{"User-Agent": {"backstop"}, "Content-Type": {"text/plain; charset=utf-8"}}})
	}
	if err != nil {
		return fmt.Errorf("tell the dead-man's switch %s (%s): %w", r.dead.Name, what, err)
	}
	return nil
}

func (r *Run) address(what string) (string, error) {
	base := r.dead.URL
	if r.dead.URLFile != "" {
		var err error
		if base, err = readSecret(r.dead.URLFile); err != nil {
			return "", err
		}
		if !IsURL(base) {
			return "", fmt.Errorf("%s does not hold the URL of a server", r.dead.URLFile)
		}
	}
	u, err := url.Parse(base)
	if err != nil {
		return "", fmt.Errorf("its URL cannot be read") // err quotes it
	}
	u = u.JoinPath(what)
	q := u.Query()
	q.Set("rid", r.id)
	u.RawQuery = q.Encode()
	return u.String(), nil
}

// newID is a random UUID. It guards nothing.
func newID() string {
	hi, lo := rand.Uint64()&^uint64(0xf000)|0x4000, rand.Uint64()&^(uint64(3)<<62)|uint64(2)<<62
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", hi>>32, hi>>16&0xffff, hi&0xffff, lo>>48, lo&0xffffffffffff)
}
