package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// A cluster is a kops cluster: what kops's state store says of it, and the
// etcd-managers on its nodes.
type cluster struct {
	*clock
	world    *world
	entry    *clusterEntry
	name     string
	state    *bucket
	rng      *rand.Rand
	kops     kopsSpec
	created  time.Time
	managers []*manager
	asleep   bool
	deleted  time.Time // by its owner
	struck   time.Time // when its first disaster came
	stirred  time.Time // when something last happened to it
}

// A kopsSpec is what `kops edit cluster` can change and matters here.
type kopsSpec struct {
	members             int
	version             string
	interval, retention time.Duration // 0 is not given
	stores              map[string]string
}

// plan puts the cluster's life on the calendar.
func (c *cluster) plan() {
	c.kops = kopsSpec{
		members: c.entry.Members, version: c.entry.Version,
		interval: time.Duration(c.entry.Interval), retention: time.Duration(c.entry.Retention), stores: map[string]string{},
	}
	for etcd, url := range c.entry.Stores {
		c.kops.stores[etcd] = strings.ReplaceAll(url, "%", c.name)
	}
	born := c.world.begun.Add(time.Duration(c.entry.Born))
	c.at(born, c.birth)
	for i := range c.entry.Events {
		e := &c.entry.Events[i]
		shift := time.Duration(0)
		if e.Spread > 0 {
			shift = time.Duration(c.rng.Int64N(int64(e.Spread)))
		}
		c.schedule(e, c.world.begun.Add(time.Duration(e.At)+shift))
	}
}

// schedule carries an event out, and again for one that repeats.
func (c *cluster) schedule(e *event, at time.Time) {
	c.at(at, func() {
		c.world.carryOut(c, e)
		if e.Every > 0 {
			next := at.Add(time.Duration(e.Every))
			if e.Spread > 0 {
				next = next.Add(time.Duration(c.rng.Int64N(int64(e.Spread))) - time.Duration(e.Spread)/2)
			}
			if next.After(at) && next.Before(c.world.end) {
				c.schedule(e, next)
			}
		}
	})
}

// birth is `kops create cluster`, `kops update cluster --yes`, and nodes that boot.
func (c *cluster) birth() {
	c.created, c.stirred = c.now, c.now
	for _, file := range []string{"pki/private/ca/keyset.yaml", "pki/issued/ca/keyset.yaml", "secrets/admin", "instancegroup/nodes"} {
		c.state.put(upload{key: c.name + "/" + file, body: []byte("of " + c.name)})
	}
	c.update()
	c.after(time.Duration(4+c.rng.IntN(5))*time.Minute, func() {
		for _, etcd := range c.entry.Etcd {
			c.boot(etcd)
		}
	})
}

// busyKeys is how many keys an etcd holds, about.
var busyKeys = map[string][2]int{"main": {300, 3000}, "events": {15, 300}, "cilium": {12, 60}, "leases": {8, 20}}

func (c *cluster) boot(etcd string) {
	between := busyKeys[etcd]
	m := &manager{cluster: c, etcd: etcd, rng: rand.New(rand.NewPCG(c.world.scenario.Seed, hash(c.name+etcd)))}
	m.busy = between[0] + m.rng.IntN(between[1]-between[0])
	m.configure()
	c.managers = append(c.managers, m)
	for _, b := range c.world.buckets {
		b.changed = append(b.changed, func(key string) {
			if m.bucket == b {
				m.noticed(key)
			}
		})
	}
	// The processes of two etcds are started at one time, and run out of step.
	c.after(time.Duration(m.rng.IntN(90))*time.Second, m.start)
}

// storeURL is where kops puts the backups of an etcd cluster.
func (c *cluster) storeURL(etcd string) string {
	if url := c.kops.stores[etcd]; url != "" {
		return url
	}
	return fmt.Sprintf("s3://%s/%s/backups/etcd/%s", c.state.name, c.name, etcd)
}

// update is `kops update cluster --yes`: it writes what differs.
func (c *cluster) update() {
	doc := c.document()
	for _, file := range []string{"config", "cluster-completed.spec"} {
		write(c.state, c.name+"/"+file, doc)
	}
	spec := etcdSpec{c.kops.members, c.kops.version}
	for _, etcd := range c.entry.Etcd {
		b, root := c.world.locate(c.storeURL(etcd))
		write(b, root+specPath, spec.byKops())
	}
}

// write writes an object that is missing or has other bytes.
func write(b *bucket, key string, body []byte) {
	if v := b.current(key); v == nil || !bytes.Equal(v.body, body) {
		b.put(upload{key: key, body: body})
	}
}

// document is the cluster as kops writes it.
func (c *cluster) document() []byte {
	var y strings.Builder
	fmt.Fprintf(&y, "apiVersion: kops.k8s.io/v1alpha2\nkind: Cluster\nmetadata:\n  creationTimestamp: %q\n  name: %s\nspec:\n  cloudProvider: aws\n  configBase: s3://%s/%s\n  etcdClusters:\n",
		c.created.UTC().Format(time.RFC3339), c.name, c.state.name, c.name)
	for _, etcd := range c.entry.Etcd {
		fmt.Fprintf(&y, "  - backups:\n      backupStore: %s\n    etcdMembers:\n", c.storeURL(etcd))
		for i := range c.kops.members {
			fmt.Fprintf(&y, "    - instanceGroup: control-plane-%c\n      name: %c\n", 'a'+i, 'a'+i)
		}
		if c.kops.interval > 0 || c.kops.retention > 0 {
			y.WriteString("    manager:\n")
		}
		if c.kops.interval > 0 {
			fmt.Fprintf(&y, "      backupInterval: %s\n", c.kops.interval)
		}
		if c.kops.retention > 0 {
			fmt.Fprintf(&y, "      backupRetentionDays: %d\n", c.kops.retention/day)
		}
		fmt.Fprintf(&y, "    name: %s\n    version: %s\n", etcd, c.kops.version)
	}
	return []byte(y.String())
}

// manager gives the etcd-manager of an etcd cluster; nil before it was booted.
func (c *cluster) manager(etcd string) *manager {
	for _, m := range c.managers {
		if m.etcd == etcd {
			return m
		}
	}
	return nil
}

// roll replaces the control plane's nodes, one after another. The new ones have
// kops's flags.
func (c *cluster) roll() {
	leader := c.rng.IntN(max(1, c.kops.members))
	for i := range max(1, c.kops.members) {
		c.after(time.Duration(i*10+c.rng.IntN(4))*time.Minute, func() {
			for _, m := range c.managers {
				if i == leader {
					m.replaced()
				}
			}
		})
	}
}

// replaced is a leader whose node is replaced: after a minute another member leads,
// where there is one, and when the node is back it leads again.
func (m *manager) replaced() {
	m.gone(time.Duration(4+m.rng.IntN(3))*time.Minute, m.configure)
}

// gone is a leader that is away for some time.
func (m *manager) gone(d time.Duration, before func()) {
	if m.asleep {
		return
	}
	m.stop()
	if m.members > 1 && d > time.Minute {
		m.after(70*time.Second, m.comeBack)
	}
	m.after(d, func() {
		before()
		m.comeBack()
	})
}

// comeBack starts the process, unless the whole cluster is off by now.
func (m *manager) comeBack() {
	if !m.asleep && m.deleted.IsZero() {
		m.start()
	}
}
