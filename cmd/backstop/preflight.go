package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"backstop/rules/preflight"
	"backstop/store/charm"
)

// preflightOptions are the flags of preflight besides those that say how S3 is
// reached.
type preflightOptions struct {
	verifyOptions
	confs, data, bundles, recorded []string
	before, snapshots, zone        string
}

func (p *program) preflightCommand() *cobra.Command {
	o := &preflightOptions{}
	c := &cobra.Command{
		Use:   "preflight --conf FILE --data DIR | --bundle FILE",
		Short: "Say whether Juju's etcd charm can be upgraded, and what etcd will do when it starts",
		Long: `Say whether Juju's etcd charm can be upgraded or its snap refreshed without losing
the cluster, and what etcd will do when it next starts, from files alone.

--conf is a unit's etcd.conf.yml, and --data its /var/snap/etcd/current or a copy of
it; data-dir in the configuration is read relative to that. Give --conf once for each
unit: the configurations are compared, and the first --data belongs to the first, the
second to the second. Nothing is said of the data of a unit without --data.
--bundle is what deploy/charm/collect.sh made on a unit, in place of both.

With --snapshots the charm's snapshots in a directory, a file or s3://BUCKET/PREFIX
are read to their end. Without, the predicates about snapshots are not checked, and
do not decide. The names of snapshots hold the unit's local time: --zone says which,
where the dates of the files do not tell.

It writes nothing, and reads databases as ` + "`backstop verify`" + ` does. Read a copy where you
can: a database that changes while it is read may have to be read again.

Exit status: 0 SAFE, 2 NOT SAFE, 3 CANNOT TELL (something was not seen).
`,
		Example: "  backstop preflight --conf etcd0/etcd.conf.yml --data etcd0/current --snapshots ./etcd-snapshots\n  backstop preflight --bundle etcd-0.tar.gz --bundle etcd-1.tar.gz -o json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := p.fromEnvironment(c); err != nil {
				return err
			}
			return p.preflight(c.Context(), o)
		},
	}
	o.add(c.Flags())
	return c
}

func (o *preflightOptions) add(f *pflag.FlagSet) {
	o.addVerifying(f)
	f.StringArrayVar(&o.confs, "conf", nil, "etcd.conf.yml of a unit, once for each unit; its `file`")
	f.StringArrayVar(&o.data, "data", nil, "the unit's /var/snap/etcd/current, or a copy of that `directory`")
	f.StringArrayVar(&o.bundles, "bundle", nil, "what collect.sh made on a unit; its `file`")
	f.StringVar(&o.before, "before", "", "an earlier copy of the first unit's etcd.conf.yml; its `file`")
	f.StringVar(&o.snapshots, "snapshots", "", "where the charm's snapshots are: a directory, a file or s3://BUCKET/PREFIX")
	f.StringVar(&o.zone, "zone", "", "how far the units' clocks are ahead of UTC, as `date +%z` prints it: +0200")
	f.StringArrayVar(&o.recorded, "sha256", nil, "`NAME=HEX`: the snapshot.sha256 that the action told of a snapshot")
}

func (o *preflightOptions) checkPreflight() error {
	switch {
	case len(o.confs) == 0 && len(o.bundles) == 0:
		return usagef("nothing to judge: want --conf FILE and --data DIR, or --bundle FILE")
	case len(o.confs) > 0 && len(o.data) == 0:
		return usagef("no --data: want the unit's %s, or a copy of it", charm.CurrentDir)
	case len(o.data) > len(o.confs):
		return usagef("--data is given %d times and --conf %d times: each --data needs the --conf of its unit", len(o.data), len(o.confs))
	}
	return nil
}

func (p *program) preflight(ctx context.Context, o *preflightOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	limit, err := o.checkVerify()
	if err != nil {
		return err
	}
	if err := o.checkPreflight(); err != nil {
		return err
	}
	l := &preflightLook{program: p, o: o, limit: limit, in: preflight.Input{Now: p.now()}}
	if err := l.look(ctx); err != nil {
		return err
	}
	r := preflight.Judge(l.in)
	if o.output == "json" {
		e := json.NewEncoder(p.stdout)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		err = e.Encode(r)
	} else {
		err = p.tellPreflight(r, &o.options)
	}
	if err != nil {
		return &failure{status: exitInternal, err: fmt.Errorf("write the result: %w", err)}
	}
	switch r.Verdict {
	case preflight.Safe:
		return nil
	case preflight.NotSafe:
		return status(exitCritical)
	}
	return status(exitUnknown)
}

// zoneOf gives the zone of the units' clocks; nil where nobody told.
func (l *preflightLook) zoneOf() (*time.Duration, error) {
	if l.o.zone == "" {
		return l.zone, nil
	}
	d, err := charm.ParseZone(l.o.zone)
	if err != nil {
		return nil, usagef("--zone: %w", err)
	}
	return &d, nil
}

// recordedSums parses --sha256.
func (o *preflightOptions) recordedSums() (map[string]string, error) {
	sums := map[string]string{}
	for _, s := range o.recorded {
		name, sum, _ := strings.Cut(s, "=")
		sum = strings.ToLower(sum)
		if b, err := hex.DecodeString(sum); err != nil || len(b) != 32 || !slices.ContainsFunc([]rune(name), func(c rune) bool { return c != '/' }) {
			return nil, usagef("--sha256 is %q, want NAME=HEX with 64 hexadecimal digits", s)
		}
		sums[name] = sum
	}
	return sums, nil
}
