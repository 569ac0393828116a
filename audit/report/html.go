package report

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"backstop/audit"
	"backstop/rules/recovery"
	"backstop/store/etcdmanager"
)

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS string
)

// PagePolicy is the Content-Security-Policy that the page says of itself, and that
// whoever serves it is to say in the header: its own style sheet, and nothing else.
var PagePolicy = func() string {
	sum := sha256.Sum256([]byte(pageCSS))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}()

// page writes a report as HTML. Every string that came out of a bucket goes
// through printable, and then through the template's own escaping.
var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"printable": Printable,
	"script":    script,
	"upper":     strings.ToUpper,
	"stamp":     audit.Stamp,
	"state":     stateName,
	"role":      role,
	"number":    number,
	"newestAge": newestAgo,
	"ago":       ago,
	"plural":    audit.Plural,
	"class":     func(v audit.Verdict) string { return strings.ToLower(string(v)) },
	"verdict":   func(s audit.Severity) audit.Verdict { return verdictOf[s] },
}).Parse(pageHTML))

// A row is a store in the table of stores.
type row struct {
	audit.StoreReport
	Chapter string // its ID; empty without one
	First   string // what matters most, in words
}

// A chapter of the page is what is to say of one store, or was found of one bucket.
type chapter struct {
	ID           string // that the table of stores leads to; empty for buckets
	Title, Sub   string
	Name         string
	State, Words string
	Looked       string
	Verdict      audit.Verdict
	Findings     []audit.Finding
	Repair       []recovery.Step
	Drawing      *drawing
	Calendar     *calendar
	Plots        []plot
}

// drawnOK is how many stores with the verdict OK are drawn: a page of a thousand
// pictures in which nothing is wrong helps nobody.
const drawnOK = 40

