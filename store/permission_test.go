package store

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"backstop/audit"
)

var update = flag.Bool("update", false, "rewrite golden files")

// The interface is the permission: deploy/iam-policy.json is made from the
// methods of Bucket, and a method without its actions is an error.
func TestPolicyIsTheInterface(t *testing.T) {
	bucket := reflect.TypeFor[Bucket]()
	onBucket, onObjects := map[string]bool{}, map[string]bool{}
	for i := range bucket.NumMethod() {
		name := bucket.Method(i).Name
		actions, ok := Actions[name]
		if !ok {
			t.Errorf("Bucket.%s is not in Actions: which IAM actions does it need?", name)
		}
		for _, a := range actions {
			if slices.Contains(ObjectActions, a) {
				onObjects[a] = true
			} else {
				onBucket[a] = true
			}
		}
	}
	for name := range Actions {
		if _, ok := bucket.MethodByName(name); !ok {
			t.Errorf("Actions names %s, which is no method of Bucket", name)
		}
	}
	type statement struct {
		Sid, Effect       string
		Action, NotAction []string `json:",omitempty"`
		Resource          []string
	}
	const bucketARN, objectsARN = "arn:aws:s3:::BUCKET", "arn:aws:s3:::BUCKET/*"
	policy := struct {
		Version   string
		Statement []statement
	}{"2012-10-17", []statement{
		{Sid: "LookAtBucket", Effect: "Allow", Action: sorted(onBucket), Resource: []string{bucketARN}},
		{Sid: "ReadObjects", Effect: "Allow", Action: sorted(onObjects), Resource: []string{objectsARN}},
		{Sid: "NeverWrite", Effect: "Deny", NotAction: sorted(onBucket, onObjects), Resource: []string{bucketARN, objectsARN}},
	}}
	got, err := json.MarshalIndent(policy, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, filepath.Join("..", "deploy", "iam-policy.json"), append(got, '\n'))
	golden(t, filepath.Join("..", "deploy", "terraform", "policy", "iam-policy.json"), append(got, '\n')) // a module is copied alone
}

func sorted(sets ...map[string]bool) []string {
	var all []string
	for _, s := range sets {
		for a := range s {
			all = append(all, a)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// golden holds got against a file, and rewrites the file with -update.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatalf("%v; make it with: go test ./... -update", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is old; make it anew with: go test ./... -update\ngot:\n%s", name, got)
	}
}

// Every fact but the clock is learned by an action that the policy allows.
func TestFactActions(t *testing.T) {
	allowed := map[string]bool{}
	for _, actions := range Actions {
		for _, a := range actions {
			allowed[a] = true
		}
	}
	for _, fact := range audit.Facts {
		if a := FactActions[fact]; fact != audit.FactClock && !allowed[a] {
			t.Errorf("%s is learned by %q, which no method of Bucket needs", fact, a)
		}
	}
}
