package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// scenarioLimit is how long a scenario may be, in bytes.
const scenarioLimit = 4 << 20

// A mistake is what is wrong in a scenario, and in which line.
type mistake struct {
	line int
	text string
}

// mistakes are all that was found wrong in a scenario, by line.
type mistakes []mistake

func (m mistakes) Error() string {
	lines := make([]string, len(m))
	for i, one := range m {
		lines[i] = fmt.Sprintf("line %d: %s", one.line, one.text)
	}
	return strings.Join(lines, "\n")
}

// A reader reads YAML, of which JSON is a part, strictly, and goes on after a mistake.
type reader struct{ wrong mistakes }

func (r *reader) mistake(line int, format string, args ...any) {
	r.wrong = append(r.wrong, mistake{line, fmt.Sprintf(format, args...)})
}

// readScenario reads and checks a scenario. The error holds every mistake in it.
func readScenario(body []byte) (*scenario, error) {
	if len(body) > scenarioLimit {
		return nil, mistakes{{1, fmt.Sprintf("a scenario has at most %d bytes, and this has %d", scenarioLimit, len(body))}}
	}
	d := yaml.NewDecoder(bytes.NewReader(body))
	var doc yaml.Node
	if err := d.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, mistakes{{1, "the file is empty"}}
	} else if err != nil {
		return nil, notYAML(err)
	}
	r := &reader{}
	var more yaml.Node
	if err := d.Decode(&more); !errors.Is(err, io.EOF) {
		r.mistake(max(1, more.Line), "a scenario is one document")
	}
	s := &scenario{}
	r.read(doc.Content[0], reflect.ValueOf(s).Elem(), "the scenario")
	if len(r.wrong) == 0 {
		r.check(s)
	}
	if len(r.wrong) > 0 {
		sort.SliceStable(r.wrong, func(i, j int) bool { return r.wrong[i].line < r.wrong[j].line })
		return nil, r.wrong
	}
	return s, nil
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// notYAML keeps the line that the parser names.
func notYAML(err error) mistakes {
	found := yamlLine.FindStringSubmatch(err.Error())
	line := 1
	if len(found) > 1 && found[1] != "" {
		line, _ = strconv.Atoi(found[1]) // digits
	}
	return mistakes{{line, "this is not YAML: " + yamlLine.ReplaceAllString(err.Error(), "")}}
}

// read reads a node into a field. what names the field in messages.
func (r *reader) read(n *yaml.Node, into reflect.Value, what string) {
	if n.Kind == yaml.AliasNode {
		r.mistake(n.Line, "%s: write it out, aliases are not read", what)
		return
	}
	switch into.Type() {
	case reflect.TypeFor[length]():
		r.scalar(n, what, "a length of time, as in 12d6h or 15m", func(s string) (err error) {
			d, err := parseLength(s)
			into.SetInt(int64(d))
			return err
		})
		return
	case reflect.TypeFor[moment]():
		r.scalar(n, what, "a time in UTC, as in 2026-01-05T00:00:00Z", func(s string) error {
			t, err := time.Parse(time.RFC3339, s)
			into.Set(reflect.ValueOf(moment(t.UTC())))
			return err
		})
		return
	}
	switch into.Kind() {
	case reflect.Struct:
		r.mapping(n, into, what)
	case reflect.Slice:
		r.list(n, into, what)
	case reflect.Map:
		r.table(n, into, what)
	case reflect.String:
		r.scalar(n, what, "text", func(s string) error { into.SetString(s); return nil })
	case reflect.Bool:
		r.scalar(n, what, "true or false", func(s string) error {
			into.SetBool(s == "true")
			return unless(s == "true" || s == "false")
		})
	case reflect.Int:
		r.scalar(n, what, "a whole number from 0 to 1000000000", func(s string) error {
			i, err := strconv.ParseInt(s, 10, 64)
			into.SetInt(i)
			return errors.Join(err, unless(i >= 0 && i <= 1_000_000_000))
		})
	case reflect.Uint64:
		r.scalar(n, what, "a whole number", func(s string) error {
			i, err := strconv.ParseUint(s, 10, 64)
			into.SetUint(i)
			return err
		})
	default:
		panic("replay: no way to read a " + into.Type().String())
	}
}

