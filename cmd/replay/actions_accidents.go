package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// accidents are what nobody wishes.
var accidents = map[string]action{
	"delete": {
		does: "objects of the store are deleted: `key` is one, `control` is both control files, `backups` every backup, `store` everything, and with a slash at its end it is all below it", needs: []string{"key"},
		do: func(d *deed) {
			for _, key := range d.keysMeant() {
				d.m.bucket.remove(key)
			}
		},
	},
	"delete-state": {
		does: "files of kops's state store are deleted: all below the cluster's folder that begins with `key`", needs: []string{"key"},
		do: func(d *deed) { removeBelow(d.state, d.name+"/"+d.Key) },
	},
	"put": {
		does: "an object of the store is written with `content`", needs: []string{"key", "content"},
		do: func(d *deed) { d.m.bucket.put(upload{key: d.m.root + d.Key, body: []byte(d.Content)}) },
	},
	"write-spec": {
		does: "`etcd-manager-ctl configure-cluster`, or Terraform, writes the spec alone", takes: []string{"members", "version"},
		do: func(d *deed) {
			spec := etcdSpec{or(d.Members, d.kops.members), or(d.Version, d.kops.version)}
			d.m.bucket.put(upload{key: d.m.root + specPath, body: spec.byKops()})
		},
	},
	"archive": {
		does: "objects, named as for `delete`, or the `backup`, go to an archive class", takes: []string{"key", "backup", "class"},
		do: func(d *deed) {
			for _, key := range d.keysMeant() {
				d.m.bucket.current(key).StorageClass = or(d.Class, "GLACIER")
				d.m.bucket.tell(key)
			}
		},
	},
	"seal": {
		does: "objects, named as for `delete`, cannot be read by anybody: their key was disabled", needs: []string{"key"},
		do: func(d *deed) {
			for _, key := range d.keysMeant() {
				d.m.bucket.current(key).unreadable = "encrypted with a key that is disabled"
				d.m.bucket.tell(key)
			}
		},
	},
	"queue-restore": {
		does: "a restore of `backup` (newest, oldest, or a name) is queued, and nobody restarts the leader", needs: []string{"backup"},
		do: func(d *deed) { d.queueRestore(d.backupNamed(d.Backup)) },
	},
	"overwrite": {
		does: "the `part` (data, meta) of a `backup` is written again with something else", needs: []string{"backup", "part"},
		do: func(d *deed) {
			root := d.m.root + d.backupNamed(d.Backup) + "/"
			if d.Part == "meta" {
				d.m.bucket.put(upload{key: root + metaFile, body: metaBody(d.m.version, d.now.Add(-time.Hour), *d.m.spec)})
				return
			}
			d.m.bucket.put(upload{key: root + dataFile, size: 7777})
		},
	},
	"spoil": {
		does: "backups are spoilt from now on: `how` is empty, no-meta, no-data or bad-meta", needs: []string{"how"}, takes: []string{"for"},
		do: func(d *deed) { d.during(func(on bool) { d.m.broken = map[bool]string{true: d.How}[on] }) },
	},
	"deny-writes": {
		does: "S3 refuses what etcd-manager writes", takes: []string{"for"},
		do: func(d *deed) { d.during(func(on bool) { d.m.denied = on }) },
	},
	"deny-cleanup": {
		does: "S3 refuses what etcd-manager's cleanup deletes", takes: []string{"for"},
		do: func(d *deed) { d.during(func(on bool) { d.m.uncleaned = on }) },
	},
	"skew": {
		does: "the clock of the writing node is wrong by so much", needs: []string{"by"}, takes: []string{"for"},
		do: func(d *deed) {
			d.during(func(on bool) { d.m.skew = map[bool]time.Duration{true: time.Duration(d.By)}[on] })
		},
	},
	"second-writer": {
		does: "another process writes backups to the store, one every two minutes", takes: []string{"for"},
		do: func(d *deed) {
			writes := true
			d.during(func(on bool) { writes = on })
			d.writeToo(&writes, 1)
		},
	},
	"lifecycle": {
		does:  "the lifecycle rules of `bucket` (the cluster's, if it is not given) are replaced",
		needs: []string{"lifecycle"}, takes: []string{"bucket"},
		do: func(d *deed) { d.bucketMeant().rules = d.Lifecycle },
	},
	"versioning": {
		does: "versioning of the bucket becomes Enabled or Suspended", needs: []string{"status"}, takes: []string{"bucket"},
		do: func(d *deed) { d.bucketMeant().versioning = d.Status },
	},
	"publish": {
		does: "the bucket's policy lets everybody in", takes: []string{"bucket"},
		do: func(d *deed) { d.bucketMeant().public = true },
	},
}

// keysMeant are the current objects that an event names.
func (d *deed) keysMeant() []string {
	switch {
	case d.Backup != "":
		return d.m.bucket.keys(d.m.root + d.backupNamed(d.Backup) + "/")
	case d.Key == "control":
		return d.m.bucket.keys(d.m.root + "control/etcd-cluster-")
	case d.Key == "backups":
		return slices.DeleteFunc(d.m.bucket.keys(d.m.root), func(key string) bool { return strings.HasPrefix(key, d.m.root+"control/") })
	case d.Key == "store":
		return d.m.bucket.keys(d.m.root)
	case strings.HasSuffix(d.Key, "/"):
		return d.m.bucket.keys(d.m.root + d.Key)
	}
	return slices.DeleteFunc(d.m.bucket.keys(d.m.root+d.Key), func(key string) bool { return key != d.m.root+d.Key })
}

func (d *deed) bucketMeant() *bucket {
	if d.Bucket != "" {
		return d.world.buckets[d.Bucket]
	}
	return d.m.bucket
}

// during switches something on, and off again after the event's time, if it has one.
func (d *deed) during(turn func(on bool)) {
	turn(true)
	if d.For > 0 {
		d.after(time.Duration(d.For), func() { turn(false) })
	}
}

// backupNamed gives a complete backup: the newest, the oldest, one of the middle, or
// what is named.
func (d *deed) backupNamed(which string) string {
	var names []string
	for _, key := range d.m.bucket.keys(d.m.root) {
		if name, ok := strings.CutSuffix(key[len(d.m.root):], "/"+metaFile); ok && d.m.bucket.current(d.m.root+name+"/"+dataFile) != nil {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return which
	}
	switch which {
	case "newest":
		return names[len(names)-1]
	case "oldest":
		return names[0]
	case "middle":
		return names[len(names)/2]
	}
	return which
}

func (d *deed) queueRestore(backup string) {
	key := fmt.Sprintf("%scontrol/%s-000000/%s", d.m.root, d.now.UTC().Format(time.RFC3339), commandFile)
	d.m.bucket.put(upload{key: key, body: commandBody(d.now, backup, etcdSpec{d.kops.members, d.kops.version})})
}

func (d *deed) writeToo(on *bool, n int) {
	if !*on {
		return
	}
	root := fmt.Sprintf("%s%s-%06d/", d.m.root, d.now.UTC().Format(time.RFC3339), n)
	d.m.bucket.put(upload{key: root + dataFile, size: 5000})
	d.m.bucket.put(upload{key: root + metaFile, body: metaBody(d.m.version, d.now, etcdSpec{d.kops.members, d.kops.version})})
	d.after(2*time.Minute, func() { d.writeToo(on, n+1) })
}
