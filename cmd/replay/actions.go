package main

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// An action is something that can happen to a cluster.
type action struct {
	does         string // in words, for the list in docs/reliability.md
	needs, takes []string
	do           func(d *deed)
}

// A deed is an action that is being carried out.
type deed struct {
	*cluster
	*event
	m *manager // of the etcd cluster that is meant
}

// ofEveryEvent are the parameters that every event takes.
var ofEveryEvent = []string{"at", "spread", "every", "do", "allow", "until", "expect", "etcd"}

// actions are all that can happen, by name.
var actions map[string]action

func init() { // they call what refers to them
	actions = map[string]action{}
	maps.Copy(actions, lives)
	maps.Copy(actions, accidents)
}

func actionNames() []string { return slices.Sorted(maps.Keys(actions)) }

// carryOut does what an event says, and notes what may and must be said of it.
func (w *world) carryOut(c *cluster, e *event) {
	d := &deed{cluster: c, event: e, m: c.manager(e.Etcd)}
	if d.m == nil || !c.deleted.IsZero() {
		return // the cluster does not live, yet or any more
	}
	if len(e.Allow) > 0 {
		w.excuse(c, e.Allow, time.Duration(e.Until))
	}
	if len(e.Expect) > 0 {
		w.inject(c, e)
	}
	c.stirred = w.now
	actions[e.Do].do(d)
}

// lives are what happens to healthy clusters.
var lives = map[string]action{
	"restart-leader": {
		does: "etcd-manager's process on the leader restarts, or with `for` its node is away so long", takes: []string{"for"},
		do: func(d *deed) {
			away := or(time.Duration(d.For), time.Duration(15+d.rng.IntN(30))*time.Second)
			for _, m := range d.managers {
				if d.Given["etcd"] == 0 || m == d.m {
					m.gone(away, func() {})
				}
			}
		},
	},
	"restart-member": {
		does: "another member's process restarts: its counter of backups begins again",
		do: func(d *deed) {
			for i := range d.m.counter {
				if i > 0 {
					d.m.counter[i] = 0
				}
			}
		},
	},
	"sleep": {
		does: "the whole control plane is off for so long: hibernation, or a spot instance that nobody replaces", needs: []string{"for"},
		do: func(d *deed) {
			d.asleep = true
			for _, m := range d.managers {
				m.stop()
			}
			d.after(time.Duration(d.For), func() {
				d.asleep = false
				for _, m := range d.managers {
					d.after(time.Duration(30+d.rng.IntN(240))*time.Second, m.comeBack)
				}
			})
		},
	},
	"update": {
		does:  "`kops edit cluster` with what is given, `kops update cluster --yes`, and with `roll-after` a rolling update so much later",
		takes: []string{"members", "version", "retention", "interval", "roll-after"},
		do: func(d *deed) {
			k := &d.kops
			k.members, k.version = or(d.Members, k.members), or(d.Version, k.version)
			k.interval, k.retention = or(time.Duration(d.Interval), k.interval), or(time.Duration(d.Retention), k.retention)
			d.update()
			d.rollLater()
		},
	},
	"roll": {does: "`kops rolling-update cluster --yes --force` of the control plane", do: func(d *deed) { d.roll() }},
	"move-store": {
		does:  "backupStore is changed to `to`: what `copy` says of the old store is copied there (all, control, nothing), kops updates, and with `roll-after` a rolling update follows; `remove-after` the old tree is deleted",
		needs: []string{"to", "copy"}, takes: []string{"roll-after", "remove-after"},
		do: func(d *deed) {
			from, root := d.m.bucket, d.m.root
			d.copyStore(map[string]string{"all": "", "control": "control/", "nothing": "?"}[d.Copy])
			d.kops.stores[d.Etcd] = d.target()
			d.update()
			d.rollLater()
			if d.Remove > 0 {
				d.after(time.Duration(d.Remove), func() {
					d.stirred = d.now
					removeBelow(from, root)
				})
			}
		},
	},
	"copy-store": {
		does: "the store is copied to `to`, as `aws s3 sync` does: what is there already is not written again", needs: []string{"to"},
		do: func(d *deed) { d.copyStore("") },
	},
	"restore": {
		does: "a person queues a restore of the newest backup and restarts the leader five minutes later",
		do: func(d *deed) {
			d.queueRestore(d.backupNamed("newest"))
			d.after(5*time.Minute, func() { d.m.gone(20*time.Second, func() {}) })
		},
	},
	"grow": {
		does: "the etcd cluster holds `keys` keys from now on", needs: []string{"keys"},
		do: func(d *deed) { d.m.busy, d.m.keys = d.Keys, d.Keys },
	},
	"rewrite-created": {
		does: "a person writes etcd-cluster-created by hand, with the time of the oldest backup",
		do: func(d *deed) {
			at, _ := timeOf(d.backupNamed("oldest"))
			d.m.bucket.put(upload{key: d.m.root + createdPath, body: createdBody(at)})
		},
	},
	"repair": {
		does: "the control files are put back in the right order, a minute apart, and the leader is restarted",
		do: func(d *deed) {
			at, _ := timeOf(d.backupNamed("oldest"))
			d.m.bucket.put(upload{key: d.m.root + createdPath, body: createdBody(at)})
			d.after(time.Minute, func() {
				d.m.bucket.put(upload{key: d.m.root + specPath, body: etcdSpec{d.kops.members, d.kops.version}.byKops()})
			})
			d.after(2*time.Minute, func() { d.m.gone(20*time.Second, func() {}) })
		},
	},
	"delete-cluster": {
		does: "`kops delete cluster --yes`: the nodes go, and five minutes later all that is below the cluster's folder",
		do: func(d *deed) {
			d.cluster.deleted = d.now
			for _, m := range d.managers {
				m.stop()
			}
			d.after(5*time.Minute, func() { removeBelow(d.state, d.name+"/") })
		},
	},
}

func (d *deed) rollLater() {
	if d.Given["roll-after"] > 0 {
		d.after(time.Duration(d.RollAfter), d.roll)
	}
}

// copyStore copies what lies below a part of the store to another place.
func (d *deed) copyStore(part string) {
	from, root := d.m.bucket, d.m.root
	to, at := d.world.locate(d.target())
	for _, key := range from.keys(root + part) {
		target := at + key[len(root):]
		if to.current(target) == nil {
			v := from.current(key)
			to.put(upload{key: target, body: v.body, size: v.Size, etag: v.ETag})
		}
	}
}

func removeBelow(b *bucket, prefix string) {
	for _, key := range b.keys(prefix) {
		b.remove(key)
	}
}

// target is where something goes; % stands for the cluster.
func (d *deed) target() string { return strings.ReplaceAll(d.To, "%", d.name) }