func unless(ok bool) error {
	if ok {
		return nil
	}
	return errors.New("out of range")
}

func (r *reader) scalar(n *yaml.Node, what, want string, set func(string) error) {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" || set(n.Value) != nil {
		found := strconv.Quote(n.Value)
		if n.Kind != yaml.ScalarNode {
			found = map[yaml.Kind]string{yaml.MappingNode: "a mapping", yaml.SequenceNode: "a list"}[n.Kind]
		}
		r.mistake(n.Line, "%s: want %s, found %s", what, want, found)
	}
}

func (r *reader) list(n *yaml.Node, into reflect.Value, what string) {
	if n.Kind != yaml.SequenceNode {
		r.mistake(n.Line, "%s: want a list", what)
		return
	}
	into.Set(reflect.MakeSlice(into.Type(), len(n.Content), len(n.Content)))
	for i, one := range n.Content {
		r.read(one, into.Index(i), fmt.Sprintf("%s[%d]", what, i))
	}
}

// table reads a mapping of text to text.
func (r *reader) table(n *yaml.Node, into reflect.Value, what string) {
	if n.Kind != yaml.MappingNode {
		r.mistake(n.Line, "%s: want a mapping", what)
		return
	}
	into.Set(reflect.MakeMap(into.Type()))
	for i := 0; i < len(n.Content); i += 2 {
		value := reflect.New(into.Type().Elem()).Elem()
		r.read(n.Content[i+1], value, what+"."+n.Content[i].Value)
		into.SetMapIndex(reflect.ValueOf(n.Content[i].Value), value)
	}
}

// mapping reads a mapping whose keys are known.
func (r *reader) mapping(n *yaml.Node, into reflect.Value, what string) {
	if n.Kind != yaml.MappingNode {
		r.mistake(n.Line, "%s: want a mapping", what)
		return
	}
	given := map[string]int{}
	if f := into.FieldByName("Line"); f.IsValid() {
		f.SetInt(int64(n.Line))
	}
	if f := into.FieldByName("Given"); f.IsValid() {
		f.Set(reflect.ValueOf(given))
	}
	for i := 0; i < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		field, ok := fieldNamed(into, key.Value)
		switch {
		case !ok:
			r.mistake(key.Line, "%s: %q is unknown; known are %s", what, key.Value, strings.Join(fieldNames(into), ", "))
		case given[key.Value] > 0:
			r.mistake(key.Line, "%s: %s is given twice", what, key.Value)
		default:
			r.read(value, field, key.Value)
		}
		given[key.Value] = key.Line
	}
}

func fieldNamed(v reflect.Value, name string) (reflect.Value, bool) {
	for i := range v.NumField() {
		switch tag := v.Type().Field(i).Tag.Get("yaml"); {
		case tag == ",inline":
			if f, ok := fieldNamed(v.Field(i), name); ok {
				return f, true
			}
		case tag == name && tag != "-" && tag != "":
			return v.Field(i), true
		}
	}
	return reflect.Value{}, false
}

func fieldNames(v reflect.Value) []string {
	var names []string
	for i := range v.NumField() {
		switch tag := v.Type().Field(i).Tag.Get("yaml"); tag {
		case ",inline":
			names = append(names, fieldNames(v.Field(i))...)
		case "-", "":
		default:
			names = append(names, tag)
		}
	}
	slices.Sort(names)
	return names
}

var days = regexp.MustCompile(`^(-?)(?:(\d{1,5})d)?(.*)$`)

// parseLength reads a length of time: days, and what Go writes after them.
func parseLength(s string) (time.Duration, error) {
	p := days.FindStringSubmatch(s)
	var d time.Duration
	if p[2] != "" {
		n, _ := strconv.Atoi(p[2]) // digits
		d = time.Duration(n) * day
	}
	if p[3] != "" || p[2] == "" {
		rest, err := time.ParseDuration(p[3])
		if err != nil || rest < 0 || rest > 100_000*day {
			return 0, fmt.Errorf("%q is no length of time", s)
		}
		d += rest
	}
	if p[1] != "" {
		d = -d
	}
	return d, nil
}
