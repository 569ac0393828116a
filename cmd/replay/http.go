package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"backstop/audit"
	"backstop/store"
	"backstop/store/storetest"
)

// A mirror is a server that holds what the world's buckets hold, for a day on which
// every audit is made over HTTP too.
type mirror struct {
	*watch
	endpoint string
	stop     func()
	held     map[string]*storetest.Bucket
	changed  map[string]map[string]bool // keys by bucket, since the last audit

	audits, findings, differences int
}

// startMirror starts the server. Its credentials are the usual ones of a fake.
func startMirror(a *watch) (*mirror, error) {
	for k, v := range map[string]string{"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true"} {
		if err := os.Setenv(k, v); err != nil {
			return nil, fmt.Errorf("set the credentials for the fake S3: %w", err)
		}
	}
	fake := storetest.NewFake(a.time)
	endpoint, stop, err := fake.Start()
	if err != nil {
		return nil, err
	}
	m := &mirror{watch: a, endpoint: endpoint, stop: stop, held: map[string]*storetest.Bucket{}, changed: map[string]map[string]bool{}}
	for name, b := range a.buckets {
		m.held[name] = fake.CreateBucket(name)
		m.held[name].SetExpiration(b.expirationOf)
		m.changed[name] = map[string]bool{}
		for _, s := range b.below("") {
			m.changed[name][s.key] = true
		}
		b.changed = append(b.changed, func(key string) { m.changed[name][key] = true })
	}
	return m, nil
}

func (b *bucket) expirationOf(o storetest.Object) string {
	if v := b.current(o.Key); v != nil {
		return b.expiration(v)
	}
	return ""
}

// sync brings the server up to date.
func (m *mirror) sync() {
	for name, b := range m.buckets {
		held := m.held[name]
		held.SetVersioning("Enabled") // so that versions keep their ids
		for key := range m.changed[name] {
			held.Purge(key)
			if shard, i, ok := b.find(key); ok {
				for _, v := range slices.Backward(shard[i].versions) {
					held.Add(asObject(v))
				}
			}
		}
		clear(m.changed[name])
		held.SetVersioning(b.versioning)
		if held.SetLifecycle(nil); len(b.rules) > 0 {
			held.SetLifecycle(b.document())
		}
		held.SetTransitionSizeDefault(b.sizeMode)
		shut, public := !b.public, b.public
		held.Configure(storetest.Settings{
			PublicAccessBlock: &audit.PublicAccessBlock{BlockPublicACLs: shut, IgnorePublicACLs: shut, BlockPublicPolicy: shut, RestrictPublicBuckets: shut},
			PublicPolicy:      &public, Encryption: "AES256",
		})
	}
}

func asObject(v *version) storetest.Object {
	o := storetest.Object{Key: v.Key, Body: v.body, Size: int(v.Size), Time: v.LastModified, Class: v.StorageClass, VersionID: v.VersionID, Marker: v.Marker}
	if v.unreadable != "" {
		o.Refusal, o.RefusalMessage = "KMS.DisabledException", v.unreadable
	}
	return o
}

// compare makes one audit in memory and one over HTTP, and compares what they find.
// Both are of a server that is not AWS.
func (m *mirror) compare(ctx context.Context, due map[string]bool) error {
	m.sync()
	inMemory, _, err := m.audit(ctx, m.places(m.endpoint, due), m.world.open(m.endpoint))
	if err != nil {
		return err
	}
	var places []store.Place
	for _, p := range m.places(m.endpoint, due) {
		b, err := m.openHTTP(ctx, p.Bucket.Name(), 0)
		if err != nil {
			return err
		}
		places = append(places, store.Place{URL: p.URL, Bucket: b, Prefix: p.Prefix})
	}
	overHTTP, _, err := m.audit(ctx, places, m.openHTTP)
	if err != nil {
		return err
	}
	if len(places) > 0 {
		m.audits++
	}
	a, b := said(inMemory), said(overHTTP)
	m.findings += len(a)
	for line := range a {
		if !b[line] {
			m.differences++
			fmt.Fprintln(os.Stderr, "in memory only:", line)
		}
	}
	for line := range b {
		if !a[line] {
			m.differences++
			fmt.Fprintln(os.Stderr, "over HTTP only:", line)
		}
	}
	return nil
}

func (m *mirror) openHTTP(ctx context.Context, bucket string, _ int) (store.Bucket, error) {
	b, err := store.OpenS3(ctx, store.S3Options{Bucket: bucket, EndpointURL: m.endpoint, Now: m.time})
	if err != nil {
		return nil, err
	}
	return unread{b}, nil
}

// said is everything that was judged of every store: its findings, state and verdict.
func said(reports []audit.StoreReport) map[string]bool {
	all := map[string]bool{}
	for _, r := range reports {
		lines := []string{fmt.Sprint(r.Verdict, " ", r.State, " ", r.Role, " unseen ", len(r.Unseen))}
		for _, f := range r.Findings {
			body, _ := json.Marshal(f) // it holds nothing that could not be written
			lines = append(lines, string(body))
		}
		for _, line := range lines {
			all[strings.Join([]string{r.Store.URL, line}, " ")] = true
		}
	}
	return all
}
