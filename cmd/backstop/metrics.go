package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"backstop/alerts"
	"backstop/alerts/deliver"
	"backstop/audit"
	"backstop/audit/report"
)

// prometheusFormat is the one format that package report does not have, because
// metrics are package alerts's.
const prometheusFormat = "prometheus"

// formatNames lists the formats of --output.
func formatNames() []string {
	names := append(report.Names(), prometheusFormat)
	slices.Sort(names)
	return names
}

// formatNamed gives a format of --output.
func formatNamed(name string) (report.Format, error) {
	if name == prometheusFormat {
		return func(w io.Writer, r audit.Report, _ report.Options) error {
			return alerts.Write(w, built(), alerts.Of(r))
		}, nil
	}
	if f, ok := report.Formats[name]; ok {
		return f, nil
	}
	return nil, fmt.Errorf("there is no output format %q; there are %s", name, strings.Join(formatNames(), ", "))
}

// built is this program, as its metrics name it.
func built() alerts.Build {
	b := alerts.Build{Version: version, Revision: revision(), GoVersion: runtime.Version()}
	if b.Version == "" {
		b.Version = "development"
	}
	return b
}

// metricsOptions say where the metrics of a run go.
type metricsOptions struct {
	textfile    string
	pushgateway string
	job         string
}

func (m *metricsOptions) add(f *pflag.FlagSet) {
	f.StringVar(&m.textfile, "textfile", "", "write metrics to backstop.prom in `directory`, for node_exporter's textfile collector")
	f.StringVar(&m.pushgateway, "pushgateway", "", "push metrics to a Pushgateway at `URL`; one with a password belongs into BACKSTOP_PUSHGATEWAY")
	f.StringVar(&m.job, "pushgateway-job", "backstop", "the metrics' job in the Pushgateway; what this run did not find is deleted from it")
}

// wanted reports whether metrics are to go anywhere.
func (m *metricsOptions) wanted() bool { return m.textfile != "" || m.pushgateway != "" }

// check refuses what could not work before anything is looked at.
func (m *metricsOptions) check(client deliver.Client) (*alerts.Pushgateway, error) {
	if m.textfile != "" {
		if info, err := os.Stat(m.textfile); err != nil || !info.IsDir() {
			return nil, usagef("--textfile is %q, which is no directory", m.textfile)
		}
	}
	if m.pushgateway == "" {
		return nil, nil
	}
	g, err := alerts.NewPushgateway(m.pushgateway, m.job, &client)
	if err != nil {
		return nil, usagef("--pushgateway: %w", err)
	}
	return g, nil
}

// tell hands out the metrics of a report. It tries everything before it fails.
func (m *metricsOptions) tell(ctx context.Context, g *alerts.Pushgateway, r alerts.Results, scope alerts.Scope) error {
	var errs []error
	if m.textfile != "" {
		errs = append(errs, alerts.WriteTextfile(m.textfile, built(), r))
	}
	if g != nil {
		errs = append(errs, g.Push(ctx, built(), r, scope))
	}
	return errors.Join(errs...)
}
