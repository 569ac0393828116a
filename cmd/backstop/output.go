package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"backstop/audit/report"
)

// An output is one -o FORMAT[=FILE].
type output[Format any] struct {
	format Format
	file   string
	stdout io.Writer
	report.Options
}

// outputs reads the -o flags of a command whose formats are named by named.
func outputs[Format any](p *program, o *options, args []string, quiet bool, named func(string) (Format, error)) ([]output[Format], error) {
	color, width := p.terminal(o)
	var outs []output[Format]
	toStdout := 0
	for _, arg := range args {
		name, file, _ := strings.Cut(arg, "=")
		format, err := named(name)
		if err != nil {
			return nil, usagef("--output: %w", err)
		}
		out := output[Format]{format: format, file: file, stdout: p.stdout, Options: report.Options{Quiet: quiet}}
		if file == "" {
			out.Color, out.Width = color, width
			toStdout++
		}
		outs = append(outs, out)
	}
	if toStdout > 1 {
		return nil, usagef("--output: %d formats would go to stdout; give FORMAT=FILE to all but one", toStdout)
	}
	return outs, nil
}

// write writes to where the output goes.
func (out output[Format]) write(what func(io.Writer) error) error {
	if out.file == "" {
		return what(out.stdout)
	}
	if err := writeFile(out.file, what); err != nil {
		return errors.Join(fmt.Errorf("%s", out.file), err)
	}
	return nil
}
