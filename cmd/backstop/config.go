package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"backstop/audit"
	"backstop/store"
)

// A config is the configuration file: strict YAML, described in
// docs/configuration.md.
type config struct {
	Version  int            `yaml:"version"`
	Defaults configPolicy   `yaml:"defaults"`
	Stores   []configTarget `yaml:"stores"`
}

// A configPolicy is what the owner expects; what is not given is the default's.
type configPolicy struct {
	Interval duration `yaml:"interval"`
	Horizon  struct {
		Critical duration `yaml:"critical"`
		Warning  duration `yaml:"warning"`
	} `yaml:"horizon"`
}

// A configTarget is a place to look at, and how to reach it.
type configTarget struct {
	URL            string `yaml:"url"`
	Region         string `yaml:"region"`
	Profile        string `yaml:"profile"`
	RoleARN        string `yaml:"role_arn"`
	ExternalIDFile string `yaml:"external_id_file"`
	EndpointURL    string `yaml:"endpoint_url"`
	ForcePathStyle bool   `yaml:"force_path_style"`
	configPolicy   `yaml:",inline"`
}

// A duration is a length of time with days and years.
type duration time.Duration

// UnmarshalYAML keeps the decoder's strictness, which a *yaml.Node would lose.
func (d *duration) UnmarshalYAML(decode func(any) error) error {
	var s string
	if err := decode(&s); err != nil {
		return err
	}
	v, err := parseDuration(s)
	if err != nil {
		return err
	}
	if v == 0 {
		return fmt.Errorf("%q is no time at all", s)
	}
	*d = duration(v)
	return nil
}

// readConfig reads a configuration file. Every mistake is an error that names
// the file, and where the YAML decoder knows it, the line.
func readConfig(name string) (config, error) {
	body, err := os.ReadFile(name)
	if err != nil {
		return config{}, &failure{status: exitConfig, err: fmt.Errorf("read configuration: %w", err)}
	}
	c, err := parseConfig(body)
	if err != nil {
		return config{}, &failure{status: exitConfig, err: fmt.Errorf("configuration %s: %w", name, err), hint: "docs/configuration.md describes the file"}
	}
	return c, nil
}

func parseConfig(body []byte) (config, error) {
	var c config
	d := yaml.NewDecoder(bytes.NewReader(body))
	d.KnownFields(true)
	if err := d.Decode(&c); err != nil {
		if errors.Is(err, io.EOF) {
			return config{}, errors.New("it is empty; it begins with `version: 1`")
		}
		return config{}, plainYAML(err)
	}
	if err := d.Decode(new(any)); !errors.Is(err, io.EOF) {
		return config{}, errors.New("it holds more than one YAML document")
	}
	if c.Version != 1 {
		return config{}, fmt.Errorf("version is %d, want 1", c.Version)
	}
	seen := map[string]bool{}
	for i, t := range c.Stores {
		if t.URL == "" {
			return config{}, fmt.Errorf("stores[%d]: url is missing", i)
		}
		if _, err := store.ParseTarget(t.URL); err != nil {
			return config{}, fmt.Errorf("stores[%d]: %w", i, err)
		}
		if t.EndpointURL != "" && !isEndpoint(t.EndpointURL) {
			return config{}, fmt.Errorf("stores[%d]: endpoint_url is %q, want one such as https://s3.example.org", i, t.EndpointURL)
		}
		if seen[t.URL+"\x00"+t.EndpointURL] {
			return config{}, fmt.Errorf("stores[%d]: %s is named twice", i, t.URL)
		}
		seen[t.URL+"\x00"+t.EndpointURL] = true
		p := t.policy(c.Defaults.policy(audit.DefaultPolicy()))
		if p.HorizonCritical > p.HorizonWarning {
			return config{}, fmt.Errorf("stores[%d]: horizon.critical (%v) is longer than horizon.warning (%v)", i, p.HorizonCritical, p.HorizonWarning)
		}
	}
	return c, nil
}

// plainYAML makes one line of the decoder's errors, without the names of our
// types.
func plainYAML(err error) error {
	var t *yaml.TypeError
	if !errors.As(err, &t) {
		return err
	}
	lines := make([]string, len(t.Errors))
	for i, l := range t.Errors {
		lines[i], _, _ = strings.Cut(l, " in type ")
	}
	return errors.New(strings.Join(lines, "; "))
}

// policy changes what the configuration gives.
func (c configPolicy) policy(p audit.Policy) audit.Policy {
	set := func(to *time.Duration, d duration) {
		if d != 0 {
			*to = time.Duration(d)
		}
	}
	set(&p.Interval, c.Interval)
	set(&p.HorizonCritical, c.Horizon.Critical)
	set(&p.HorizonWarning, c.Horizon.Warning)
	return p
}
