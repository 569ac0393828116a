// Command fill writes what a Kubernetes API server leaves in etcd, until the
// database has a given size, and saves a snapshot: many small objects that are
// written again and again, some deleted, old revisions compacted. The same seed
// gives the same keys.
package main

import (
	"compress/gzip"
	"context"
	"encoding/base64"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// A resource is a kind of objects: its part of the key, how many of a hundred
// writes are to it, and how long its values are.
type resource struct {
	path     string
	share    int
	min, max int
}

var resources = []resource{
	{"pods", 32, 1500, 5000},
	{"events", 24, 500, 1200},
	{"replicasets", 10, 1400, 2800},
	{"configmaps", 9, 300, 6000},
	{"secrets", 8, 800, 5000},
	{"deployments", 5, 1800, 4000},
	{"leases/kube-node-lease", 4, 300, 450},
	{"endpointslices", 4, 600, 2000},
	{"services/specs", 2, 600, 1500},
	{"apiextensions.k8s.io/customresourcedefinitions", 2, 4000, 24000},
}

// words make values that compress about as well as Kubernetes's protobuf.
var words = []string{
	"metadata", "namespace", "kube-system", "default", "labels", "app.kubernetes.io/name", "annotations", "spec", "containers",
	"image", "registry.k8s.io/pause", "imagePullPolicy", "IfNotPresent", "resources", "limits", "requests", "cpu", "memory", "128Mi",
	"ownerReferences", "ReplicaSet", "controller", "status", "conditions", "lastTransitionTime", "Ready", "ContainersReady",
	"PodScheduled", "managedFields", "fieldsV1", "f:metadata", "f:spec", "kube-controller-manager", "Update", "apps/v1",
	"tolerations", "node.kubernetes.io/not-ready", "NoExecute", "volumeMounts", "serviceAccountToken", "readOnly", "hostIP",
}

func main() {
	endpoint := flag.String("endpoint", "http://127.0.0.1:2379", "the etcd to fill")
	size := flag.Int64("size", 640, "MB that the keys and their history are to take")
	out := flag.String("out", "", "file for the snapshot, gzipped as etcd-manager does")
	flag.Parse()
	if err := run(*endpoint, *size*1e6, *out); err != nil {
		log.Fatal(err)
	}
}

func run(endpoint string, size int64, out string) error {
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}, DialTimeout: 10 * time.Second, Logger: zap.NewNop()})
	if err != nil {
		return err
	}
	defer c.Close()
	ctx := context.Background()
	f := &filler{client: c, rand: rand.New(rand.NewPCG(1, 2))}
	for {
		st, err := c.Status(ctx, endpoint)
		if err != nil {
			return err
		}
		if st.DbSizeInUse >= size {
			return save(ctx, c, out)
		}
		for range 100 {
			if err := f.write(ctx); err != nil {
				return err
			}
		}
		// The API server compacts what is older than five minutes.
		if f.rounds++; f.rounds%4 == 0 {
			if _, err := c.Compact(ctx, f.revision-f.revision/20-1); err != nil {
				return err
			}
		}
	}
}

type filler struct {
	client   *clientv3.Client
	rand     *rand.Rand
	keys     []entry
	revision int64
	rounds   int
}

type entry struct {
	key string
	of  resource
}

// write makes one transaction of up to 60 writes: new objects, new versions of
// old ones, and deletions.
func (f *filler) write(ctx context.Context) error {
	var ops []clientv3.Op
	touched := map[string]bool{}
	for range 1 + f.rand.IntN(60) {
		dice := f.rand.IntN(100)
		if dice < 55 || len(f.keys) < 100 {
			e := f.create()
			touched[e.key] = true
			ops = append(ops, clientv3.OpPut(e.key, f.value(e.of)))
			continue
		}
		i := f.rand.IntN(len(f.keys))
		e := f.keys[i]
		if touched[e.key] {
			continue
		}
		touched[e.key] = true
		if dice < 88 {
			ops = append(ops, clientv3.OpPut(e.key, f.value(e.of)))
			continue
		}
		ops = append(ops, clientv3.OpDelete(e.key))
		f.keys[i] = f.keys[len(f.keys)-1]
		f.keys = f.keys[:len(f.keys)-1]
	}
	r, err := f.client.Txn(ctx).Then(ops...).Commit()
	if err == nil {
		f.revision = r.Header.Revision
	}
	return err
}

func (f *filler) create() entry {
	dice := f.rand.IntN(100)
	of := resources[0]
	for _, r := range resources {
		if of = r; dice < r.share {
			break
		}
		dice -= r.share
	}
	e := entry{fmt.Sprintf("/registry/%s/ns-%d/%s-%x", of.path, f.rand.IntN(50), of.path[:3], f.rand.Uint64()), of}
	f.keys = append(f.keys, e)
	return e
}

// value makes a value of words, with something random in between, so that a
// snapshot compresses about five to one, as those of Kubernetes do.
func (f *filler) value(r resource) string {
	n := r.min + f.rand.IntN(r.max-r.min)
	b := append(make([]byte, 0, n+64), "k8s\x00\n\x0c\n\x02v1\x12\x06Object\x12"...)
	for len(b) < n {
		if f.rand.IntN(11) > 0 {
			b = append(append(b, byte(8*f.rand.IntN(12)+2)), words[f.rand.IntN(len(words))]...)
			continue
		}
		var noise [15]byte
		for i := range noise {
			noise[i] = byte(f.rand.Uint32())
		}
		b = base64.StdEncoding.AppendEncode(append(b, 0x12, 20), noise[:])
	}
	return string(b[:n])
}

func save(ctx context.Context, c *clientv3.Client, out string) error {
	r, err := c.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	w, err := os.Create(out)
	if err != nil {
		return err
	}
	z := gzip.NewWriter(w)
	if _, err := io.Copy(z, r); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return w.Close()
}
