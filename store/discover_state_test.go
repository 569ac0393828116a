package store

import (
	"reflect"
	"slices"
	"testing"

	"backstop/audit"
)

// Wherever a listing is divided, the files of kops are found that it has undivided.
func TestStateFilesInParts(t *testing.T) {
	keys := []string{
		"a.example.com/addons/bootstrap-channel.yaml", "a.example.com/backups/etcd/main/control/etcd-cluster-created", "a.example.com/cluster-completed.spec",
		"a.example.com/config", "a.example.com/instancegroup/nodes", "a.example.com/pki/private/ca/keyset.yaml", "a.example.com/secrets/admin",
		"b.example.com/config", "b.example.com/secrets/admin", "other/pki/x", "sub/c.example.com/config", "sub/c.example.com/pki/issued/ca/keyset.yaml", "zz/secrets/x",
	}
	slices.Sort(keys)
	list := func(s *keysSeen, keys []string) {
		for _, k := range keys {
			s.add(audit.Object{Key: k})
		}
	}
	whole := keysSeen{roots: map[string]root{}}
	list(&whole, keys)
	want := map[string][]audit.Object{
		"a.example.com":     {{Key: "a.example.com/instancegroup/nodes"}, {Key: "a.example.com/pki/private/ca/keyset.yaml"}, {Key: "a.example.com/secrets/admin"}},
		"b.example.com":     {{Key: "b.example.com/secrets/admin"}},
		"sub/c.example.com": {{Key: "sub/c.example.com/pki/issued/ca/keyset.yaml"}},
	}
	if !reflect.DeepEqual(whole.state, want) {
		t.Fatalf("undivided: %v, want %v", whole.state, want)
	}
	for i := 1; i < len(keys); i++ {
		head, part := keysSeen{roots: map[string]root{}}, keysSeen{roots: map[string]root{}, from: keys[i-1]}
		list(&head, keys[:i])
		list(&part, keys[i:])
		head.join(part)
		for folder, files := range want {
			if !reflect.DeepEqual(head.state[folder], files) {
				t.Errorf("divided behind %s: %s has %v, want %v", keys[i-1], folder, head.state[folder], files)
			}
		}
	}
}
