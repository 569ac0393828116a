package main

import (
	"strings"
	"testing"
)

// doctor says what may be looked at, what is blind without the rest, and which
// lines the policy lacks.
func TestDoctor(t *testing.T) {
	now := at("2026-11-30T18:07:10Z")
	for name, c := range map[string]struct {
		deny  []string
		code  int
		says  []string
		never []string
	}{
		"all": {nil, 0, []string{"may       s3:ListBucket", "may       s3:GetLifecycleConfiguration", "may       s3:GetObjectTagging"}, []string{"may not", "add to the policy"}},
		"no lifecycle": {[]string{"s3:GetLifecycleConfiguration"}, 3,
			[]string{"may not   s3:GetLifecycleConfiguration", "lifecycle/deletes-control", "UNKNOWN at best", `"arn:aws:s3:::kops"`}, []string{`"arn:aws:s3:::kops/*"`}},
		"no versions": {[]string{"s3:ListBucketVersions"}, 0,
			[]string{"may not   s3:ListBucketVersions", "control/altered", "add to the policy"}, []string{"UNKNOWN at best"}},
		"no objects": {[]string{"s3:GetObject"}, 3,
			[]string{"may not   s3:GetObject", "may       s3:ListBucket", `"arn:aws:s3:::kops/*"`}, []string{`"arn:aws:s3:::kops"`}},
	} {
		t.Run(name, func(t *testing.T) {
			_, b, endpoint := wholeStore(t, now)
			b.Deny(c.deny...)
			r := command(t, now, "doctor", "s3://kops", "--endpoint-url", endpoint)
			if r.code != c.code {
				t.Errorf("exit %d, want %d", r.code, c.code)
			}
			for _, w := range c.says {
				if !strings.Contains(r.stdout, w) {
					t.Errorf("it does not say %q", w)
				}
			}
			for _, w := range c.never {
				if strings.Contains(r.stdout, w) {
					t.Errorf("it says %q", w)
				}
			}
			if t.Failed() {
				t.Log(r.stdout + r.stderr)
			}
		})
	}
	if r := command(t, now, "doctor", t.TempDir()); r.code != 3 || !strings.Contains(r.stdout, "not looked at") {
		t.Errorf("without a store: exit %d\n%s", r.code, r.stdout)
	}
}
