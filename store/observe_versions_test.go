package store_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"backstop/audit"
	"backstop/store/etcdmanager"
	"backstop/store/storetest"
)

// What the versions of a store come to.
func TestVersionsOfAStore(t *testing.T) {
	_, b, s := seeded(t)
	b.SetVersioning("Enabled")
	taken := noon.Add(-31 * time.Minute)
	name := putSnapshot(b, taken) // over what was there before versioning was on
	data, meta := main+"/"+name+"/etcd.backup.gz", main+"/"+name+"/_etcd_backup.meta"
	b.Put(data, make([]byte, 100))
	gone := putSnapshot(b, noon.Add(-2*time.Hour))
	b.Delete(main + "/" + gone + "/etcd.backup.gz")
	b.Put(main+"/control/etcd-cluster-spec", []byte(`{"memberCount": 3, "etcdVersion": "3.5.30"}`))
	b.Put("prod.example.com/backups/etcd/main2/x", nil) // a neighbour's

	o := observe(t, s)
	v := o.Versions.Value
	// 8 halves of snapshots and 2 control files; above them two over the data
	// and one over the meta of one snapshot, a snapshot with a marker, a spec.
	if !o.Versions.IsSet() || v.Counted != 10+3+3+1 || v.More {
		t.Errorf("versions %+v", o.Versions)
	}
	if v.Noncurrent != 2+1+1+1 || v.NoncurrentBytes != 3000+3000+25+3000+43 {
		t.Errorf("%d noncurrent versions of %d bytes", v.Noncurrent, v.NoncurrentBytes)
	}
	var keys []string
	for _, r := range v.Rewritten {
		keys = append(keys, r.Key)
	}
	if !slices.Equal(keys, []string{meta, data}) {
		t.Fatalf("rewritten %q, want the two halves of %s", keys, name)
	}
	if d := v.Rewritten[1].Versions; len(d) != 3 || d[0].Size != 100 || !d[0].Latest || d[2].Size != 3000 {
		t.Errorf("versions of the data %+v", d)
	}
	if c := o.ControlVersions.Value; len(c) != 3 || c[0].Key != main+"/control/etcd-cluster-created" || !c[1].Latest || c[2].Latest {
		t.Errorf("versions of the control files %+v", c)
	}
}

// Of a bucket that was never versioned nothing is asked.
func TestVersionsThatNeverWere(t *testing.T) {
	f, _, s := seeded(t)
	o := observe(t, s)
	if o.Versions.State != audit.Unset || o.ControlVersions.State != audit.Unset || versionRequests(f) != nil {
		t.Errorf("versions %+v, of control files %+v, asked for %q", o.Versions, o.ControlVersions, versionRequests(f))
	}
}

// versionRequests are the prefixes of which versions were listed.
func versionRequests(f *storetest.Fake) (prefixes []string) {
	for _, r := range f.Requests() {
		if p := r.Query.Get("prefix"); r.Operation == "ListObjectVersions" && !slices.Contains(prefixes, p) {
			prefixes = append(prefixes, p)
		}
	}
	return prefixes
}

// Where the versions of the whole store cannot be listed to their end, those of
// the control files are asked for by themselves; but not of a server that does
// not know the call.
func TestVersionsOfControlFilesAlone(t *testing.T) {
	const whole, control = main + "/", main + "/control/etcd-cluster-"
	for name, c := range map[string]struct {
		fault *storetest.Fault
		many  bool
		asked []string
		whole audit.State
		alone audit.State
	}{
		"all is well":          {nil, false, []string{whole}, audit.Set, audit.Set},
		"refused":              {&storetest.Fault{Kind: storetest.Refused, Status: 403, Code: "AccessDenied"}, false, []string{whole, control}, audit.Unseen, audit.Set},
		"the server fails":     {&storetest.Fault{Kind: storetest.Refused, Status: 500, Code: "InternalError"}, false, []string{whole, control}, audit.Unseen, audit.Set},
		"paging never ends":    {&storetest.Fault{Kind: storetest.Repeated}, false, []string{whole, control}, audit.Unseen, audit.Set},
		"the call is unknown":  {&storetest.Fault{Kind: storetest.Refused, Status: 501, Code: "NotImplemented"}, false, []string{whole}, audit.Unseen, audit.Unseen},
		"another document":     {&storetest.Fault{Kind: storetest.Foreign}, false, []string{whole}, audit.Unseen, audit.Unseen},
		"more than is counted": {nil, true, []string{whole, control}, audit.Set, audit.Set},
	} {
		t.Run(name, func(t *testing.T) {
			f, b, s := seeded(t)
			b.SetVersioning("Enabled")
			if c.many {
				for range 10_001 {
					b.Put(main+"/2020-01-01T00:00:00Z-000001/etcd.backup.gz", []byte("x"))
				}
			}
			f.Fault(func(r storetest.Request) *storetest.Fault {
				if r.Operation == "ListObjectVersions" && r.Query.Get("prefix") == whole {
					return c.fault
				}
				return nil
			})
			o := observe(t, s)
			if got := versionRequests(f); !slices.Equal(got, c.asked) {
				t.Errorf("asked for %q, want %q", got, c.asked)
			}
			if o.Versions.State != c.whole || o.ControlVersions.State != c.alone {
				t.Errorf("versions %s, of control files %s, want %s and %s", o.Versions.State, o.ControlVersions.State, c.whole, c.alone)
			}
			if got := o.Versions.Value; c.many && (!got.More || got.Counted != 10_000 || len(got.Rewritten[0].Versions) != audit.RewrittenLimit) {
				t.Errorf("counted %d, more %t, %d versions kept", got.Counted, got.More, len(got.Rewritten[0].Versions))
			}
			if got := o.ControlVersions.Value; c.alone == audit.Set && (len(got) != 2 || !strings.HasSuffix(got[0].Key, etcdmanager.CreatedPath)) {
				t.Errorf("versions of the control files %+v", got)
			}
		})
	}
}
