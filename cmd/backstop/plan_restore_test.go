package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"backstop/store/etcdmanager"
	"backstop/store/storetest"
)

// afterReset is when the store post-reset was copied.
const afterReset = "2026-11-30T18:09:08Z"

// eventsToo is the store post-reset twice, as main and events of one cluster.
func eventsToo(t *testing.T) []storetest.File {
	t.Helper()
	files := mustArchive(t, "post-reset")
	for _, f := range mustArchive(t, "post-reset") {
		f.Key = strings.Replace(f.Key, "/etcd/main/", "/etcd/events/", 1)
		files = append(files, f)
	}
	return files
}

// says holds an output to words that must be in it, and to none that must not.
func says(t *testing.T, out string, want, never []string) {
	t.Helper()
	for _, s := range want {
		if !strings.Contains(out, s) {
			t.Errorf("it does not say %q:\n%s", s, out)
		}
	}
	for _, s := range never {
		if strings.Contains(out, s) {
			t.Errorf("it says %q:\n%s", s, out)
		}
	}
}

// The store that a real etcd-manager left behind after a reset.
func TestPlanAfterReset(t *testing.T) {
	want := []string{
		"restore 2026-11-30T18:06:47Z-000006, taken at 2026-11-30 18:06:47Z, 101s before the new cluster was formed (2026-11-30 18:08:28Z)",
		"verified now, read to its end: revision 289, 106 keys",
		"2026-11-30T18:09:01Z-000008 and 1 before it, back to 2026-11-30T18:08:29Z-000007: taken from the new cluster",
		"deletes it on 2026-11-30 19:06:47Z, in 57m. What it keeps is the earliest of that hour, 2026-11-30T18:04:16Z-000001, though that holds nothing, by its size (663 bytes)",
		"restore-backup 2026-11-30T18:06:47Z-000006\n",
	}
	for name, dir := range map[string]bool{"directory": true, "S3": false} {
		t.Run(name, func(t *testing.T) {
			args := []string{"plan", "--interval", "25s"}
			if dir {
				args = append(args, copied(t, mustArchive(t, "post-reset")))
			} else {
				_, _, endpoint := served(t, at(afterReset), mustArchive(t, "post-reset"))
				args = append(args, "s3://kops", "--endpoint-url", endpoint)
			}
			r := command(t, at(afterReset), args...)
			if r.code != exitCritical {
				t.Errorf("exit %d: %s", r.code, r.stderr)
			}
			says(t, r.stdout, want, []string{"NOT VERIFIED", "The order of repair"})
		})
	}
}

// main and events are planned together, main first, and to one time.
func TestPlanOfThePair(t *testing.T) {
	files := eventsToo(t)
	for i, f := range files { // the newest good one of main is damaged
		if strings.HasSuffix(f.Key, "main/2026-11-30T18:06:47Z-000006/etcd.backup.gz") {
			files[i].Body = bytes.Clone(f.Body)
			files[i].Body[len(f.Body)/2] ^= 4
		}
	}
	_, _, endpoint := served(t, at(afterReset), files)
	r := command(t, at(afterReset), "plan", "s3://kops", "--endpoint-url", endpoint)
	says(t, r.stdout, []string{
		"passed over: 2026-11-30T18:06:47Z-000006: damaged: ",
		"main restore-backup 2026-11-30T18:06:17Z-000005\n", "events restore-backup 2026-11-30T18:06:17Z-000005\n",
		"taken at 2026-11-30 18:06:17Z, 2m before the new cluster was formed (2026-11-30 18:08:28Z), 0s from the one that it is restored with",
		"It is restored together with s3://kops/prod.example.com/backups/etcd/events: see the plan there.",
	}, []string{"was not looked at", "NOT VERIFIED"})
	if main, events := strings.Index(r.stdout, "What to restore of s3://kops/prod.example.com/backups/etcd/main"), strings.Index(r.stdout, "What to restore of s3://kops/prod.example.com/backups/etcd/events"); main < 0 || events < main {
		t.Errorf("main at %d, events at %d", main, events)
	}
	if n := strings.Count(r.stdout, "The order of the restore"); n != 1 {
		t.Errorf("%d orders of restore", n)
	}
}

// events that were not reset stay as they are.
func TestPlanOfOneHalf(t *testing.T) {
	files := mustArchive(t, "post-reset")
	for _, f := range mustArchive(t, "healthy") {
		f.Key = strings.Replace(f.Key, "/etcd/main/", "/etcd/events/", 1)
		files = append(files, f)
	}
	_, _, endpoint := served(t, at(afterReset), files)
	r := command(t, at(afterReset), "plan", "s3://kops", "--endpoint-url", endpoint)
	says(t, r.stdout, []string{"events was not reset, and needs no restore", "main restore-backup 2026-11-30T18:06:47Z-000006\n"}, []string{"events restore-backup"})
}

