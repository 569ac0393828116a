package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"backstop/audit"
)

// LintJUnit writes a lint report as CI systems read test results: a suite for each
// file, a case for each rule. What fails the build is a failure, what could not be
// told an error and never a skipped test, and information is output.
//
// The form is that of Apache Ant's JUnit task, which most systems read.
func LintJUnit(w io.Writer, r audit.LintReport, o LintOptions) error {
	out := junitSuites{Name: "backstop lint"}
	for _, f := range r.Files {
		out.add(suiteOf(f.Name, ofFile(r, f.Name), o, r))
	}
	out.add(suiteOf("backstop", append(ofFile(r, ""), problemFindings(r)...), o, r))
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(out); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name      string      `xml:"name,attr"`
	Tests     int         `xml:"tests,attr"`
	Failures  int         `xml:"failures,attr"`
	Errors    int         `xml:"errors,attr"`
	Skipped   int         `xml:"skipped,attr"`
	Time      string      `xml:"time,attr"`
	Timestamp string      `xml:"timestamp,attr"`
	Cases     []junitCase `xml:"testcase"`
}

type junitCase struct {
	ClassName string       `xml:"classname,attr"`
	Name      string       `xml:"name,attr"`
	Time      string       `xml:"time,attr"`
	Failures  []junitFault `xml:"failure"`
	Errors    []junitFault `xml:"error"`
	Output    string       `xml:"system-out,omitempty"`
}

type junitFault struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

func (s *junitSuites) add(suite junitSuite) {
	if suite.Tests == 0 {
		return
	}
	s.Suites = append(s.Suites, suite)
	s.Tests += suite.Tests
	s.Failures += suite.Failures
	s.Errors += suite.Errors
}

// ofFile gives the findings about a file.
func ofFile(r audit.LintReport, name string) []audit.LintFinding {
	var all []audit.LintFinding
	for _, f := range r.Findings {
		if f.File == name {
			all = append(all, f)
		}
	}
	return all
}

// problemFindings are the places that were not looked at, as findings.
func problemFindings(r audit.LintReport) []audit.LintFinding {
	var all []audit.LintFinding
	for _, p := range r.Problems {
		f := audit.LintFinding{Finding: audit.Found(audit.Unsure, "%s was not looked at: %s", p.Target, p.Message)}
		f.Rule = "lint/store-not-seen"
		all = append(all, f)
	}
	return all
}

// suiteOf makes the suite of a file. Every rule is a case, so that one that
// passes is seen to have been there; what is about no file has those that spoke.
func suiteOf(name string, found []audit.LintFinding, o LintOptions, r audit.LintReport) junitSuite {
	s := junitSuite{Name: xmlText(name), Time: "0", Timestamp: r.Judged.UTC().Format("2006-01-02T15:04:05")}
	for _, rule := range o.Rules {
		c := junitCase{ClassName: xmlText(name), Name: rule.ID, Time: "0"}
		spoke := false
		for _, f := range found {
			if f.Rule == rule.ID {
				c.take(f, o)
				spoke = true
			}
		}
		if !spoke && name == "backstop" {
			continue
		}
		s.Cases = append(s.Cases, c)
		s.Tests++
		if len(c.Errors) > 0 {
			s.Errors++
		} else if len(c.Failures) > 0 {
			s.Failures++
		}
	}
	return s
}

// take adds a finding to the case of its rule.
func (c *junitCase) take(f audit.LintFinding, o LintOptions) {
	body := []string{place(f), f.Message}
	for _, e := range f.Evidence {
		body = append(body, "also: "+e.Message)
	}
	for i, d := range f.Do {
		body = append(body, fmt.Sprintf("do %d. %s", i+1, d))
	}
	fault := junitFault{Type: string(f.Severity), Message: xmlText(f.Message), Text: xmlText(strings.Join(body, "\n"))}
	switch {
	case f.Severity == audit.Unsure:
		c.Errors = append(c.Errors, fault)
	case o.fails(f.Severity):
		c.Failures = append(c.Failures, fault)
	default:
		c.Output += fault.Text + "\n"
	}
}

// xmlText makes text safe: XML has no form for control characters.
func xmlText(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = Printable(lines[i])
	}
	return strings.Join(lines, "\n")
}
