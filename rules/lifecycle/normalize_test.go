package lifecycle_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"backstop/rules/lifecycle"
	"backstop/rules/lifecycle/infra"
)

// A normalizeCase is a resource of infrastructure code and the configuration
// that it means: none where that is not known before it is applied.
type normalizeCase struct {
	ID           string          `json:"id"`
	Format       string          `json:"format"`
	Input        json.RawMessage `json:"input"`
	ExpectPolicy json.RawMessage `json:"expectPolicy"`
	Unknown      []string        `json:"unknown"`
}

func TestCasesOfInfrastructureCode(t *testing.T) {
	var f struct {
		NormalizeCases []normalizeCase `json:"normalizeCases"`
	}
	lifecycle.ReadCases(t, &f)
	for _, c := range f.NormalizeCases {
		lifecycle.RunCase(t, "normalize", c.ID, c.check)
	}
}

// whole wraps a resource in a document of its format, unless it is one.
func (c normalizeCase) whole() []byte {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(c.Input, &members)
	around := map[string]string{
		"terraform-plan": `{"format_version":"1.2","resource_changes":[%s]}`,
		"cloudformation": `{"Resources":{"Bucket":%s}}`,
		"pulumi":         `{"steps":[%s]}`,
	}
	whole := map[string]string{"terraform-plan": "format_version", "cloudformation": "Resources", "pulumi": "steps"}
	if pattern, ok := around[c.Format]; ok && members[whole[c.Format]] == nil {
		return fmt.Appendf(nil, pattern, c.Input)
	}
	var doc string // XML, or another text, in a JSON string
	if json.Unmarshal(c.Input, &doc) == nil {
		return []byte(doc)
	}
	return c.Input
}

func (c normalizeCase) check() error {
	got, err := infra.Read(c.whole(), infra.Options{})
	if err != nil {
		return fmt.Errorf("expected a document, got: %w", err)
	}
	if len(got.Proposals) != 1 {
		return fmt.Errorf("expected 1 configuration, got %d", len(got.Proposals))
	}
	p := got.Proposals[0]
	if len(p.Faults) > 0 {
		return fmt.Errorf("expected no faults, got %q", p.Faults)
	}
	return errors.Join(c.checkUnknown(p), c.checkPolicy(p))
}

func (c normalizeCase) checkUnknown(p infra.Proposal) error {
	want, got := slices.Clone(c.Unknown), slices.Clone(p.Unknown)
	if p.Bucket.Name == "" { // which bucket it is, is no part of the configuration
		want = slices.DeleteFunc(want, func(s string) bool { return s == "bucket" })
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		return fmt.Errorf("unknown: expected %q, got %q", want, got)
	}
	return nil
}

func (c normalizeCase) checkPolicy(p infra.Proposal) error {
	config, known := p.Whole()
	if unwanted := bytes.Equal(bytes.TrimSpace(c.ExpectPolicy), []byte("null")); unwanted || !known {
		if unwanted == known {
			return fmt.Errorf("policy: expected %s, got %s (known: %v)", c.ExpectPolicy, lifecycleJSON(config), known)
		}
		return nil
	}
	want, err := lifecycle.Parse(c.ExpectPolicy)
	if err != nil {
		return err
	}
	if want.DefaultMinimumSize == "" {
		config.DefaultMinimumSize = "" // the case does not say
	}
	if !reflect.DeepEqual(normal(want), normal(config)) {
		return fmt.Errorf("policy: expected %s, got %s", lifecycleJSON(want), lifecycleJSON(config))
	}
	return nil
}

// normal leaves out what S3 does not tell apart: the order of transitions and of
// tags, and an empty prefix from none in a filter.
func normal(c lifecycle.Configuration) lifecycle.Configuration {
	c.Notes = nil
	c.Rules = slices.Clone(c.Rules)
	for i := range c.Rules {
		r := &c.Rules[i]
		r.Position = 0
		r.Transitions = sorted(r.Transitions)
		r.NoncurrentTransitions = sorted(r.NoncurrentTransitions)
		if r.Filter != nil {
			f := *r.Filter
			f.Tags = sorted(f.Tags)
			if f.Prefix != nil && *f.Prefix == "" {
				f.Prefix = nil
			}
			if f.And != nil {
				and := *f.And
				and.Tags = sorted(and.Tags)
				f.And = &and
			}
			r.Filter = &f
		}
	}
	if len(c.Rules) == 0 {
		c.Rules = nil
	}
	return c
}

func sorted[T any](all []T) []T {
	if len(all) == 0 {
		return nil
	}
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b T) int { return strings.Compare(fmt.Sprint(lifecycleJSON(a)), fmt.Sprint(lifecycleJSON(b))) })
	return all
}

// lifecycleJSON shows a value with what its pointers point to, and without what
// is not set.
func lifecycleJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	var tree any
	if err := json.Unmarshal(b, &tree); err != nil {
		return string(b)
	}
	b, _ = json.Marshal(prune(tree))
	return string(b)
}

func prune(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			if x == nil || x == "0001-01-01T00:00:00Z" || k == "AllVersions" && x == false || k == "Position" {
				delete(v, k)
				continue
			}
			v[k] = prune(x)
		}
	case []any:
		for i, x := range v {
			v[i] = prune(x)
		}
	}
	return v
}
