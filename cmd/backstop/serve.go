package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/exporter-toolkit/web"
	"github.com/robfig/cron/v3"
	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"backstop/alerts/board"
)

type serveOptions struct {
	options
	listen        []string
	webConfig     string
	tokenFile     string
	auditSchedule string
	probeSchedule string
	jitter        time.Duration
	state         string
	verified      []string
}

func (p *program) serveCommand() *cobra.Command {
	o := &serveOptions{}
	c := &cobra.Command{
		Use:   "serve [STORE...]",
		Short: "Audit on a schedule, and show what stands to Prometheus and to people",
		Long: `Audit on a schedule, and show what stands: /metrics for Prometheus, / as a page,
/api/v1/reports, /api/v1/stores and /api/v1/forecast as JSON, /healthz and /readyz. POST /-/audit[?store=URL] asks for an
audit at once.

Between the audits a probe asks every minute whether the control files are as they
were; a store of which they are not is looked at whole, at once.

The channels that the configuration names under notify are told what was found, and
what is over.

The configuration is read again when its file changes and at SIGHUP. One with a
mistake leaves the old one in force, and says so.

Exit status: 0 after SIGTERM or SIGINT; 64 usage, 69 an address cannot be listened
on, 70 internal error, 78 bad configuration.
`,
		Example: `  backstop serve s3://kops-state
  backstop serve --config backstop.yaml --state /var/lib/backstop/state.json \
    --web.listen-address :9847 --web.config.file web.yaml`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := p.fromEnvironment(c); err != nil {
				return err
			}
			return p.serve(c.Context(), args, o)
		},
	}
	f := c.Flags()
	o.addLooking(f)
	for _, name := range []string{"replay", "at", "color"} {
		_ = f.MarkHidden(name) // of no use here, and refused
	}
	f.StringArrayVar(&o.listen, "web.listen-address", []string{"127.0.0.1:9847"}, "`address` to listen on, repeatable")
	f.StringVar(&o.webConfig, "web.config.file", "", "`file` with TLS and passwords, as Prometheus's exporters read it")
	f.StringVar(&o.tokenFile, "audit-token-file", "", "`file` with the bearer token for POST /-/audit; without one, and without passwords in --web.config.file, it is refused")
	f.StringVar(&o.auditSchedule, "audit-schedule", "*/10 * * * *", "cron `schedule`, in UTC, of audits")
	f.StringVar(&o.probeSchedule, "probe-schedule", "* * * * *", "cron `schedule`, in UTC, of probes of the control files; empty for none")
	f.DurationVar(&o.jitter, "jitter", 20*time.Second, "longest random wait before a scheduled audit, so that many auditors do not ask at once")
	f.StringVar(&o.state, "state", "", "`file` in which the last results survive a restart")
	f.StringArrayVar(&o.verified, "verified", nil, "`file` that backstop verify -o json wrote, for the page; repeatable, and read again before each audit")
	return c
}

// check refuses what serve would not heed.
func (o *serveOptions) check() error {
	if err := o.options.check(); err != nil {
		return err
	}
	for _, name := range []string{"replay", "at"} {
		if o.given(name) {
			return usagef("--%s judges what was recorded or another time: it goes with audit, and not with serve", name)
		}
	}
	for flag, spec := range map[string]string{"audit-schedule": o.auditSchedule, "probe-schedule": o.probeSchedule} {
		if spec == "" && flag == "probe-schedule" {
			continue
		}
		if _, err := cron.ParseStandard(spec); err != nil {
			return usagef("--%s is %q, want five fields of cron, as in \"*/10 * * * *\", or as in @every 10m: %w", flag, spec, err)
		}
	}
	if o.jitter < 0 {
		return usagef("--jitter is %v, want 0 or more", o.jitter)
	}
	return nil
}

