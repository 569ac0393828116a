package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"backstop/rules/lifecycle/infra"
	"backstop/rules/lint"
)

// codeLimit bounds a file of infrastructure code in bytes. The plan of a large
// organisation has some ten megabytes.
const codeLimit = 128 << 20

// readCode reads the files of infrastructure code.
func (p *program) readCode(names []string, o *lintOptions) ([]lint.File, error) {
	in := infra.Options{Parameters: map[string]string{}, Defaults: o.parameterDefaults}
	for _, arg := range o.parameters {
		name, value, ok := strings.Cut(arg, "=")
		if !ok || name == "" {
			return nil, usagef("--parameter is %q, want NAME=VALUE", arg)
		}
		in.Parameters[name] = value
	}
	var all []lint.File
	for _, name := range names {
		body, err := p.readLimited(name)
		if err != nil {
			return nil, &failure{status: exitUsage, err: fmt.Errorf("read %s: %w", name, err)}
		}
		doc, err := infra.Read(body, in)
		if err != nil {
			return nil, &failure{status: exitUsage, err: fmt.Errorf("lint %s: %w", name, err), hint: "`backstop lint --help` says which files it reads"}
		}
		all = append(all, lint.File{Name: shownName(name), Document: doc})
	}
	return all, nameBuckets(all, o.buckets)
}

func shownName(name string) string {
	if name == "-" {
		return "stdin"
	}
	return name
}

// readLimited reads a file, or stdin.
func (p *program) readLimited(name string) ([]byte, error) {
	r := p.stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, errors.Unwrap(err) // the name is in front of it
		}
		defer f.Close()
		r = f
	}
	body, err := io.ReadAll(io.LimitReader(r, codeLimit+1))
	if err == nil && len(body) > codeLimit {
		err = fmt.Errorf("it is larger than %d MiB", codeLimit>>20)
	}
	return body, err
}

// nameBuckets applies --bucket to the configurations and objects that it names.
func nameBuckets(files []lint.File, args []string) error {
	for _, arg := range args {
		// An address may hold = in an index; a bucket's name may not.
		i := strings.LastIndexByte(arg, '=')
		source, name := "", arg[i+1:]
		if i >= 0 {
			source = arg[:i]
		}
		if name == "" {
			return usagef("--bucket is %q, want [SOURCE=]NAME", arg)
		}
		if nameBucket(files, source, name) == 0 {
			return usagef("--bucket %s: no lifecycle configuration or object of the files %s", arg, sourceWords(source))
		}
	}
	return nil
}

func sourceWords(source string) string {
	if source == "" {
		return "is without a bucket"
	}
	return "is " + source
}

// nameBucket names the bucket of a source; without one, of all that have none.
func nameBucket(files []lint.File, source, name string) (named int) {
	set := func(of string, b *infra.BucketRef) {
		if source != "" && of == source || source == "" && b.Name == "" {
			*b = infra.BucketRef{Name: name, Named: true}
			named++
		}
	}
	for i := range files {
		for k := range files[i].Proposals {
			set(files[i].Proposals[k].Source, &files[i].Proposals[k].Bucket)
		}
		for k := range files[i].Objects {
			if o := &files[i].Objects[k]; o.Change.Writes() {
				set(o.Source, &o.At.Bucket)
			}
		}
	}
	return named
}
