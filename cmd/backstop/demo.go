package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"backstop/audit"
	"backstop/rules/lifecycle"
	"backstop/store/etcdmanager"
	"backstop/store/storetest"
)

func (p *program) demoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Tell the incident on an S3 server inside this program, with real snapshots",
		Long: `Tell the incident that backstop exists for: a lifecycle rule is added, takes the
control files three months later, and the next "kops update cluster" replaces a
live cluster with an empty one.

It starts an S3 server inside this program, fills it with a store that a real
etcd-manager wrote, and moves the clock. What it prints at each step is the
output of the true audit over HTTP. It needs nothing, asks nothing, and ends by
itself.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return p.demo(c.Context()) },
	}
}

// The demo's bucket and store.
const (
	demoBucket = "kops-state"
	demoStore  = "prod.example.com/backups/etcd/main"
)

// demoRule is the rule that people add to prune old backups.
const demoRule = `<LifecycleConfiguration><Rule><ID>prune-old-backups</ID><Status>Enabled</Status><Filter><Prefix></Prefix></Filter><Expiration><Days>90</Days></Expiration></Rule></LifecycleConfiguration>`

func (p *program) demo(ctx context.Context) error {
	d, stop, err := newIncident(p)
	if err != nil {
		return &failure{status: exitInternal, err: fmt.Errorf("start the demo: %w", err)}
	}
	defer stop()
	return d.tell(ctx)
}

// An incident is a small world with a clock of its own: a bucket, and an
// etcd-manager that does what the model of etcd-manager says.
type incident struct {
	p        *program
	fake     *storetest.Fake
	bucket   *storetest.Bucket
	endpoint string
	clock    time.Time
	rule     *lifecycle.Configuration

	full, empty []byte // real snapshots: of 105 keys, and of an empty cluster
	meta, spec  []byte
	taken       int // snapshots since etcd-manager's start
	names       []string
	cleaned     time.Time
}

func newIncident(p *program) (*incident, func(), error) {
	healthy, err := storetest.Archive("healthy")
	if err != nil {
		return nil, nil, err
	}
	reset, err := storetest.Archive("post-reset")
	if err != nil {
		return nil, nil, err
	}
	d := &incident{p: p, clock: time.Date(2026, 11, 30, 18, 7, 0, 0, time.UTC)}
	d.fake = storetest.NewFake(func() time.Time { return d.clock })
	d.bucket = d.fake.CreateBucket(demoBucket)
	d.bucket.SetVersioning("Enabled")
	d.bucket.Configure(storetest.Settings{
		ObjectLock:        &audit.ObjectLock{},
		PublicAccessBlock: &audit.PublicAccessBlock{BlockPublicACLs: true, IgnorePublicACLs: true, BlockPublicPolicy: true, RestrictPublicBuckets: true},
		Encryption:        "AES256",
	})
	d.bucket.Fill(healthy)
	for _, f := range append(healthy, reset...) {
		kind, name := etcdmanager.Classify(f.Key[len(demoStore)+1:])
		switch {
		case kind == etcdmanager.Data && name == "2026-11-30T18:06:47Z-000006":
			d.full = f.Body
		case kind == etcdmanager.Data && name == "2026-11-30T18:08:29Z-000007":
			d.empty = f.Body
		case kind == etcdmanager.Meta:
			d.meta = f.Body
		case kind == etcdmanager.Spec:
			d.spec = f.Body
		}
	}
	for _, f := range healthy {
		if kind, name := etcdmanager.Classify(f.Key[len(demoStore)+1:]); kind == etcdmanager.Meta {
			d.names = append(d.names, name)
		}
	}
	d.taken = len(d.names)
	endpoint, stop, err := d.fake.Start()
	if err != nil {
		return nil, nil, err
	}
	d.endpoint = endpoint
	return d, stop, credentialsForDemo()
}

// credentialsForDemo keeps this process, and no other, from using the person's
// own AWS configuration: the demo speaks to its own server alone.
func credentialsForDemo() error {
	for _, unset := range []string{"AWS_PROFILE", "AWS_CA_BUNDLE", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_SESSION_TOKEN"} {
		if err := os.Unsetenv(unset); err != nil {
			return err
		}
	}
	return errors.Join(
		os.Setenv("AWS_CONFIG_FILE", os.DevNull), os.Setenv("AWS_SHARED_CREDENTIALS_FILE", os.DevNull),
		os.Setenv("AWS_ACCESS_KEY_ID", "demo"), os.Setenv("AWS_SECRET_ACCESS_KEY", "demo"), os.Setenv("AWS_REGION", "us-east-1"))
}

// tell tells the story.
func (d *incident) tell(ctx context.Context) error {
	steps := []struct {
		title string
		do    func()
	}{
		{"A cluster runs, and etcd-manager backs it up.", func() {}},
		{"Somebody adds a lifecycle rule to the bucket: delete what is older than 90 days.\nThe two control files were written at the cluster's birth, and never since.", func() {
			d.until(time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC))
			d.bucket.SetLifecycle([]byte(demoRule))
			c, err := lifecycle.Parse([]byte(demoRule))
			if err == nil {
				d.rule = &c
			}
		}},
		{"Twelve weeks later nobody has acted. Four days are left.", func() {
			d.until(time.Date(2027, 2, 25, 6, 0, 0, 0, time.UTC))
		}},
		{"The rule has taken both control files. The cluster serves as if nothing had\nhappened; but no backup has been taken since midnight.", func() {
			d.until(time.Date(2027, 3, 1, 8, 0, 0, 0, time.UTC))
		}},
		{"A week later somebody runs `kops update cluster --yes`. It writes the spec again.", func() {
			d.until(time.Date(2027, 3, 8, 14, 30, 0, 0, time.UTC))
			d.put(etcdmanager.SpecPath, d.spec)
		}},
		{"Ten seconds later etcd-manager has made a new, empty cluster.\nKubernetes deletes every workload.", func() {
			d.until(d.clock.Add(70 * time.Second))
		}},
	}
	for i, s := range steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.do()
		fmt.Fprintf(d.p.stdout, "%s\n%d. %s\n%s\n\n", bar, i+1, d.clock.Format("2 January 2006, 15:04 UTC"), s.title)
		if err := d.audit(ctx); err != nil {
			return err
		}
		fmt.Fprintln(d.p.stdout)
	}
	fmt.Fprintf(d.p.stdout, "%s\nbackstop said so from step 2 on: 89 days ahead. Point it at your own bucket:\n\n    backstop audit s3://YOUR-KOPS-STATE-STORE\n", bar)
	return nil
}

const bar = "──────────────────────────────────────────────────────────────────────────────"

// audit runs the true command, over HTTP, at the demo's time.
func (d *incident) audit(ctx context.Context) error {
	url := "s3://" + demoBucket
	fmt.Fprintf(d.p.stdout, "$ backstop audit %s\n", url)
	sub := &program{ctx: ctx, stdout: d.p.stdout, stderr: d.p.stderr, now: func() time.Time { return d.clock }, env: d.p.env}
	code := sub.run([]string{"audit", url, "--endpoint-url", d.endpoint})
	fmt.Fprintf(d.p.stdout, "exit status %d\n", code)
	if code > exitUnknown {
		return &failure{status: exitInternal, err: fmt.Errorf("the demo's audit ended with %d", code)}
	}
	return nil
}

// until moves the clock on, and lets the world do what it does: lifecycle at
// midnight, etcd-manager every quarter of an hour.
func (d *incident) until(end time.Time) {
	for {
		next := d.clock.Truncate(15 * time.Minute).Add(15 * time.Minute)
		if quick := d.clock.Add(10 * time.Second); d.state() == etcdmanager.Imminent {
			next = quick // a missing created is looked for every 10 s
		}
		if next.After(end) {
			d.clock = end
			return
		}
		d.clock = next
		if d.rule != nil && d.clock.Equal(d.clock.Truncate(24*time.Hour)) {
			d.expire()
		}
		d.manage()
	}
}

// expire does what S3 does at midnight, with the keys of the store's current
// objects: hides what is due.
func (d *incident) expire() {
	for _, key := range d.bucket.Keys() {
		v, ok := d.bucket.Stat(key)
		if !ok {
			continue
		}
		current := []lifecycle.Version{{Key: key, VersionID: v.VersionID, Size: int64(len(v.Body)), LastModified: v.Time, TagsKnown: true}}
		b := lifecycle.Bucket{Versioning: lifecycle.Enabled, Provider: lifecycle.AWS}
		if e, ok := d.rule.Next(b, current, 0, d.clock); ok && e.Kind == lifecycle.Hide && !e.At.After(d.clock) {
			d.bucket.Delete(key)
		}
	}
}

// manage does what etcd-manager's leader does next, by the model.
func (d *incident) manage() {
	switch etcdmanager.Next(d.world()).Action {
	case etcdmanager.ActWork:
		d.backup(d.full)
	case etcdmanager.ActReset:
		d.put(etcdmanager.SpecPath, d.spec)
		d.put(etcdmanager.CreatedPath, etcdmanager.FormatCreated(d.clock))
		d.clock = d.clock.Add(time.Second)
		d.full = d.empty
		d.backup(d.empty)
	}
}

func (d *incident) state() etcdmanager.State {
	return etcdmanager.ClassifyState(d.world(), true, false)
}

// world is what etcd-manager finds in the bucket.
func (d *incident) world() etcdmanager.World {
	w := etcdmanager.World{Created: etcdmanager.Missing, Spec: etcdmanager.Missing, Quality: etcdmanager.WithMembers, Evidence: etcdmanager.EvidenceFound, Cached: true}
	if _, ok := d.bucket.Stat(demoStore + "/" + etcdmanager.CreatedPath); ok {
		w.Created = etcdmanager.Present
	}
	if _, ok := d.bucket.Stat(demoStore + "/" + etcdmanager.SpecPath); ok {
		w.Spec = etcdmanager.Present
	}
	return w
}

// metaOf is the meta file of a snapshot that is taken at a time: that of the
// archive, with another time in it.
func (d *incident) metaOf(at time.Time) []byte {
	info, err := etcdmanager.ParseMeta(d.meta)
	if err != nil {
		return d.meta
	}
	return bytes.Replace(d.meta, fmt.Append(nil, info.Timestamp.Unix()), fmt.Append(nil, at.Unix()), 1)
}

// backup writes a snapshot, and once an hour thins the older ones.
func (d *incident) backup(body []byte) {
	d.taken++
	name := etcdmanager.FormatName(d.clock, d.taken)
	d.put(name+"/"+etcdmanager.DataFile, body)
	d.put(name+"/"+etcdmanager.MetaFile, d.metaOf(d.clock))
	d.names = append(d.names, name)
	if d.clock.Sub(d.cleaned) < time.Hour {
		return
	}
	d.cleaned = d.clock
	gone := map[string]bool{}
	for _, old := range etcdmanager.Thin(d.names, d.clock, etcdmanager.Retention{Hourly: 168 * time.Hour, Daily: 90 * 24 * time.Hour}) {
		gone[old] = true
		d.bucket.Purge(demoStore + "/" + old + "/" + etcdmanager.DataFile)
		d.bucket.Purge(demoStore + "/" + old + "/" + etcdmanager.MetaFile)
	}
	kept := d.names[:0]
	for _, name := range d.names {
		if !gone[name] {
			kept = append(kept, name)
		}
	}
	d.names = kept
}

func (d *incident) put(path string, body []byte) { d.bucket.Put(demoStore+"/"+path, body) }