// serve runs until the context ends, which is its success.
func (p *program) serve(ctx context.Context, args []string, o *serveOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	trusted, err := readWebConfig(o.webConfig)
	if err != nil {
		return &failure{status: exitConfig, err: err}
	}
	token, err := readToken(o.tokenFile)
	if err != nil {
		return &failure{status: exitConfig, err: err}
	}
	if _, err := readProofs(o.verified); err != nil {
		return &failure{status: exitUsage, err: err}
	}
	s, err := p.newService(args, o)
	if err != nil {
		return err
	}
	listeners, err := listenAll(o.listen)
	if err != nil {
		return &failure{status: exitUnavailable, err: err}
	}
	h := &board.Server{Board: s.board, Now: p.now, Metrics: s.metrics(), Audit: s.ask, Token: token, Trusted: trusted}
	server := &http.Server{Handler: h.Handler(), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 1 << 16}
	for _, l := range listeners {
		s.log.Info().Str("address", l.Addr().String()).Msg("listening")
	}
	stopped := make(chan error, 1)
	go func() {
		stopped <- web.ServeMultiple(listeners, server, &web.FlagConfig{WebListenAddresses: &o.listen, WebSystemdSocket: new(bool), WebConfigFile: &o.webConfig}, quietSlog())
	}()
	return s.run(ctx, server, stopped)
}

// metrics answers scrapes: with what stands, and with the process itself. No audit
// runs in one. What stands is text already; of the process only a little is made for
// each scrape.
func (s *service) metrics() http.Handler {
	process := prometheus.NewRegistry()
	process.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		stands, err := s.collector.Text()
		families, more := process.Gather()
		if err := errors.Join(err, more); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		format := expfmt.NewFormat(expfmt.TypeTextPlain)
		w.Header().Set("Content-Type", string(format))
		_, _ = w.Write(stands) // who has gone away needs no answer
		e := expfmt.NewEncoder(w, format)
		for _, f := range families {
			_ = e.Encode(f)
		}
	})
}

// listenAll opens every address, or none.
func listenAll(addresses []string) ([]net.Listener, error) {
	var all []net.Listener
	for _, a := range addresses {
		l, err := net.Listen("tcp", a)
		if err != nil {
			for _, open := range all {
				_ = open.Close()
			}
			return nil, fmt.Errorf("listen on %s: %w", a, err)
		}
		all = append(all, l)
	}
	return all, nil
}

// readWebConfig checks the file of the web server, and says whether it asks for
// passwords.
func readWebConfig(name string) (passwords bool, err error) {
	if name == "" {
		return false, nil
	}
	if err := web.Validate(name); err != nil {
		return false, fmt.Errorf("--web.config.file %s: %w", name, err)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return false, fmt.Errorf("--web.config.file: %w", err)
	}
	var c struct {
		Users map[string]string `yaml:"basic_auth_users"`
	}
	if err := yaml.Unmarshal(b, &c); err != nil {
		return false, fmt.Errorf("--web.config.file %s: %w", name, err)
	}
	return len(c.Users) > 0, nil
}

// readToken reads a secret from a file, without the line's end.
func readToken(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("--audit-token-file: %w", err)
	}
	token := strings.TrimSpace(string(b))
	if len(token) < 16 {
		return "", fmt.Errorf("--audit-token-file %s: the token has %d characters, want at least 16", name, len(token))
	}
	return token, nil
}

// run goes on until the context ends or the web server fails.
func (s *service) run(ctx context.Context, server *http.Server, stopped <-chan error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	jobs := s.start(ctx)
	var failed error
	select {
	case <-ctx.Done():
	case err := <-stopped:
		failed = &failure{status: exitUnavailable, err: fmt.Errorf("web server: %w", err)}
	}
	cancel(errors.New("serve ends"))
	// What is going on is given up at once: nothing of it has been published.
	limit, end := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
	defer end()
	_ = server.Shutdown(limit)
	select {
	case <-jobs:
	case <-limit.Done():
	}
	s.log.Info().Msg("stopped")
	return failed
}
