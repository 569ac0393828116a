package alerts

import (
	"bytes"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// A Build says what was built, for backstop_build_info.
type Build struct{ Version, Revision, GoVersion string }

// A Collector gives Prometheus the last results that it was handed. Asking it
// never begins an audit, and a finding that the last results do not have is gone
// the next time it is asked. The zero value is of no use: see [NewCollector].
type Collector struct {
	build   Build
	current atomic.Pointer[view]
}

var _ prometheus.Collector = (*Collector)(nil)

// A view is results, and the metrics that were made of them when they were first
// asked for.
type view struct {
	results Results
	once    sync.Once
	metrics []prometheus.Metric

	writing sync.Once
	text    []byte
	err     error
}

// NewCollector makes a Collector that knows no store yet.
func NewCollector(b Build) *Collector {
	c := &Collector{build: b}
	c.Set(Results{})
	return c
}

// Set hands over new results. It may be called at any time, by any goroutine.
func (c *Collector) Set(r Results) { c.current.Store(&view{results: r}) }

// Describe implements prometheus.Collector.
func (c *Collector) Describe(ch chan<- *prometheus.Desc) {
	for _, m := range Metrics {
		ch <- descs[m.Name]
	}
}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(ch chan<- prometheus.Metric) {
	v := c.current.Load()
	v.once.Do(func() { v.metrics = series(c.build, v.results) })
	for _, m := range v.metrics {
		ch <- m
	}
}

// Text gives the metrics in Prometheus's text format. It is written once for the
// same results, because with hundreds of stores that takes longer than a scrape
// should. The bytes are not to be changed.
func (c *Collector) Text() ([]byte, error) {
	v := c.current.Load()
	v.writing.Do(func() {
		var b bytes.Buffer
		v.err = Write(&b, c.build, v.results)
		v.text = b.Bytes()
	})
	return v.text, v.err
}

// descs are the table of metrics as the library wants it.
var descs = func() map[string]*prometheus.Desc {
	all := map[string]*prometheus.Desc{}
	for _, m := range Metrics {
		all[m.Name] = prometheus.NewDesc(m.Name, m.Help, m.AllLabels(), nil)
	}
	return all
}()