// What was not read is not called verified: of a recording, with --open 0, and
// where S3 refuses it.
func TestPlanThatCannotVerify(t *testing.T) {
	_, b, endpoint := served(t, at(afterReset), mustArchive(t, "post-reset"))
	args := []string{"s3://kops", "--endpoint-url", endpoint}
	seen := filepath.Join(t.TempDir(), "seen.json")
	if r := command(t, at(afterReset), append([]string{"audit", "--record", seen}, args...)...); r.code != exitCritical {
		t.Fatalf("exit %d: %s", r.code, r.stderr)
	}
	not := []string{"verified now"}
	r := command(t, at(afterReset), "plan", "--replay", seen)
	says(t, r.stdout, []string{"NOT VERIFIED: snapshots cannot be opened here: this is a recording", "restore-backup 2026-11-30T18:06:47Z-000006"}, not)
	r = command(t, at(afterReset), append([]string{"plan", "--open", "0"}, args...)...)
	says(t, r.stdout, []string{"NOT VERIFIED: none was opened (--open 0)"}, not)
	for _, n := range []string{"2026-11-30T18:06:47Z-000006", "2026-11-30T18:06:17Z-000005", "2026-11-30T18:05:47Z-000004"} {
		b.Put(mainStore+n+"/"+etcdmanager.DataFile, []byte("no snapshot"), storetest.WithTime(at("2026-11-30T18:06:47Z")))
	}
	r = command(t, at(afterReset), append([]string{"plan", "--restore"}, args...)...)
	says(t, r.stdout, []string{"passed over: "}, not)
}

// A restore that is asked for, of a store that is as it should be.
func TestPlanRestoreIsAskedFor(t *testing.T) {
	dir := copied(t, mustArchive(t, "healthy"))
	r := command(t, at("2026-11-30T18:07:10Z"), "plan", dir)
	if says(t, r.stdout, []string{"nothing to repair"}, []string{"restore-backup"}); r.code != exitOK {
		t.Errorf("exit %d", r.code)
	}
	r = command(t, at("2026-11-30T18:07:10Z"), "plan", "--before", "2026-11-30T18:06:47Z", dir)
	if says(t, r.stdout, []string{"restore-backup 2026-11-30T18:06:17Z-000005", "passed over: 2026-11-30T18:06:47Z-000006: not taken before 2026-11-30 18:06:47Z"}, nil); r.code != exitCritical {
		t.Errorf("exit %d", r.code)
	}
	// Nothing was there before the first keys.
	r = command(t, at("2026-11-30T18:07:10Z"), "plan", "--before", "2026-11-30T18:05:40Z", dir)
	if says(t, r.stdout, []string{"there is no snapshot here that could be restored", "There is no plan without a snapshot"}, nil); r.code != exitCritical {
		t.Errorf("exit %d", r.code)
	}
	for _, args := range [][]string{{"--before", "noon"}, {"--open", "-1"}} {
		if r := command(t, at(afterReset), append([]string{"plan", dir}, args...)...); r.code != exitUsage {
			t.Errorf("%q: exit %d", args, r.code)
		}
	}
}

// Snapshots that S3 refuses, and a store that cannot be listed: nobody knows, and
// that is what is said.
func TestPlanThatIsRefused(t *testing.T) {
	refused := &storetest.Fault{Kind: storetest.Refused, Status: 403, Code: "AccessDenied", Message: "Access Denied"}
	fake, _, endpoint := served(t, at(afterReset), mustArchive(t, "post-reset"))
	fake.Fault(func(r storetest.Request) *storetest.Fault {
		if strings.HasSuffix(r.Key, etcdmanager.DataFile) {
			return refused
		}
		return nil
	})
	r := command(t, at(afterReset), "plan", "s3://kops", "--endpoint-url", endpoint)
	if says(t, r.stdout, []string{"restore 2026-11-30T18:06:47Z-000006", "NOT VERIFIED: could not be verified (not-read: ", "restore-backup 2026-11-30T18:06:47Z-000006"}, []string{"verified now", "damaged"}); r.code != exitCritical {
		t.Errorf("exit %d", r.code)
	}
	fake.Fault(func(r storetest.Request) *storetest.Fault {
		if r.Operation == "ListObjectsV2" {
			return refused
		}
		return nil
	})
	r = command(t, at(afterReset), "plan", "--restore", "s3://kops/"+strings.TrimSuffix(mainStore, "/"), "--endpoint-url", endpoint)
	if says(t, r.stdout, nil, []string{"there is no snapshot here", "restore-backup"}); r.code == exitOK || r.code == exitCritical {
		t.Errorf("exit %d: %s", r.code, r.stdout)
	}
}
