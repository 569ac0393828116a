// Package alerts tells Prometheus what an audit found: as metrics, computed from
// the last finished results whenever they are asked for, as text, to a
// Pushgateway, and as the alerting rules that go with them. Package notify tells
// those who have no Prometheus.
//
// One table of constants, [Metrics], names everything: the collector, the
// alerting rules, the dashboard and docs/metrics.md are held to it by tests.
package alerts
