package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
)

// A bill is a CycloneDX 1.6 bill of materials, as far as a Go binary tells: itself, the
// Go that built it, and the modules that are linked in.
type bill struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type    string     `json:"type"`
	Ref     string     `json:"bom-ref"`
	Name    string     `json:"name"`
	Version string     `json:"version,omitempty"`
	PURL    string     `json:"purl,omitempty"`
	Props   []property `json:"properties,omitempty"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// billOf reads the bill out of a binary, where the linker put it.
func billOf(binary, version string) ([]byte, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, fmt.Errorf("bill of materials of %s: %w", binary, err)
	}
	b := bill{Format: "CycloneDX", Spec: "1.6", Version: 1,
		Metadata:   metadata{component{Type: "application", Ref: "backstop", Name: "backstop", Version: version}},
		Components: []component{{Type: "library", Ref: "go", Name: "std", Version: info.GoVersion, PURL: "pkg:golang/std@" + info.GoVersion}},
	}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		purl := "pkg:golang/" + m.Path + "@" + m.Version
		b.Components = append(b.Components, component{Type: "library", Ref: purl, Name: m.Path, Version: m.Version, PURL: purl,
			Props: []property{{"go:module:h1", m.Sum}}})
	}
	text, err := json.MarshalIndent(b, "", "  ")
	return append(text, '\n'), err
}
