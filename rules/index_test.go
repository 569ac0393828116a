package rules

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite golden files")

// The index is made from the rules, and from nothing else.
func TestIndex(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("# Rules\n\nMade from the rules' literals by `make update`; each page is what `backstop explain RULE` prints.\n\n| rule | severity | says that |\n|---|---|---|\n")
	for _, r := range All {
		var s []string
		for _, v := range r.Severities {
			s = append(s, string(v))
		}
		fmt.Fprintf(&b, "| [%s](%s.md) | %s | %s |\n", r.ID, Stem(r.ID), strings.Join(s, ", "), r.Title)
	}
	if *update {
		if err := os.WriteFile("README.md", b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("README.md")
	if err != nil || !bytes.Equal(got, b.Bytes()) {
		t.Errorf("rules/README.md is old (%v); make it anew with: make update", err)
	}
}
