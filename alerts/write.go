package alerts

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
)

// gatherer gathers the metrics of results, and nothing else.
func gatherer(b Build, r Results) (prometheus.Gatherer, error) {
	c := NewCollector(b)
	c.Set(r)
	reg := prometheus.NewPedanticRegistry()
	return reg, reg.Register(c)
}

// Write writes the metrics of results in Prometheus's text format.
func Write(w io.Writer, b Build, r Results) error {
	g, err := gatherer(b, r)
	if err != nil {
		return fmt.Errorf("make metrics: %w", err)
	}
	families, err := g.Gather()
	if err != nil {
		return fmt.Errorf("make metrics: %w", err)
	}
	e := expfmt.NewEncoder(w, expfmt.NewFormat(expfmt.TypeTextPlain))
	for _, f := range families {
		err = errors.Join(err, e.Encode(f))
	}
	return err
}

// TextfileName is the file that [WriteTextfile] writes.
const TextfileName = "backstop.prom"

// WriteTextfile writes the metrics to backstop.prom in a directory that
// node_exporter's textfile collector reads. The file is replaced in one step: a
// scrape sees the old one or the new one.
func WriteTextfile(dir string, b Build, r Results) error {
	g, err := gatherer(b, r)
	if err == nil {
		err = prometheus.WriteToTextfile(filepath.Join(dir, TextfileName), g)
	}
	if err != nil {
		return fmt.Errorf("write metrics to %s: %w", filepath.Join(dir, TextfileName), err)
	}
	return nil
}
