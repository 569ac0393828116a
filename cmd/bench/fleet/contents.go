package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"time"

	"backstop/audit"
	"backstop/store/etcdmanager"
	"backstop/store/storetest"
)

// bucketName is the bucket that is audited.
const bucketName = "fleet"

// A size is how much there is to audit.
type size struct{ Clusters, Stores, Snapshots int }

// rule is what a bucket with backups may well have: it touches no store.
const rule = `<LifecycleConfiguration><Rule><ID>old-logs</ID><Status>Enabled</Status><Filter><Prefix>logs/</Prefix></Filter><Expiration><Days>90</Days></Expiration></Rule></LifecycleConfiguration>`

// fill makes a kops state store of healthy clusters.
func fill(b *storetest.Bucket, n size, now time.Time) {
	b.SetVersioning("Enabled")
	b.SetLifecycle([]byte(rule))
	b.Configure(storetest.Settings{
		ObjectLock:        &audit.ObjectLock{},
		PublicAccessBlock: &audit.PublicAccessBlock{BlockPublicACLs: true, IgnorePublicACLs: true, BlockPublicPolicy: true, RestrictPublicBuckets: true},
		PublicPolicy:      new(bool),
		Encryption:        "AES256",
	})
	taken := ladder(n.Snapshots, now)
	born := taken[len(taken)-1].Add(-time.Hour)
	data := snapshot() // shared by all snapshots
	for c := range n.Clusters {
		name := fmt.Sprintf("c%05d.example.com", c)
		etcds := []string{"main", "events", "cilium", "leases"}[:n.Stores]
		spec := clusterSpec(name, born, etcds)
		b.Add(storetest.Object{Key: name + "/config", Body: spec, Time: born})
		b.Add(storetest.Object{Key: name + "/cluster-completed.spec", Body: spec, Time: born})
		for _, etcd := range etcds {
			fillStore(b, name+"/backups/etcd/"+etcd+"/", born, taken, data)
		}
	}
}

func fillStore(b *storetest.Bucket, root string, born time.Time, taken []time.Time, data []byte) {
	spec := etcdmanager.FormatSpec(etcdmanager.ClusterSpec{MemberCount: 3, EtcdVersion: "3.5.30"})
	b.Add(storetest.Object{Key: root + etcdmanager.CreatedPath, Body: etcdmanager.FormatCreated(born), Time: born})
	b.Add(storetest.Object{Key: root + etcdmanager.SpecPath, Body: spec, Time: born})
	for i, at := range taken {
		snapshot := root + etcdmanager.FormatName(at, len(taken)-i) + "/"
		meta := fmt.Appendf(nil, `{"etcdVersion":"3.5.30","timestamp":"%d","clusterSpec":%s}`, at.Unix(), spec)
		b.Add(storetest.Object{Key: snapshot + etcdmanager.DataFile, Body: data, Time: at.Add(time.Second)})
		b.Add(storetest.Object{Key: snapshot + etcdmanager.MetaFile, Body: meta, Time: at.Add(2 * time.Second)})
	}
}

// ladder gives the times of so many snapshots, the newest first, as etcd-manager
// thins them: all of the last hour, one of each hour of the last week, then one of
// each day.
func ladder(n int, now time.Time) []time.Time {
	newest := now.Add(-2 * time.Minute).Truncate(time.Second)
	var taken []time.Time
	for at := newest; len(taken) < n; {
		taken = append(taken, at)
		switch age := newest.Sub(at); {
		case age < 45*time.Minute:
			at = at.Add(-15 * time.Minute)
		case age < 7*audit.Day:
			at = at.Add(-time.Hour).Truncate(time.Hour)
		default:
			at = at.Add(-audit.Day).Truncate(audit.Day)
		}
	}
	return taken
}

// clusterSpec is a cluster as kops writes it.
func clusterSpec(name string, created time.Time, etcds []string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: kops.k8s.io/v1alpha2\nkind: Cluster\nmetadata:\n  creationTimestamp: %q\n  name: %s\nspec:\n  configBase: s3://%s/%s\n  cloudProvider: aws\n  etcdClusters:\n",
		created.UTC().Format(time.RFC3339), name, bucketName, name)
	for _, etcd := range etcds {
		fmt.Fprintf(&b, "  - cpuRequest: 200m\n    etcdMembers:\n")
		for _, zone := range "abc" {
			fmt.Fprintf(&b, "    - instanceGroup: control-plane-%c\n      name: %c\n", zone, zone)
		}
		fmt.Fprintf(&b, "    manager:\n      backupRetentionDays: 90\n    name: %s\n    version: 3.5.30\n", etcd)
	}
	return []byte(b.String())
}

// snapshot gives something whose first and last bytes are those of a snapshot of
// 160 KB: two meta pages of bbolt, and pages that do not compress.
func snapshot() []byte {
	const size, pages = 4096, 40
	db := make([]byte, pages*size+32)
	rand.NewChaCha8([32]byte{}).Read(db)
	for i := range 2 {
		page := db[i*size : (i+1)*size]
		clear(page)
		le := binary.LittleEndian
		le.PutUint64(page, uint64(i))
		le.PutUint16(page[8:], 4) // a meta page
		m := page[16:]
		le.PutUint32(m, 0xED0CDAED)
		le.PutUint32(m[4:], 2)
		le.PutUint32(m[8:], size)
		le.PutUint64(m[16:], 3)          // the root
		le.PutUint64(m[32:], ^uint64(0)) // no freelist
		le.PutUint64(m[40:], pages)
		le.PutUint64(m[48:], uint64(9-i))
		sum := fnv.New64a()
		sum.Write(m[:56])
		le.PutUint64(m[56:], sum.Sum64())
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(db) // into memory
	_ = z.Close()
	return b.Bytes()
}
