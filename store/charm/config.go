package charm

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A Writer is who wrote a configuration file, as far as that shows.
type Writer string

// The writers of etcd.conf.yml.
const (
	WroteTemplate  Writer = "charm"     // the charm's template
	WroteMigration Writer = "migration" // the etcd snap, when it went from 2.3 to 3.x
	WroteUnknown   Writer = "unknown"   // yaml.dump in the charm's upgrade, or a person
)

// A Config is what matters of an etcd.conf.yml.
type Config struct {
	Writer Writer `json:"writer"`
	// Name is the member's name, as in etcd0.
	Name string `json:"name,omitempty"`
	// DataDir is the data-dir as it stands there; WALDir likewise.
	DataDir string `json:"data_dir,omitempty"`
	WALDir  string `json:"wal_dir,omitempty"`
	// InitialCluster is empty where the key is missing, null or empty.
	InitialCluster string `json:"initial_cluster,omitempty"`
	// State is initial-cluster-state; empty where the key is missing or null. etcd
	// takes that for new.
	State string `json:"initial_cluster_state,omitempty"`
	// Token is initial-cluster-token as it is written.
	Token string `json:"initial_cluster_token,omitempty"`
	// TokenNumber says that YAML reads the token as a number, or as something else
	// that is not a string.
	TokenNumber bool `json:"token_is_number,omitempty"`
	// ForceNewCluster is the key of that name.
	ForceNewCluster bool `json:"force_new_cluster,omitempty"`
}

// The first lines that tell the writer.
const (
	templateLine  = "# This is the configuration file for the etcd server."
	migrationLine = "# etcd config migrated from 2.x ENV-style to yaml."
)

// ParseConfig reads an etcd.conf.yml. It refuses a document that is no mapping, or
// none of whose keys is etcd's: that is another file.
func ParseConfig(body []byte) (Config, error) {
	c := Config{Writer: writer(string(body))}
	var doc yaml.Node
	if err := yaml.Unmarshal(body, &doc); err != nil {
		return c, fmt.Errorf("it is not YAML: %w", err)
	}
	if len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return c, errors.New("it is not a YAML mapping; is it the 2.x file etcd.conf?")
	}
	known := 0
	keys := doc.Content[0].Content
	for i := 0; i+1 < len(keys); i += 2 {
		if c.set(keys[i].Value, resolve(keys[i+1])) {
			known++
		}
	}
	if known == 0 {
		return c, errors.New("it has none of etcd's keys (name, data-dir, initial-cluster)")
	}
	return c, nil
}

func writer(body string) Writer {
	first, _, _ := strings.Cut(strings.TrimLeft(body, " \t\r\n"), "\n")
	switch strings.TrimSpace(first) {
	case templateLine:
		return WroteTemplate
	case migrationLine:
		return WroteMigration
	}
	return WroteUnknown
}

// resolve follows an alias.
func resolve(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

// set takes one key. It reports whether the key is one of those that matter.
func (c *Config) set(key string, n *yaml.Node) bool {
	text := strings.TrimSpace(n.Value)
	if n.Tag == "!!null" || n.Kind != yaml.ScalarNode {
		text = ""
	}
	switch key {
	case "name":
		c.Name = text
	case "data-dir":
		c.DataDir = text
	case "wal-dir":
		c.WALDir = text
	case "initial-cluster":
		c.InitialCluster = text
	case "initial-cluster-state":
		c.State = text
	case "initial-cluster-token":
		c.Token, c.TokenNumber = text, text != "" && notString(n)
	case "force-new-cluster":
		c.ForceNewCluster = isTrue(text)
	default:
		return false
	}
	return true
}

func isTrue(s string) bool {
	switch strings.ToLower(s) {
	case "true", "yes", "on", "y":
		return true
	}
	return false
}

// notString reports whether a value that stands there without quotes is read as
// another thing than a string.
func notString(n *yaml.Node) bool {
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 {
		return false
	}
	return n.Tag != "!!str" || number.MatchString(strings.TrimSpace(n.Value))
}

// number is what YAML 1.1, which etcd and the charm read, takes for a number and
// this parser may not: also the likes of 012345 and 12E456.
var number = regexp.MustCompile(`^[0-9][0-9_]*(\.[0-9_]*)?([eE][-+]?[0-9]+)?$`)

// EffectiveState is what etcd makes of State: without one it is new.
func (c Config) EffectiveState() string { return cmp.Or(c.State, "new") }

// charmToken is the shape of the tokens that the charm makes.
var charmToken = regexp.MustCompile(`^[A-Z0-9]{6}$`)

// address is the token that a restore without initial-cluster takes.
var address = regexp.MustCompile(`^[0-9]{1,3}(\.[0-9]{1,3}){3}$`)

// CharmToken reports whether the token is one that the charm would make.
func (c Config) CharmToken() bool {
	return charmToken.MatchString(c.Token) || address.MatchString(c.Token)
}
