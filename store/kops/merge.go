package kops

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Change is something that config says otherwise than the completed spec.
type Change struct {
	Etcd    string // the etcd cluster
	Field   string // members, version, backupStore, backupInterval, …; empty for the etcd cluster itself
	Applied string // what the completed spec says; empty where it says nothing
	Wanted  string // what config says
}

// Merge makes one cluster of its config and its completed spec, either of which
// may be nil.
//
// The completed spec wins wherever it speaks, also where config is newer: kops
// writes it together with the manifests and control/etcd-cluster-spec, so it is
// what etcd-manager was given, while config is what somebody means to have. What
// config says otherwise is in Pending; when config was last modified tells since
// when. No times are compared, because what the two say decides it: config is
// the completed spec's source, and differs from it only by defaults unless it
// was written later. A default that config does not spell out is no change.
//
// An etcd cluster that only config names is kept, as pending; one that only the
// completed spec names runs until the next update. Created is the earlier of the
// two: kops replace may lose it, and to take a cluster for younger than it is
// would hide that there was one before.
func Merge(config, completed *Cluster) Cluster {
	switch {
	case config == nil && completed == nil:
		return Cluster{}
	case completed == nil:
		return config.clone()
	}
	c := completed.clone()
	c.Applied = true
	if config == nil {
		return c
	}
	if c.Created.IsZero() || !config.Created.IsZero() && config.Created.Before(c.Created) {
		c.Created = config.Created
	}
	if c.ConfigBase == "" {
		c.ConfigBase = config.ConfigBase
	}
	for _, e := range c.Etcd {
		if i := config.etcd(e.Name); i >= 0 {
			c.Pending = append(c.Pending, changes(e, config.Etcd[i])...)
		} else {
			c.Pending = append(c.Pending, Change{Etcd: e.Name, Applied: "present", Wanted: "gone"})
		}
	}
	for _, e := range config.Etcd {
		if completed.etcd(e.Name) < 0 {
			e.Pending = true
			c.Etcd = append(c.Etcd, e)
			c.Pending = append(c.Pending, Change{Etcd: e.Name, Wanted: "present"})
		}
	}
	return c
}

// clone copies a cluster so that changing the copy leaves the original alone.
func (c *Cluster) clone() Cluster {
	d := *c
	d.Etcd, d.Pending = slices.Clone(c.Etcd), slices.Clone(c.Pending)
	return d
}

// etcd gives the index of an etcd cluster, -1 if there is none of the name.
func (c *Cluster) etcd(name string) int {
	return slices.IndexFunc(c.Etcd, func(e Etcd) bool { return e.Name == name })
}

// changes compares what both specs of an etcd cluster say.
func changes(applied, wanted Etcd) []Change {
	var all []Change
	differ := func(field, was, is string) {
		if is != "" && is != was {
			all = append(all, Change{Etcd: applied.Name, Field: field, Applied: was, Wanted: is})
		}
	}
	differ("members", count(applied.Members), count(wanted.Members))
	if strings.TrimPrefix(applied.Version, "v") != strings.TrimPrefix(wanted.Version, "v") {
		differ("version", applied.Version, wanted.Version)
	}
	if normal(applied.BackupStore) != normal(wanted.BackupStore) {
		differ("backupStore", applied.BackupStore, wanted.BackupStore)
	}
	if wanted.Interval != 0 {
		differ("backupInterval", applied.Every().String(), wanted.Interval.String())
	}
	if wanted.Retention.Fatal != applied.Retention.Fatal {
		differ("retention", applied.Retention.Fatal, wanted.Retention.Fatal)
		return all
	}
	differ("hourly retention", applied.Retention.Hourly.String(), given(wanted.Retention.Hourly, wanted.Retention.HourlyBy))
	differ("daily retention", applied.Retention.Daily.String(), given(wanted.Retention.Daily, wanted.Retention.DailyBy))
	return all
}

func count(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func given(d time.Duration, by string) string {
	if by == "" {
		return ""
	}
	return d.String()
}
