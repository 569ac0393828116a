package main

import "time"

// A scenario is what a file describes: docs/reliability.md has the format, and
// docs/scenario.schema.json the schema.
type scenario struct {
	Name     string         `yaml:"name"`
	Seed     uint64         `yaml:"seed"`
	Start    moment         `yaml:"start"`
	Days     int            `yaml:"days"`
	Audit    length         `yaml:"audit"`
	Quiet    length         `yaml:"quiet"` // between two audits of everything; 0 is at each
	Dense    length         `yaml:"dense"` // how long after an event a cluster is in every audit
	HTTP     string         `yaml:"http"`  // a day, as in 12d
	Buckets  []bucketEntry  `yaml:"buckets"`
	Clusters []clusterEntry `yaml:"clusters"`

	httpDay length
}

type bucketEntry struct {
	Line       int             `yaml:"-"`
	Name       string          `yaml:"name"`
	Versioning string          `yaml:"versioning"`
	Lifecycle  []lifecycleRule `yaml:"lifecycle"`
	Sizes      string          `yaml:"sizes"`
	Role       string          `yaml:"role"`
	Allow      []string        `yaml:"allow"`
}

type clusterEntry struct {
	Line      int               `yaml:"-"`
	Name      string            `yaml:"name"`
	Count     int               `yaml:"count"`
	Bucket    string            `yaml:"bucket"`
	Born      length            `yaml:"born"` // after the first audit; negative is before
	Members   int               `yaml:"members"`
	Version   string            `yaml:"version"`
	Etcd      []string          `yaml:"etcd"`
	Interval  length            `yaml:"interval"`
	Retention length            `yaml:"retention"`
	Stores    map[string]string `yaml:"stores"`
	Windows   []windowEntry     `yaml:"windows"`
	Events    []event           `yaml:"events"`
}

type windowEntry struct {
	Line int    `yaml:"-"`
	Cron string `yaml:"cron"`
	For  length `yaml:"for"`
}

// An event is something that happens to a cluster. Which of the parameters it takes
// is for its action to say.
type event struct {
	Line   int            `yaml:"-"`
	Given  map[string]int `yaml:"-"` // the line of each parameter
	At     length         `yaml:"at"`
	Spread length         `yaml:"spread"`
	Every  length         `yaml:"every"`
	Do     string         `yaml:"do"`
	Allow  []string       `yaml:"allow"`
	Until  length         `yaml:"until"` // how long Allow holds
	Expect []expectation  `yaml:"expect"`

	parameters `yaml:",inline"`
}

// parameters are those of all actions.
type parameters struct {
	Etcd      string          `yaml:"etcd"`
	For       length          `yaml:"for"`
	Key       string          `yaml:"key"`
	Content   string          `yaml:"content"`
	Class     string          `yaml:"class"`
	Backup    string          `yaml:"backup"`
	Part      string          `yaml:"part"`
	How       string          `yaml:"how"`
	Members   int             `yaml:"members"`
	Keys      int             `yaml:"keys"`
	Version   string          `yaml:"version"`
	Retention length          `yaml:"retention"`
	Interval  length          `yaml:"interval"`
	To        string          `yaml:"to"`
	Copy      string          `yaml:"copy"`
	RollAfter length          `yaml:"roll-after"`
	Remove    length          `yaml:"remove-after"`
	Bucket    string          `yaml:"bucket"`
	Lifecycle []lifecycleRule `yaml:"lifecycle"`
	Status    string          `yaml:"status"`
	By        length          `yaml:"by"`
}

// An expectation is what must be said of an event, and how soon.
type expectation struct {
	Line     int    `yaml:"-"`
	Rule     string `yaml:"rule"`
	Severity string `yaml:"severity"`
	Etcd     string `yaml:"etcd"`
	// After is what the time counts from: event, loss (of a control file), or stop
	// (of the backups).
	After  string `yaml:"after"`
	Within length `yaml:"within"`
	// Ahead is how long before the loss it must have been said.
	Ahead length `yaml:"ahead"`
}

// A length is a length of time, as in 12d6h.
type length time.Duration

// A moment is a point in time.
type moment time.Time
