package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"backstop/rules/lifecycle"
	"backstop/rules/lifecycle/infra"
)

// A proposal is what a file says the lifecycle rules of buckets will be.
type proposal struct {
	file string
	// any stands for every bucket: a file that holds one configuration and does not
	// say whose it is. Nil for a file that names its buckets.
	any *lifecycle.Configuration
	// of is the configuration of each bucket that the file names.
	of map[string]*lifecycle.Configuration

	mu sync.Mutex
	// passed are the buckets that were asked for and that the file does not name.
	passed []string
}

// name is what reports call the proposal; empty for none.
func (p *proposal) name() string {
	if p == nil {
		return ""
	}
	return filepath.Base(p.file)
}

// rules gives the configuration that a bucket would have; nil for the one that it has.
func (p *proposal) rules(bucket string) *lifecycle.Configuration {
	switch {
	case p == nil:
		return nil
	case p.any != nil:
		return p.any
	}
	c, ok := p.of[bucket]
	p.mu.Lock()
	defer p.mu.Unlock()
	if !ok && !slices.Contains(p.passed, bucket) {
		p.passed = append(p.passed, bucket)
	}
	return c
}

// missed is a failure if a bucket that was looked at is none of the file's: its own
// rules were followed then, and the reader believes that it was the file's.
func (p *proposal) missed() error {
	if p == nil || len(p.passed) == 0 {
		return nil
	}
	var names []string
	for name := range p.of {
		names = append(names, name)
	}
	slices.Sort(names)
	slices.Sort(p.passed)
	return &failure{status: exitUsage,
		err:  fmt.Errorf("--policy %s: it says nothing of bucket %s; it has the lifecycle rules of %s", p.file, strings.Join(p.passed, ", "), strings.Join(names, ", ")),
		hint: "name stores of those buckets, or give the configuration alone, which is followed for any bucket"}
}

// readPolicy reads a file of proposed lifecycle rules; nil for no file. What S3 would
// refuse never takes effect, and what is known only when the code is applied cannot be
// dated, so nothing is foretold of either.
func (p *program) readPolicy(file string) (*proposal, error) {
	if file == "" {
		return nil, nil
	}
	refuse := func(err error, hint string) (*proposal, error) {
		return nil, &failure{status: exitUsage, err: fmt.Errorf("--policy %s: %w", file, err), hint: hint}
	}
	const formats = "--policy reads a lifecycle configuration as JSON or XML, as `aws s3api get-bucket-lifecycle-configuration` prints it, and the formats of `backstop lint`"
	body, err := p.readLimited(file)
	if err != nil {
		return refuse(err, formats)
	}
	doc, err := infra.Read(body, infra.Options{})
	if err != nil {
		return refuse(err, formats)
	}
	if len(doc.Proposals) == 0 {
		why := "it holds no lifecycle configuration"
		if len(doc.Gaps) > 0 {
			why += fmt.Sprintf(" that can be read (%s: %s)", doc.Gaps[0].Source, doc.Gaps[0].Why)
		}
		return refuse(errors.New(why), formats)
	}
	out := &proposal{file: shownName(file), of: map[string]*lifecycle.Configuration{}}
	for _, pr := range doc.Proposals {
		if err := out.add(pr, len(doc.Proposals) == 1); err != nil {
			return refuse(err, "`backstop lint "+file+"` judges it with what is not known read in the worst way")
		}
	}
	return out, nil
}

// add takes the configuration of one bucket. That of a bucket whose name is not
// known stands for any only if it is alone.
func (p *proposal) add(pr infra.Proposal, alone bool) error {
	source := ""
	if pr.Source != "" {
		source = pr.Source + ": "
	}
	if len(pr.Faults) > 0 {
		return fmt.Errorf("%s%s", source, strings.Join(pr.Faults, "; "))
	}
	c, ok := pr.Whole()
	if !ok {
		return fmt.Errorf("%swhat it will be is not known before it is applied%s", source, unknownPlaces(pr))
	}
	if problems := c.Validate(); len(problems) > 0 {
		var all []string
		for _, pr := range problems {
			all = append(all, strings.TrimSpace(fmt.Sprintf("%s %s: %s", pr.Rule, pr.Field, pr.Message)))
		}
		return fmt.Errorf("%sS3 would refuse it, and keep the rules that it has: %s", source, strings.Join(all, " "))
	}
	switch {
	case pr.Bucket.Name != "":
		if p.of[pr.Bucket.Name] != nil {
			return fmt.Errorf("%sbucket %s has two lifecycle configurations here, and S3 keeps the one that comes last", source, pr.Bucket.Name)
		}
		p.of[pr.Bucket.Name] = &c
	case alone:
		p.any = &c
	default:
		return fmt.Errorf("%sthe name of its bucket is not known before it is applied", source)
	}
	return nil
}

// unknownPlaces lists a few of the places whose values are not known.
func unknownPlaces(pr infra.Proposal) string {
	places := pr.Unknown
	if len(places) > 3 {
		places = append(slices.Clone(places[:3]), "…")
	}
	if len(places) == 0 {
		return ": it depends on the template's conditions"
	}
	return ": " + strings.Join(places, ", ")
}
