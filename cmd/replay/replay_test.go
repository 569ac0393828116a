package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSmall lives through three days of a few clusters, the last of them over HTTP
// too: with an upgrade, a birth, and an accident.
func TestSmall(t *testing.T) {
	var out, errs bytes.Buffer
	if code := run([]string{"-quiet", "testdata/small.yaml"}, &out, &errs); code != exitMet {
		t.Errorf("exit status %d, want %d\n%s", code, exitMet, errs.String())
	}
	for _, want := range []string{
		"small: 4 clusters, 3 days, 36 audits",
		"critical control/reset-armed",
		"of which 0 differ",
		"\nfalse critical: 0, false warning per cluster-month: 0.000, disasters found: 1 of 1\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, out.String())
		}
	}
	if regexp.MustCompile(`over HTTP: 0 audits|with 0 findings`).MatchString(out.String()) {
		t.Errorf("nothing was compared over HTTP:\n%s", out.String())
	}
}

// TestTargets shows that a target that is missed is said, by the exit status too: a
// disaster that nobody can find in time, and alarms that the scenario calls false.
func TestTargets(t *testing.T) {
	for name, c := range map[string]struct{ expect, last string }{
		"a disaster is found too late": {"expect: [{rule: snapshot/stale, after: stop, within: 1h}]",
			`false critical: 0, false warning per cluster-month: 0\.000, disasters found: 0 of 1`},
		"a disaster is never found": {"expect: [{rule: control/blocked}]",
			`false critical: 0, false warning per cluster-month: 0\.000, disasters found: 0 of 1`},
		"what is said is false": {"allow: [bucket/public]",
			`false critical: 1, false warning per cluster-month: \d+\.\d+, disasters found: 0 of 0`},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "s.yaml")
			body := "start: 2026-01-05T00:00:00Z\ndays: 1\naudit: 30m\nbuckets: [{name: kops-state, versioning: Enabled}]\nclusters:\n" +
				"  - {name: a, bucket: kops-state, born: -1d, retention: 90d, etcd: [main], events: [{at: 1h, do: deny-writes, " + c.expect + "}]}\n"
			if err := os.WriteFile(file, []byte(body), 0o600); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if code := run([]string{"-quiet", file}, &out, io.Discard); code != exitMissed {
				t.Errorf("exit status %d, want %d", code, exitMissed)
			}
			if !regexp.MustCompile(`(?m)^` + c.last + `$`).MatchString(out.String()) {
				t.Errorf("want %s\n%s", c.last, out.String())
			}
		})
	}
}

func TestUsage(t *testing.T) {
	for name, args := range map[string][]string{
		"no scenario":             {},
		"a file that is not here": {"testdata/none.yaml"},
		"an unknown flag":         {"-nothing"},
	} {
		var errs bytes.Buffer
		if code := run(args, io.Discard, &errs); code != exitUsage || errs.Len() == 0 {
			t.Errorf("%s: exit status %d with %q, want %d and a reason", name, code, errs.String(), exitUsage)
		}
	}
}