// HTML writes the report as one page that needs nothing else: no script, no
// resource, no network. What it draws is in the details of the options.
func HTML(w io.Writer, r audit.Report, o Options) error {
	data := struct {
		audit.Report
		Summary, LeftOut string
		Oldest, Undrawn  string
		Policy           string
		Style            template.CSS
		Notices          []string
		Requests         int
		Rows             []row
		Chapters         []chapter
	}{Report: r, Summary: summary(r), LeftOut: leftOut(r, o), Requests: requests(r), Policy: PagePolicy, Style: template.CSS(pageCSS), Notices: o.Notices, Oldest: oldestLook(r)}
	drawn, left := 0, 0
	for i, s := range shown(r, o) {
		detail, known := o.Details[s.Store.ID()]
		if s.Verdict == audit.OK && known {
			if drawn++; drawn > drawnOK {
				known = false
				left++
			}
		}
		line := row{StoreReport: s, First: firstWords(s)}
		if c := storeChapter(s, detail, r.Judged); known || len(c.Findings) > 0 {
			line.Chapter = "store-" + strconv.Itoa(i+1)
			c.ID = line.Chapter
			data.Chapters = append(data.Chapters, c)
		}
		data.Rows = append(data.Rows, line)
	}
	if left > 0 {
		data.Undrawn = fmt.Sprintf("%s with the verdict OK are not drawn here; ask for one alone to see it.", audit.Plural(left, "more store"))
	}
	for _, b := range buckets(r.Stores) {
		data.Chapters = append(data.Chapters, chapter{Title: "The bucket", Name: b.name, Verdict: worstOf(b.findings), Findings: b.findings})
	}
	var b bytes.Buffer
	if err := page.Execute(&b, data); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// storeChapter is what is to say and to draw of a store.
func storeChapter(s audit.StoreReport, d Detail, now time.Time) chapter {
	c := chapter{Title: cmp.Or(s.Store.Cluster, s.Store.URL), Name: s.Store.URL, State: stateName(s), Words: meaning(s, d), Verdict: s.Verdict,
		Looked: "looked at " + ago(s.Observed, now), Findings: slices.Clone(ofStore(s.Findings)), Repair: d.Repair}
	for i, f := range c.Findings {
		if len(d.Repair) > 0 && slices.Equal(f.Do, recovery.Titles(d.Repair)) {
			c.Findings[i].Do = []string{"Follow the order of repair below: the same steps, with contents and commands."}
		}
	}
	if s.Store.Cluster != "" {
		c.Sub = s.Store.Etcd
	}
	if d.Timeline != nil {
		c.Drawing = draw(*d.Timeline)
		c.Calendar = newCalendar(d.Snapshots, s.Judged, d.Timeline.Retention.Hourly, s.Interval)
	}
	c.Plots = plotsOf(d.Snapshots)
	return c
}

func worstOf(found []audit.Finding) audit.Verdict {
	worst := audit.OK
	for _, f := range found {
		if v := verdictOf[f.Severity]; v.Worse(worst) {
			worst = v
		}
	}
	return worst
}

// script makes the lines of a command printable.
func script(s string) string {
	all := strings.Split(s, "\n")
	for i, line := range all {
		all[i] = Printable(line)
	}
	return strings.Join(all, "\n")
}

// ago says how long before now something was.
func ago(at, now time.Time) string {
	if at.IsZero() {
		return "never"
	}
	return audit.Span(max(0, now.Sub(at))) + " ago"
}

// newestAgo is how old the newest snapshot is at a time: the page may be read long
// after the store was looked at.
func newestAgo(s audit.StoreReport, now time.Time) string {
	if _, ok := newestAge(s); !ok {
		return newest(s)
	}
	return ago(s.Newest.At, now)
}

// oldestLook says how old what stands here is.
func oldestLook(r audit.Report) string {
	var oldest time.Time
	for _, s := range r.Stores {
		if !s.Observed.IsZero() && (oldest.IsZero() || s.Observed.Before(oldest)) {
			oldest = s.Observed
		}
	}
	if oldest.IsZero() {
		return ""
	}
	return "the oldest look at a store ended " + ago(oldest, r.Judged)
}

// meaning says what a state means, for who is new to it.
func meaning(s audit.StoreReport, d Detail) string {
	if t := d.Timeline; t != nil && s.Role == "" && wasReset(*t) {
		return "A new, empty cluster took the place of the old one here. What is backed up now is the new one."
	}
	if s.Role != "" {
		return "It is " + map[audit.Role]string{audit.Replica: "a replica", audit.Archive: "an archive"}[s.Role] + ": no etcd-manager reads its control files."
	}
	w := stateWords[etcdmanager.State(s.State.Name)]
	if s.State.RestorePending {
		w += " A restore command is queued: it runs when the leader next restarts."
	}
	return strings.TrimSpace(w)
}

var stateWords = map[etcdmanager.State]string{
	etcdmanager.Running:       "Both control files are there: etcd-manager takes backups.",
	etcdmanager.Bootstrapping: "A new cluster is being formed here.",
	etcdmanager.Uninitialised: "No cluster was ever formed here.",
	etcdmanager.Unknown:       "Something that is needed to tell was not seen.",
	etcdmanager.Latent:        "etcd-cluster-spec is missing or bad. Backups go on until the leader changes; then they stop.",
	etcdmanager.Stuck:         "etcd-cluster-spec is missing or bad, and backups have stopped.",
	etcdmanager.Blocked:       "etcd-cluster-created is empty or cannot be read: every cycle of etcd-manager fails, and nothing is backed up.",
	etcdmanager.Armed:         "etcd-cluster-created is missing and backups have stopped. Whoever writes a spec, as kops update cluster does, resets the cluster to an empty one.",
	etcdmanager.Imminent:      "etcd-cluster-created is missing and the spec is there: etcd-manager makes a new, empty cluster within seconds.",
}

// firstWords are the message of the most urgent finding, if it wants something done.
func firstWords(s audit.StoreReport) string {
	if len(s.Findings) == 0 || s.Findings[0].Severity == audit.Info {
		return ""
	}
	return sentence(s.Findings[0].Message)
}

// sentence is the first sentence of a text, or as much of it as a table has room for.
func sentence(s string) string {
	const most = 160
	if first, _, ok := strings.Cut(s, ". "); ok {
		s = first + "."
	}
	if letters := []rune(s); len(letters) > most {
		s = string(letters[:most])
		if space := strings.LastIndex(s, " "); space > 0 {
			s = s[:space]
		}
		return s + "…"
	}
	return s
}
