package main

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"backstop/audit"
	"backstop/store/storetest"
)

func TestLadder(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 7, 0, 0, time.UTC)
	taken := ladder(255, now)
	if len(taken) != 255 || !taken[0].Equal(now.Add(-2*time.Minute)) {
		t.Fatalf("%d snapshots, the newest of %v", len(taken), taken[0])
	}
	for i, at := range taken[1:] {
		gap, age := taken[i].Sub(at), now.Sub(at)
		if gap <= 0 || gap >= 2*audit.Day || age < 6*audit.Day && gap >= 2*time.Hour || age < 45*time.Minute && gap != 15*time.Minute {
			t.Errorf("snapshot %d lies %v before the one after it, and is %v old", i+1, gap, age)
		}
	}
}

// A client that makes the requests of a log makes the same ones, the pages of two
// listings of one prefix among them.
func TestReplay(t *testing.T) {
	for name, v := range map[string]string{"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "us-east-1", "AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull} {
		t.Setenv(name, v)
	}
	f := storetest.NewFake(time.Now)
	f.SetPageSize(100)
	n := size{Clusters: 5, Stores: 2, Snapshots: 30}
	fill(f.CreateBucket(bucketName), n, time.Now())
	b, err := newBare(context.Background(), f.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	keys, err := b.list(t.Context())
	if want := n.Clusters * (2 + n.Stores*(2+2*n.Snapshots)); err != nil || keys != want {
		t.Fatalf("%d keys, %v, want %d", keys, err, want)
	}
	first := []*task{
		{Operation: "ListObjectsV2", Pages: 2},
		{Operation: "ListObjectsV2", StartAfter: "c00003", Pages: 3},
		{Operation: "ListObjectsV2", Delimiter: "/", Pages: 1},
		{Operation: "ListObjectVersions", Prefix: "c00001.example.com/backups/etcd/main/control/", Pages: 1},
		{Operation: "GetObject", Key: "c00001.example.com/config", Pages: 1},
		{Operation: "GetObject", Key: "c00001.example.com/config", Range: "bytes=0-9", Pages: 1},
	}
	for _, op := range []string{"GetBucketVersioning", "GetBucketLifecycleConfiguration", "GetObjectLockConfiguration", "GetPublicAccessBlock", "GetBucketPolicyStatus", "GetBucketEncryption", "ListMultipartUploads"} {
		first = append(first, &task{Operation: op, Pages: 1})
	}
	replayed := func(tasks []*task) []*task {
		t.Helper()
		f.ResetRequests()
		if err := b.replay(t.Context(), tasks, 1); err != nil {
			t.Fatal(err)
		}
		return asked(f.Requests())
	}
	text := func(tasks []*task) (s string) {
		for _, t := range tasks {
			s += fmt.Sprintf("%+v\n", *t)
		}
		return s
	}
	log := replayed(first)
	if got, want := text(log), text(first); got != want {
		t.Errorf("the log has\n%s\nwant\n%s", got, want)
	}
	if got, want := text(replayed(log)), text(log); got != want {
		t.Errorf("replayed\n%s\nwant\n%s", got, want)
	}
}
