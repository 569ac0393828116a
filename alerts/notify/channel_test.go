package notify

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"backstop/alerts"
	"backstop/audit"
	"backstop/rules"
)

// A recorder is a server that notes what it is asked, and answers as it is told.
type recorder struct {
	*httptest.Server
	mu       sync.Mutex
	requests []string // each as text: method, path, headers of interest, body
	answer   func(n int) int
}

func record(t *testing.T) *recorder {
	t.Helper()
	r := &recorder{answer: func(int) int { return http.StatusOK }}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.mu.Lock()
		defer r.mu.Unlock()
		text := req.Method + " " + req.URL.RequestURI() + "\n"
		for _, name := range []string{"Authorization", "Content-Type", "User-Agent", "X-Team"} {
			if v := req.Header.Get(name); v != "" {
				text += name + ": " + v + "\n"
			}
		}
		r.requests = append(r.requests, text+"\n"+string(body))
		w.WriteHeader(r.answer(len(r.requests)))
		fmt.Fprintf(w, "got %s and %s", req.Header.Get("Authorization"), body)
	}))
	t.Cleanup(r.Close)
	return r
}

// all gives what was asked since the last time, in any order of the network made
// one.
func (r *recorder) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	got := r.requests
	r.requests = nil
	return got
}

// secret writes a file that holds one.
func secret(t *testing.T, content string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(name, []byte(content+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// channels is one of each kind, all of which tell one server.
func channels(t *testing.T, url string) []Channel {
	t.Helper()
	custom, err := ParseTemplate(`{{range .New}}{{.Name}} {{secret}} {{end}}{{len .Over}} over`, false, false)
	if err != nil {
		t.Fatal(err)
	}
	return []Channel{
		{Name: "am", Type: Alertmanager, URLs: []string{url + "/am1", url + "/am2/"}, Username: "joe", PasswordFile: secret(t, "hunter2-password")},
		{Name: "slack", Type: Slack, URLFile: secret(t, url+"/services/hunter2-path")},
		{Name: "pager", Type: PagerDuty, URLs: []string{url + "/v2/enqueue"}, SecretFile: secret(t, "hunter2-routing-key")},
		{Name: "hook", Type: Webhook, URLs: []string{url + "/hook?x=1"}, BearerTokenFile: secret(t, "hunter2-token"), Header: map[string]string{"X-Team": "sre"}},
		{Name: "text", Type: Webhook, URLs: []string{url + "/text"}, Template: custom, ContentType: "text/plain", SecretFile: secret(t, "hunter2-in-body")},
	}
}

// hostile is a store whose names are chosen by an enemy.
func hostile() audit.StoreReport {
	s := store("<!channel> *b*\n\"}]{{.}}\x1b[31m\u202e")
	f := finding("control/reset-armed", audit.Critical, "see <https://evil.example|here> & \"quote\" \\ \x00", "Run <@U1> `rm`")
	f.Key = "k\r\nX-Injected: 1"
	s.Findings = append(s.Findings, f)
	return s
}

// What each channel is sent, byte for byte: when it begins, and when it is over.
func TestRequests(t *testing.T) {
	r := record(t)
	for _, c := range channels(t, r.URL) {
		n := &Notifier{Channels: []Channel{c}, Client: impatient()}
		round := Round{Report: reportOf(store("a", armed, late), hostile(), store("b", public)), Rules: rules.All, Now: noon, Runbooks: "https://wiki.example.org/"}
		s, counts, err := n.Tell(t.Context(), State{}, round)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
		if counts[alerts.Notification{Channel: c.Name, Outcome: alerts.Sent}] != 4 || counts[alerts.Notification{Channel: c.Name, Outcome: alerts.Failed}] != 0 {
			t.Errorf("%s: %v", c.Name, counts)
		}
		text := strings.Join(r.all(), "\n\n")
		round.Now, round.Report = noon.Add(time.Hour), reportOf(store("a", late))
		if _, _, err := n.Tell(t.Context(), s, round); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
		golden(t, c.Name+".txt", text+"\n\n===== an hour later\n\n"+strings.Join(r.all(), "\n\n")+"\n")
		for _, forbidden := range []string{"\x1b", "\u202e", "\r", "\x00"} {
			if strings.Contains(text, forbidden) {
				t.Errorf("%s: %q gets through", c.Name, forbidden)
			}
		}
	}
}

// Bodies are JSON, and Slack is not made to call a channel together.
func TestBodiesAreJSON(t *testing.T) {
	r := record(t)
	for _, c := range channels(t, r.URL)[:4] {
		n := &Notifier{Channels: []Channel{c}, Client: impatient()}
		if _, _, err := n.Tell(t.Context(), State{}, Round{Report: reportOf(hostile()), Rules: rules.All, Now: noon}); err != nil {
			t.Error(err)
		}
		for _, req := range r.all() {
			_, body, _ := strings.Cut(req, "\n\n")
			if !json.Valid([]byte(body)) {
				t.Errorf("%s: not JSON: %s", c.Name, body)
			}
			if c.Type == Slack && strings.Contains(body, "<!") {
				t.Errorf("%s: %s", c.Name, body)
			}
		}
	}
}

// What fails is tried again, is told in the next round, and does not keep others
// from being told; no secret is in what is said of it.
func TestFailures(t *testing.T) {
	good, bad := record(t), record(t)
	n := &Notifier{Client: impatient()}
	for i, c := range channels(t, bad.URL) {
		n.Channels = append(n.Channels, c)
		if i == 0 {
			ok := c
			ok.Name, ok.URLs = "good", []string{good.URL}
			n.Channels = append(n.Channels, ok)
		}
	}
	round := Round{Report: reportOf(store("a", armed)), Rules: rules.All, Now: noon}
	for status, tries := range map[int]int{400: 1, 401: 1, 403: 1, 404: 1, 429: 3, 500: 3, 503: 3, 302: 1} {
		bad.answer = func(int) int { return status }
		s, counts, err := n.Tell(t.Context(), State{}, round)
		if err == nil || len(s.Told["good"]) != 1 || len(good.all()) != 1 {
			t.Errorf("%d: %v, told %v", status, err, s.Told)
		}
		for _, c := range n.Channels {
			failed := counts[alerts.Notification{Channel: c.Name, Outcome: alerts.Failed}]
			if c.Name != "good" && (failed != 1 || len(s.Told[c.Name]) != 0 || !strings.Contains(err.Error(), "notify "+c.Name+": ")) {
				t.Errorf("%d: %s failed %d times, told %v", status, c.Name, failed, s.Told[c.Name])
			}
		}
		if got := len(bad.all()); got != 6*tries { // two replicas of Alertmanager
			t.Errorf("%d: %d requests, want %d", status, got, 6*tries)
		}
		if strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), fmt.Sprintf("HTTP %d", status)) {
			t.Errorf("%d: %v", status, err)
		}
		bad.answer = func(int) int { return 202 }
		if s, _, err = n.Tell(t.Context(), s, round); err != nil || len(s.Told["pager"]) != 1 {
			t.Errorf("%d: the next round: %v", status, err)
		}
		bad.all()
		good.all()
		// And what is over is told until it arrives.
		bad.answer = func(int) int { return status }
		over := Round{Report: reportOf(store("a")), Rules: rules.All, Now: noon}
		if s, _, err = n.Tell(t.Context(), s, over); err == nil || len(s.Told["pager"]) != 1 || len(s.Told["good"]) != 0 {
			t.Errorf("%d: over: %v, told %v", status, err, s.Told)
		}
		bad.answer = func(int) int { return 200 }
		bad.all()
		if s, _, err = n.Tell(t.Context(), s, over); err != nil || len(s.Told["pager"]) != 0 || len(bad.all()) != 6 {
			t.Errorf("%d: over, the next round: %v, told %v", status, err, s.Told)
		}
		if _, _, err = n.Tell(t.Context(), s, over); err != nil || len(bad.all()) != 0 {
			t.Errorf("%d: it is told again and again: %v", status, err)
		}
		good.all()
	}
}

// One of two replicas that does not answer keeps the other from nothing, and both
// are told the next time.
func TestEveryReplica(t *testing.T) {
	up, down := record(t), record(t)
	down.answer = func(int) int { return 400 }
	n := &Notifier{Client: impatient(), Channels: []Channel{{Name: "am", Type: Alertmanager, URLs: []string{down.URL, up.URL}}}}
	round := Round{Report: reportOf(store("a", armed)), Rules: rules.All, Now: noon}
	s, _, err := n.Tell(t.Context(), State{}, round)
	if err == nil || len(up.all()) != 1 || len(s.Told["am"]) != 0 {
		t.Errorf("%v, told %v", err, s.Told)
	}
	down.all()
	down.answer = func(int) int { return 200 }
	if s, _, err = n.Tell(t.Context(), s, round); err != nil || len(up.all()) != 1 || len(down.all()) != 1 || len(s.Told["am"]) != 1 {
		t.Errorf("%v, told %v", err, s.Told)
	}
	// It is repeated while it is so, and its end moves on.
	if _, err := n.Again(t.Context(), s, noon.Add(time.Minute)); err != nil {
		t.Error(err)
	}
	if got := up.all(); len(got) != 1 || !strings.Contains(got[0], `"endsAt":"2026-11-30T16:01:00Z"`) || !strings.Contains(got[0], `"startsAt":"2026-11-30T12:00:00Z"`) {
		t.Errorf("%q", got)
	}
	if _, err := n.Again(t.Context(), State{}, noon); err != nil || len(up.all()) != 0 {
		t.Errorf("nothing is repeated: %v", err)
	}
}

// Where the severity changes Alertmanager is told that the one before is over: it
// is another alert there.
func TestAlertmanagerSeverityChanges(t *testing.T) {
	r := record(t)
	n := &Notifier{Client: impatient(), Channels: []Channel{{Name: "am", Type: Alertmanager, URLs: []string{r.URL}, EndsAfter: time.Hour}}}
	var s State
	for _, severity := range []audit.Severity{audit.Warning, audit.Critical} {
		var err error
		if s, _, err = n.Tell(t.Context(), s, Round{Report: reportOf(store("a", finding("control/spec-mismatch", severity, "m"))), Rules: rules.All, Now: noon}); err != nil {
			t.Fatal(err)
		}
	}
	got := r.all()[1]
	var sent []amAlert
	_, body, _ := strings.Cut(got, "\n\n")
	if err := json.Unmarshal([]byte(body), &sent); err != nil {
		t.Fatal(err)
	}
	if len(sent) != 2 || sent[0].Labels["severity"] != "critical" || !sent[0].EndsAt.Equal(noon.Add(time.Hour)) || sent[1].Labels["severity"] != "warning" || !sent[1].EndsAt.Equal(noon) {
		t.Errorf("%+v", sent)
	}
}

// A secret that cannot be had is an error of that channel, which names the file.
func TestSecrets(t *testing.T) {
	r := record(t)
	for name, c := range map[string]struct {
		channel Channel
		want    string
	}{
		"no file":     {Channel{Type: Slack, URLFile: "/nowhere/url"}, "read a secret: open /nowhere/url"},
		"empty":       {Channel{Type: Webhook, URLs: []string{r.URL}, BearerTokenFile: secret(t, "  ")}, "is empty"},
		"two lines":   {Channel{Type: Webhook, URLs: []string{r.URL}, PasswordFile: secret(t, "hunter2\nX-Injected: 1")}, "holds more than one line"},
		"no URL":      {Channel{Type: Slack, URLFile: secret(t, "hunter2")}, "does not hold the URL of a server"},
		"no CA":       {Channel{Type: Webhook, URLs: []string{r.URL}, CAFile: "/nowhere/ca"}, "read certificates: open /nowhere/ca"},
		"CA is none":  {Channel{Type: Webhook, URLs: []string{r.URL}, CAFile: secret(t, "hunter2")}, "holds none"},
		"nobody home": {Channel{Type: Webhook, URLs: []string{"http://127.0.0.1:1/hunter2"}}, "refused"},
	} {
		c.channel.Name = "x"
		n := &Notifier{Client: impatient(), Channels: []Channel{c.channel}}
		_, _, err := n.Tell(t.Context(), State{}, Round{Report: reportOf(store("a", armed)), Now: noon})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A server with a certificate of its own is trusted where the channel says so.
func TestCertificates(t *testing.T) {
	var asked int
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // that it is not trusted is meant
	s.StartTLS()
	defer s.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, certificate(s), 0o644); err != nil {
		t.Fatal(err)
	}
	c := Channel{Name: "x", Type: Webhook, URLs: []string{s.URL}, CAFile: file}
	round := Round{Report: reportOf(store("a", armed)), Now: noon}
	if _, _, err := (&Notifier{Client: impatient(), Channels: []Channel{c}}).Tell(t.Context(), State{}, round); err != nil || asked != 1 {
		t.Errorf("%v, asked %d times", err, asked)
	}
	c.CAFile = ""
	if _, _, err := (&Notifier{Client: impatient(), Channels: []Channel{c}}).Tell(t.Context(), State{}, round); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("%v", err)
	}
}

// A test tells, and tells that it is over, whatever the least severity.
func TestTest(t *testing.T) {
	r := record(t)
	for _, c := range channels(t, r.URL) {
		c.Least = audit.Critical
		n := &Notifier{Client: impatient(), Channels: []Channel{c}}
		if err := n.Test(t.Context(), c, noon); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
		got := r.all()
		if text := strings.Join(got, ""); len(got) != len(c.URLs)*2 && c.URLFile == "" || !strings.Contains(text, "test") && c.Name != "text" {
			t.Errorf("%s: %d requests\n%s", c.Name, len(got), text)
		}
		r.answer = func(int) int { return 403 }
		if err := n.Test(t.Context(), c, noon); err == nil {
			t.Errorf("%s: no error", c.Name)
		}
		r.all()
		r.answer = func(int) int { return 200 }
	}
}

func TestTemplates(t *testing.T) {
	for text, want := range map[string]string{
		"{{.Nope}}": "can't evaluate field Nope", "{{if}}": "missing value for if", "{{range .New}}": "unexpected EOF", "{{nope .}}": `function "nope" not defined`,
		`{"text": "{{range .New}}{{.Message}}{{end}}"}`: "what it makes is not JSON; write texts as {{json .Message}}",
	} {
		if _, err := ParseTemplate(text, false, true); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := ParseTemplate(`{"event": {{json .Event}}, "text": {{json (cut 5 .Message)}}, "do": {{json (join ", " .Do)}}}`, true, true); err != nil {
		t.Error(err)
	}
	if _, err := ParseTemplate("{{.Message}}", true, false); err != nil {
		t.Error(err)
	}
	cut := functions("")["cut"].(func(int, string) string)
	for n, want := range map[int]string{0: "...", 5: "äb...", 6: "äbcdef", 100: "äbcdef"} {
		if got := cut(n, "äbcdef"); got != want {
			t.Errorf("cut %d: %q", n, got)
		}
	}
}

// A dead-man's switch hears when a run begins and how it ends.
func TestDeadman(t *testing.T) {
	r := record(t)
	for name, d := range map[string]Deadman{
		"url":  {Name: "hc", URL: r.URL + "/hunter2-uuid"},
		"file": {Name: "hc", URLFile: secret(t, r.URL+"/hunter2-uuid/?a=b")},
	} {
		d.Fails = func(status int) bool { return status >= 2 }
		run, err := d.Begin(t.Context(), impatient())
		if err != nil {
			t.Fatal(err)
		}
		for status, want := range map[int]string{0: "/0?", 1: "/0?", 2: "/2?", 3: "/3?", 74: "/74?", 143: "/143?", 300: "/255?"} {
			if err := run.End(t.Context(), status, "the end\n"+strings.Repeat("x", maxBody)); err != nil {
				t.Error(err)
			}
			got := r.all()
			last := got[len(got)-1]
			if !strings.Contains(last, "POST /hunter2-uuid"+want) || !strings.Contains(last, "\n\nthe end\nxxx") || len(last) > maxBody+300 || !strings.Contains(last, "rid="+run.id) {
				t.Errorf("%s: %d: %s", name, status, last[:min(len(last), 200)])
			}
			if len(got) == 2 && !strings.HasPrefix(got[0], "POST /hunter2-uuid/start?") {
				t.Errorf("%s: began with %s", name, got[0])
			}
		}
		r.answer = func(int) int { return 404 }
		if err := run.End(t.Context(), 0, ""); err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "HTTP 404") {
			t.Errorf("%s: %v", name, err)
		}
		if again, err := d.Begin(t.Context(), impatient()); err == nil || again == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
		r.answer = func(int) int { return 200 }
		r.all()
	}
	for name, d := range map[string]Deadman{"no file": {Name: "hc", URLFile: "/nowhere"}, "no URL": {Name: "hc", URLFile: secret(t, "hunter2")}} {
		if _, err := d.Begin(t.Context(), impatient()); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if id := newID(); len(id) != 36 || id[14] != '4' || !strings.ContainsRune("89ab", rune(id[19])) {
		t.Errorf("%s is no UUID of version 4", id)
	}
}

func TestIsURL(t *testing.T) {
	for s, want := range map[string]bool{"https://x/y?z": true, "http://x:9093": true, "x:9093": false, "ftp://x": false, "https://joe:hunter2@x": false, "https://": false, "https://x#f": false, "%": false} {
		if IsURL(s) != want {
			t.Errorf("%s: %t", s, !want)
		}
	}
}

// certificate is a server's own, as PEM.
func certificate(s *httptest.Server) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
}
