package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// An object of Kubernetes, as far as the tests look at it.
type object struct {
	Kind string
	Data map[string]string
	Spec struct {
		jobSpec           `yaml:",inline"`
		TimeZone          string                 `yaml:"timeZone"`
		ConcurrencyPolicy string                 `yaml:"concurrencyPolicy"`
		JobTemplate       struct{ Spec jobSpec } `yaml:"jobTemplate"`
	}
}

type jobSpec struct {
	BackoffLimit     *int `yaml:"backoffLimit"`
	PodFailurePolicy struct {
		Rules []struct {
			Action      string
			OnExitCodes struct{ Values []int } `yaml:"onExitCodes"`
		}
	} `yaml:"podFailurePolicy"`
	Template struct {
		Spec struct {
			AutomountServiceAccountToken *bool `yaml:"automountServiceAccountToken"`
			Containers                   []struct {
				Args []string
				Env  []struct{ Name, Value string }
			}
		}
	}
}

// pods are the objects of the manifests that make pods, by file and name.
func manifests(t *testing.T) map[string][]object {
	t.Helper()
	files, err := filepath.Glob("../../deploy/manifests/*.yaml")
	if err != nil || len(files) < 2 {
		t.Fatalf("%d manifests: %v", len(files), err)
	}
	all := map[string][]object{}
	for _, f := range files {
		body, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for d := yaml.NewDecoder(bytes.NewReader(body)); ; {
			var o object
			if err := d.Decode(&o); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", f, err)
			}
			all[f] = append(all[f], o)
		}
	}
	return all
}

// What the manifests call is what the program understands, and what they say of its
// exit statuses is true. `make manifests` holds them against the chart, and Kubernetes.
func TestManifests(t *testing.T) {
	for file, objects := range manifests(t) {
		calls := 0
		for _, o := range objects {
			job := o.Spec.jobSpec
			if o.Kind == "CronJob" {
				job = o.Spec.JobTemplate.Spec
				if o.Spec.TimeZone != "Etc/UTC" || o.Spec.ConcurrencyPolicy != "Forbid" {
					t.Errorf("%s: time zone %q, concurrency %q", file, o.Spec.TimeZone, o.Spec.ConcurrencyPolicy)
				}
				checkFailurePolicy(t, file, job)
			}
			for _, c := range job.Template.Spec.Containers {
				calls++
				checkCall(t, file, c.Args)
				if c.Env[0].Name != "GOMEMLIMIT" || !strings.HasSuffix(c.Env[0].Value, "MiB") {
					t.Errorf("%s: environment %+v", file, c.Env)
				}
				if token := job.Template.Spec.AutomountServiceAccountToken; token == nil || *token {
					t.Errorf("%s mounts the token of the service account", file)
				}
			}
			if config := o.Data["backstop.yaml"]; config != "" {
				name := filepath.Join(t.TempDir(), "backstop.yaml")
				if err := os.WriteFile(name, []byte(config), 0o600); err != nil {
					t.Fatal(err)
				}
				if r := command(t, at("2026-12-01T00:00:00Z"), "config", "validate", "--config", name); r.code != 0 {
					t.Errorf("%s: the configuration is refused: %s%s", file, r.stdout, r.stderr)
				}
			}
		}
		if calls == 0 {
			t.Errorf("%s calls nothing", file)
		}
	}
}

// checkFailurePolicy: what another try would find the same is final, what may pass is
// not.
func checkFailurePolicy(t *testing.T, file string, job jobSpec) {
	final := []int{exitWarning, exitCritical, exitUnknown, exitUsage, exitInternal, exitUndelivered, exitDenied, exitConfig}
	for _, r := range job.PodFailurePolicy.Rules {
		if strings.HasPrefix(r.Action, "Fail") && !slices.Equal(r.OnExitCodes.Values, final) {
			t.Errorf("%s: %s at %v, want %v", file, r.Action, r.OnExitCodes.Values, final)
		}
	}
	if len(job.PodFailurePolicy.Rules) != 2 {
		t.Errorf("%s: %d rules of failure", file, len(job.PodFailurePolicy.Rules))
	}
}

// checkCall parses a command line as the program does.
func checkCall(t *testing.T, file string, args []string) {
	p := &program{ctx: t.Context(), stdout: io.Discard, stderr: io.Discard, env: func(string) (string, bool) { return "", false }}
	c, rest, err := p.root().Find(args)
	if err == nil {
		err = c.ParseFlags(rest)
	}
	if err == nil && c.Args != nil {
		err = c.Args(c, c.Flags().Args())
	}
	if err != nil || c.Name() == "backstop" {
		t.Errorf("%s: backstop %q: %v", file, args, err)
	}
}
