package snapshot

import "bytes"

const (
	registry = "/registry/"
	// maxGroups and maxGroupName bound what is kept of the names of resources:
	// they come from the snapshot.
	maxGroups    = 4096
	maxGroupName = 253
	otherKeys    = "(other)"
)

var registryPrefix = []byte(registry)

// groups numbers the resources that keys belong to.
type groups struct {
	names []string
	byKey map[string]uint16
}

func newGroups() *groups {
	return &groups{names: []string{otherKeys}, byKey: map[string]uint16{}}
}

// of gives the number of the resource that a key belongs to.
func (g *groups) of(key []byte) uint16 {
	name := resource(key)
	if n, ok := g.byKey[string(name)]; ok {
		return n
	}
	if len(g.names) >= maxGroups || len(name) > maxGroupName || len(name) == 0 {
		return 0
	}
	n := uint16(len(g.names))
	g.names = append(g.names, string(name))
	g.byKey[string(name)] = n
	return n
}

// resource gives the part of a key that names its kind: pods of
// /registry/pods/default/a, apps.example.com/things of
// /registry/apps.example.com/things/default/a. Kubernetes puts a group before
// the kind for custom resources and some of its own, and both kinds of services
// below one word.
func resource(key []byte) []byte {
	rest, ok := bytes.CutPrefix(key, registryPrefix)
	if !ok {
		return firstElement(key)
	}
	first, after, deeper := bytes.Cut(rest, []byte{'/'})
	if !deeper {
		return first
	}
	if bytes.IndexByte(first, '.') < 0 && string(first) != "services" {
		return first
	}
	second, _, deeper := bytes.Cut(after, []byte{'/'})
	if !deeper {
		return first
	}
	return rest[:len(first)+1+len(second)]
}

// firstElement gives a key of another program up to its first slash but one at
// the beginning.
func firstElement(key []byte) []byte {
	from := 0
	if len(key) > 0 && key[0] == '/' {
		from = 1
	}
	if i := bytes.IndexByte(key[from:], '/'); i >= 0 {
		return key[:from+i]
	}
	return nil
}
