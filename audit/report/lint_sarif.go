package report

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"backstop/audit"
)

// sarifSchema is where OASIS publishes the schema of SARIF 2.1.0 (with its errata
// of 2023).
const sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

// LintSARIF writes a lint report in the Static Analysis Results Interchange Format
// 2.1.0, as code scanning reads it.
//
// UNKNOWN is of the level error, as CRITICAL is: SARIF's own word for what could
// not be told (kind "open") has no level, and consumers drop it.
func LintSARIF(w io.Writer, r audit.LintReport, o LintOptions) error {
	run := sarifRun{
		Tool:       sarifTool{sarifDriver{Name: "backstop", Version: o.Version, Rules: sarifRules(o.Rules)}},
		Artifacts:  []sarifArtifact{},
		Results:    []sarifResult{},
		ColumnKind: "unicodeCodePoints",
		Invocation: []sarifInvocation{{Successful: true, Notifications: sarifNotifications(r)}},
	}
	for _, f := range r.Files {
		run.Artifacts = append(run.Artifacts, sarifArtifact{Location: sarifURI{URI: fileURI(f.Name)}})
	}
	for _, f := range r.Findings {
		run.Results = append(run.Results, sarifOf(f, r, o))
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(sarifLog{Schema: sarifSchema, Version: "2.1.0", Runs: []sarifRun{run}})
}

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool       sarifTool         `json:"tool"`
	Invocation []sarifInvocation `json:"invocations"`
	Artifacts  []sarifArtifact   `json:"artifacts"`
	Results    []sarifResult     `json:"results"`
	ColumnKind string            `json:"columnKind"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name    string      `json:"name"`
	Version string      `json:"version,omitempty"`
	Rules   []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID            string          `json:"id"`
	Name          string          `json:"name"`
	Short         sarifMessage    `json:"shortDescription"`
	Help          sarifMarkdown   `json:"help"`
	Configuration sarifLevel      `json:"defaultConfiguration"`
	Properties    sarifProperties `json:"properties"`
}

type sarifLevel struct {
	Level string `json:"level"`
}

type sarifProperties struct {
	Severity audit.Severity `json:"severity"`
	Tags     []string       `json:"tags,omitempty"`
}

type sarifMessage struct {
	Text string `json:"text"`
}

type sarifMarkdown struct {
	Text     string `json:"text"`
	Markdown string `json:"markdown"`
}

type sarifInvocation struct {
	Successful    bool                `json:"executionSuccessful"`
	Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
}

type sarifNotification struct {
	Level   string       `json:"level"`
	Message sarifMessage `json:"message"`
}

type sarifArtifact struct {
	Location sarifURI `json:"location"`
}

type sarifURI struct {
	URI string `json:"uri"`
}

type sarifResult struct {
	RuleID       string            `json:"ruleId"`
	RuleIndex    *int              `json:"ruleIndex,omitempty"`
	Level        string            `json:"level"`
	Message      sarifMarkdown     `json:"message"`
	Locations    []sarifLocation   `json:"locations"`
	Fingerprints map[string]string `json:"partialFingerprints"`
	Properties   sarifProperties   `json:"properties"`
}

type sarifLocation struct {
	Physical *sarifPhysical `json:"physicalLocation,omitempty"`
	Logical  []sarifLogical `json:"logicalLocations,omitempty"`
}

type sarifPhysical struct {
	Artifact sarifURI    `json:"artifactLocation"`
	Region   sarifRegion `json:"region"`
}

type sarifRegion struct {
	StartLine int `json:"startLine"`
}

type sarifLogical struct {
	Name string `json:"fullyQualifiedName"`
	Kind string `json:"kind"`
}

func sarifRules(rules []LintRule) []sarifRule {
	all := []sarifRule{}
	for _, r := range rules {
		all = append(all, sarifRule{ID: r.ID, Name: camel(r.ID), Short: sarifMessage{r.Title}, Help: sarifMarkdown{r.Page, r.Page},
			Configuration: sarifLevel{levelOf(r.Severity)}, Properties: sarifProperties{r.Severity, []string{"etcd", "s3", "lifecycle"}}})
	}
	return all
}

// camel gives the opaque name that SARIF wants beside an id.
func camel(id string) string {
	var b strings.Builder
	for _, part := range strings.FieldsFunc(id, func(c rune) bool { return c == '/' || c == '-' }) {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}

func levelOf(s audit.Severity) string {
	switch s {
	case audit.Critical, audit.Unsure:
		return "error"
	case audit.Warning:
		return "warning"
	}
	return "note"
}

// sarifOf makes a result. One about no file is put into the first, because code
// scanning shows nothing without a place.
func sarifOf(f audit.LintFinding, r audit.LintReport, o LintOptions) sarifResult {
	text, md := sarifText(f)
	out := sarifResult{RuleID: f.Rule, Level: levelOf(f.Severity), Message: sarifMarkdown{text, md}, Fingerprints: map[string]string{"backstop/v1": fingerprint(f)},
		Properties: sarifProperties{Severity: f.Severity}, Locations: []sarifLocation{}}
	if i := slices.IndexFunc(o.Rules, func(r LintRule) bool { return r.ID == f.Rule }); i >= 0 {
		out.RuleIndex = &i
	}
	var at sarifLocation
	file := f.File
	if file == "" && len(r.Files) > 0 {
		file = r.Files[0].Name
	}
	if file != "" {
		at.Physical = &sarifPhysical{Artifact: sarifURI{fileURI(file)}, Region: sarifRegion{max(1, f.Line)}}
	}
	if f.Source != "" {
		at.Logical = []sarifLogical{{Printable(f.Source), "resource"}}
	}
	if at.Physical != nil || at.Logical != nil {
		out.Locations = append(out.Locations, at)
	}
	return out
}

// sarifText writes a finding as text and as Markdown.
func sarifText(f audit.LintFinding) (text, md string) {
	texts, mds := []string{strings.ToUpper(string(f.Severity)) + ": " + Printable(f.Message)}, []string{"**" + strings.ToUpper(string(f.Severity)) + "**: " + escaped(f.Message)}
	for _, e := range f.Evidence {
		texts, mds = append(texts, "Also: "+Printable(e.Message)), append(mds, "- Also: "+escaped(e.Message))
	}
	for _, d := range f.Do {
		texts, mds = append(texts, "Do: "+Printable(d)), append(mds, "- Do: "+escaped(d))
	}
	return strings.Join(texts, "\n"), mds[0] + "\n\n" + strings.Join(mds[1:], "\n")
}

// fingerprint tells a finding from others across runs: by what it is about, and
// not by dates or counts.
func fingerprint(f audit.LintFinding) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{f.Rule, f.File, f.Source, f.LifecycleRule, f.Store, f.Key}, "\x00")))
	return hex.EncodeToString(sum[:])
}

// fileURI writes the name of a file as a URI reference: relative names stay
// relative, to the repository's root as code scanning has it.
func fileURI(name string) string {
	slashed := strings.TrimPrefix(filepath.ToSlash(name), "./")
	u := url.URL{Path: slashed}
	if strings.HasPrefix(slashed, "/") {
		u.Scheme = "file"
	}
	return cmp.Or(u.String(), "-")
}

// sarifNotifications tells of places that were not looked at.
func sarifNotifications(r audit.LintReport) []sarifNotification {
	var all []sarifNotification
	for _, p := range r.Problems {
		all = append(all, sarifNotification{Level: "error", Message: sarifMessage{Printable("not looked at: " + p.Target + ": " + p.Message)}})
	}
	return all
}
