package board

import (
	"bytes"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"backstop/audit"
	"backstop/audit/report"
	"backstop/rules/forecast"
)

// A Server answers HTTP with what stands on a board. No answer waits for S3.
type Server struct {
	Board *Board
	Now   func() time.Time
	// Metrics answers /metrics.
	Metrics http.Handler
	// Audit asks for an audit at once, of one store or, with an empty URL, of all. It
	// returns before the audit has ended.
	Audit func(store string)
	// Token is what POST /-/audit must bring as a bearer token; empty refuses
	// every such request, unless Trusted.
	Token string
	// Trusted says that who gets here was asked for a password already.
	Trusted bool
}

// Handler gives the routes.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.page)
	mux.HandleFunc("GET /api/v1/reports", s.reports)
	mux.HandleFunc("GET /api/v1/stores", s.stores)
	mux.HandleFunc("GET /api/v1/forecast", s.forecast)
	mux.HandleFunc("GET /healthz", healthy)
	mux.HandleFunc("GET /readyz", s.ready)
	mux.HandleFunc("POST /-/audit", s.audit)
	if s.Metrics != nil {
		mux.Handle("GET /metrics", s.Metrics)
	}
	// A page elsewhere must not use the password that a browser remembers.
	return guarded(http.NewCrossOriginProtection().Handler(mux))
}

// guarded adds what keeps a browser from doing anything with an answer but showing
// it.
func guarded(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("X-Frame-Options", "DENY")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cache-Control", "no-store")
		header.Set("Content-Security-Policy", report.PagePolicy+"; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
		h.ServeHTTP(w, r)
	})
}

// page shows what stands to a person; ?store=URL limits it to one store.
func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	if !s.Board.Ready() {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprintln(w, s.waiting())
		return
	}
	rep, ok := s.asked(w, r)
	if !ok {
		return
	}
	var b bytes.Buffer
	if err := report.HTML(&b, rep, report.Options{Details: s.Board.Details(), Notices: s.notices()}); err != nil {
		refuse(w, http.StatusInternalServerError, "write the page: "+err.Error())
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(b.Bytes()) // who has gone away needs no answer
}

// notices say what a reader must know of how what stands came about.
func (s *Server) notices() []string {
	last, running := s.Board.Last()
	now := s.Now()
	var all []string
	if last.Failure != "" {
		all = append(all, fmt.Sprintf("The last audit, of %s, came to no outcome: %s. What stands here is from before.", audit.Stamp(last.Began), last.Failure))
	}
	if late := now.Sub(last.Succeeded); late > stale {
		all = append(all, fmt.Sprintf("The last audit that came to an outcome ended %s ago.", audit.Span(late)))
	}
	if !running.IsZero() && now.Sub(running) > slow {
		all = append(all, fmt.Sprintf("An audit has been going on for %s. What stands here is from before.", audit.Span(now.Sub(running))))
	}
	return all
}

// The page says that what stands is old after stale, and that an audit goes on after
// slow: long before an alert does, because whoever reads it is looking.
const (
	stale = 30 * time.Minute
	slow  = 2 * time.Minute
)

// asked is what stands, of one store where the query asks for one. Otherwise it has
// answered.
func (s *Server) asked(w http.ResponseWriter, r *http.Request) (audit.Report, bool) {
	if !s.Board.Ready() {
		refuse(w, http.StatusServiceUnavailable, s.waiting())
		return audit.Report{}, false
	}
	now := s.Now().UTC()
	url := r.URL.Query().Get("store")
	if url == "" {
		return s.Board.Report(now), true
	}
	one, ok := s.Board.Store(url)
	if !ok {
		refuse(w, http.StatusNotFound, fmt.Sprintf("there is no store %q; GET /api/v1/stores lists them", url))
		return audit.Report{}, false
	}
	return audit.NewReport(now, []audit.StoreReport{one}, nil), true
}

// reports gives what stands to a program, as audit -o json does.
func (s *Server) reports(w http.ResponseWriter, r *http.Request) {
	if rep, ok := s.asked(w, r); ok {
		answer(w, http.StatusOK, rep)
	}
}

// stores gives the stores of the report alone.
func (s *Server) stores(w http.ResponseWriter, r *http.Request) {
	if rep, ok := s.asked(w, r); ok {
		answer(w, http.StatusOK, rep.Stores)
	}
}

// forecast gives the timelines, as forecast -o json does.
func (s *Server) forecast(w http.ResponseWriter, r *http.Request) {
	rep, ok := s.asked(w, r)
	if !ok {
		return
	}
	details := s.Board.Details()
	var all []forecast.Timeline
	for _, st := range rep.Stores {
		if d := details[st.Store.ID()]; d.Timeline != nil {
			all = append(all, *d.Timeline)
		}
	}
	answer(w, http.StatusOK, report.NewForecast(all, rep.Problems, ""))
}

// healthy says that the process answers. It does not ask S3: that S3 is out of reach
// is no reason to restart the auditor.
func healthy(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	fmt.Fprintln(w, "ok")
}

// ready says whether there is an outcome to show.
func (s *Server) ready(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if !s.Board.Ready() {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprintln(w, s.waiting())
		return
	}
	fmt.Fprintln(w, "ready")
}

// waiting says why there is nothing to show yet.
func (s *Server) waiting() string {
	last, running := s.Board.Last()
	switch {
	case last.Failure != "":
		return "the first audit came to no outcome: " + report.Printable(last.Failure)
	case !running.IsZero():
		return "the first audit is going on since " + audit.Stamp(running)
	}
	return "the first audit has not begun"
}

// audit asks for an audit at once.
func (s *Server) audit(w http.ResponseWriter, r *http.Request) {
	switch {
	case s.Trusted:
	case s.Token == "":
		refuse(w, http.StatusForbidden, "nobody may ask for audits here; see --audit-token-file and --web.config.file")
		return
	case !bearer(r, s.Token):
		w.Header().Set("WWW-Authenticate", `Bearer realm="backstop"`)
		refuse(w, http.StatusUnauthorized, "the bearer token is missing or wrong")
		return
	}
	url := r.URL.Query().Get("store")
	if url != "" {
		if _, ok := s.Board.Store(url); !ok {
			refuse(w, http.StatusNotFound, fmt.Sprintf("there is no store %q; GET /api/v1/stores lists them", url))
			return
		}
	}
	s.Audit(url)
	answer(w, http.StatusAccepted, map[string]string{"status": "the audit was asked for; GET /api/v1/reports shows its outcome"})
}

// bearer compares in constant time.
func bearer(r *http.Request, token string) bool {
	got, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return ok && subtle.ConstantTimeCompare([]byte(got), []byte(token)) == 1
}

// refuse answers with an error as JSON.
func refuse(w http.ResponseWriter, status int, message string) {
	answer(w, status, map[string]string{"error": message})
}

// answer answers with JSON.
func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // who has gone away needs no answer
}
