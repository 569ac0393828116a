package infra

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

const (
	// maxUnfolded bounds how many values the aliases of a YAML document may stand
	// for.
	maxUnfolded = 1 << 14
	// maxYAML bounds a YAML document in bytes. CloudFormation takes templates of
	// 1 MB at most (user guide, "Understand CloudFormation quotas").
	maxYAML = 8 << 20
)

// yamlReader turns YAML into nodes.
type yamlReader struct {
	inAlias  int
	unfolded int
}

// readYAML reads the first document of a YAML text. CloudFormation's short forms
// become the long ones: !Ref X is {"Ref": "X"}.
func readYAML(doc []byte) (*node, error) {
	if len(doc) > maxYAML {
		return nil, fmt.Errorf("it has more than %d MiB", maxYAML>>20)
	}
	var top yaml.Node
	if err := yaml.Unmarshal(doc, &top); err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if top.Kind != yaml.DocumentNode || len(top.Content) == 0 {
		return nil, errors.New("it is empty")
	}
	r := &yamlReader{}
	return r.value(top.Content[0], 0)
}

func (r *yamlReader) value(y *yaml.Node, depth int) (*node, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("line %d: %w", y.Line, errDepth)
	}
	if r.inAlias > 0 {
		if r.unfolded++; r.unfolded > maxUnfolded {
			return nil, fmt.Errorf("line %d: its aliases unfold to more than %d values", y.Line, maxUnfolded)
		}
	}
	if y.Kind == yaml.AliasNode {
		r.inAlias++
		defer func() { r.inAlias-- }()
		return r.value(y.Alias, depth+1)
	}
	n := &node{line: y.Line}
	var err error
	switch y.Kind {
	case yaml.MappingNode:
		err = r.object(n, y, depth)
	case yaml.SequenceNode:
		err = r.list(n, y, depth)
	default:
		r.scalar(n, y)
	}
	if err != nil {
		return nil, err
	}
	return long(n, y), nil
}

func (r *yamlReader) object(n *node, y *yaml.Node, depth int) error {
	n.kind = object
	names := map[string]bool{}
	for i := 0; i+1 < len(y.Content); i += 2 {
		value, err := r.value(y.Content[i+1], depth+1)
		if err != nil {
			return err
		}
		name := y.Content[i].Value
		if names[name] {
			n.twice = name
		}
		names[name] = true
		n.members = append(n.members, member{name, value})
	}
	return nil
}

func (r *yamlReader) list(n *node, y *yaml.Node, depth int) error {
	n.kind = list
	for _, c := range y.Content {
		item, err := r.value(c, depth+1)
		if err != nil {
			return err
		}
		n.items = append(n.items, item)
	}
	return nil
}

// scalar reads a scalar. One under a short form's tag has no type of its own.
func (r *yamlReader) scalar(n *node, y *yaml.Node) {
	n.kind, n.text = text, y.Value
	switch y.ShortTag() {
	case "!!null":
		n.kind, n.text = absent, ""
	case "!!int", "!!float":
		n.kind = number
	case "!!bool":
		n.kind = boolean
	}
}

// long writes a short form as the long one (CloudFormation user guide,
// "Intrinsic function reference").
func long(n *node, y *yaml.Node) *node {
	tag := y.Tag
	if !strings.HasPrefix(tag, "!") || strings.HasPrefix(tag, "!!") || tag == "!" {
		return n
	}
	name := "Fn::" + tag[1:]
	if tag == "!Ref" || tag == "!Condition" {
		name = tag[1:]
	}
	return &node{kind: object, line: n.line, members: []member{{name, n}}}
}
