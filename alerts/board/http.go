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
	mux.HandleFunc("GET /api/v1/report", s.json)
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
		header.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
		h.ServeHTTP(w, r)
	})
}

// page shows what stands to a person.
func (s *Server) page(w http.ResponseWriter, _ *http.Request) {
	if !s.Board.Ready() {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprintln(w, s.waiting())
		return
	}
	s.write(w, "text/html; charset=utf-8", report.HTML, s.Board.Report(s.Now().UTC()))
}

// json gives what stands to a program; ?store=URL limits it to one store.
func (s *Server) json(w http.ResponseWriter, r *http.Request) {
	if !s.Board.Ready() {
		refuse(w, http.StatusServiceUnavailable, s.waiting())
		return
	}
	now := s.Now().UTC()
	rep := s.Board.Report(now)
	if url := r.URL.Query().Get("store"); url != "" {
		one, ok := s.Board.Store(url)
		if !ok {
			refuse(w, http.StatusNotFound, fmt.Sprintf("there is no store %q; GET /api/v1/report lists them", url))
			return
		}
		rep = audit.NewReport(now, []audit.StoreReport{one}, nil)
	}
	s.write(w, "application/json", report.JSON, rep)
}

// write sends a report, or an error and nothing of it.
func (s *Server) write(w http.ResponseWriter, kind string, format report.Format, r audit.Report) {
	var b bytes.Buffer
	if err := format(&b, r, report.Options{}); err != nil {
		refuse(w, http.StatusInternalServerError, "write the report: "+err.Error())
		return
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(b.Bytes()) // who has gone away needs no answer
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
			refuse(w, http.StatusNotFound, fmt.Sprintf("there is no store %q; GET /api/v1/report lists them", url))
			return
		}
	}
	s.Audit(url)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusAccepted)
	_ = json.NewEncoder(w).Encode(map[string]string{"status": "the audit was asked for; GET /api/v1/report shows its outcome"})
}

// bearer compares in constant time.
func bearer(r *http.Request, token string) bool {
	got, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return ok && subtle.ConstantTimeCompare([]byte(got), []byte(token)) == 1
}

// refuse answers with an error as JSON.
func refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": message})
}
