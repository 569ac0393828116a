package lifecycle

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

var casesFile = flag.String("cases", "testdata/cases.json", "file of lifecycle cases to run")

// caseFile is a file of expectations: predictions, whole timelines, expiration
// headers, and policies S3 refuses or accepts. Policies of infrastructure code
// (normalizeCases) are read by TestCasesOfInfrastructureCode, which may know the
// package infra.
type caseFile struct {
	Cases           []predictionCase `json:"cases"`
	Timelines       []timelineCase   `json:"timelines"`
	HeaderCases     []headerCase     `json:"headerCases"`
	InvalidPolicies []policyCase     `json:"invalidPolicies"`
	ValidPolicies   []policyCase     `json:"validPolicies"`
}

// readCases reads the file of cases, whose name is relative to the package or to
// the module.
func readCases(t *testing.T, into any) {
	t.Helper()
	totals.began = true
	raw, err := os.ReadFile(*casesFile)
	if errors.Is(err, fs.ErrNotExist) {
		raw, err = os.ReadFile(filepath.Join("..", "..", *casesFile))
	}
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		t.Fatalf("read cases: %v", err)
	}
}

// TestCases runs every case as a subtest and prints the totals last; go test
// shows them with -v or after a failure. Run it on another file with
//
//	make cases FILE=any.json
func TestCases(t *testing.T) {
	var f caseFile
	readCases(t, &f)
	if len(f.Cases)+len(f.Timelines)+len(f.HeaderCases)+len(f.InvalidPolicies)+len(f.ValidPolicies) == 0 {
		t.Fatal("the file holds no case under a name that is known")
	}
	s := &totals
	for _, c := range f.Cases {
		s.run(t, "prediction", c.ID, c.check)
	}
	for _, c := range f.Timelines {
		s.run(t, "timeline", c.ID, c.check)
	}
	for _, c := range f.HeaderCases {
		s.run(t, "header", c.ID, c.check)
	}
	for _, c := range f.InvalidPolicies {
		s.run(t, "invalid", c.ID, c.checkRejected)
	}
	for _, c := range f.ValidPolicies {
		s.run(t, "valid", c.ID, c.checkAccepted)
	}
}

// totals are printed last of all.
var totals tally

func TestMain(m *testing.M) {
	code := m.Run()
	totals.print()
	os.Exit(code)
}

// tally counts cases by kind.
type tally struct {
	began          bool
	kinds          []string
	passed, failed map[string]int
	complaints     []string
}

func (s *tally) run(t *testing.T, kind, id string, check func() error) {
	if s.passed == nil {
		s.passed, s.failed = map[string]int{}, map[string]int{}
	}
	if !slices.Contains(s.kinds, kind) {
		s.kinds = append(s.kinds, kind)
	}
	t.Run(id, func(t *testing.T) {
		if err := check(); err != nil {
			s.failed[kind]++
			s.complaints = append(s.complaints, id+": "+err.Error())
			t.Error(err)
			return
		}
		s.passed[kind]++
	})
}

func (s *tally) print() {
	passed, failed := 0, 0
	for _, c := range s.complaints {
		fmt.Println("FAILED", c)
	}
	for _, k := range s.kinds {
		fmt.Printf("%s: %d passed, %d failed\n", k, s.passed[k], s.failed[k])
		passed, failed = passed+s.passed[k], failed+s.failed[k]
	}
	if s.began {
		fmt.Printf("%d passed, %d failed\n", passed, failed)
	}
}

type bucketCase struct {
	Versioning string `json:"versioning"`
	Type       string `json:"type"`
	MFADelete  string `json:"mfaDelete"`
	Provider   string `json:"provider"`
	ObjectLock struct {
		Enabled bool `json:"enabled"`
	} `json:"objectLock"`
	Tiering []struct {
		ID, Status string
		Filter     *filterCase
		Tierings   []struct {
			AccessTier string
			Days       int
		}
	} `json:"intelligentTiering"`
}

// filterCase is the filter of an Intelligent-Tiering configuration.
type filterCase struct {
	Prefix *string
	Tag    *Tag
	And    *struct {
		Prefix *string
		Tags   []Tag
	}
}

func (f *filterCase) filter() *Filter {
	if f == nil {
		return nil
	}
	out := &Filter{Predicates: Predicates{Prefix: f.Prefix}}
	if f.Tag != nil {
		out.Tags = []Tag{*f.Tag}
	}
	if f.And != nil {
		out.And = &Predicates{Prefix: f.And.Prefix, Tags: f.And.Tags}
	}
	return out
}

var caseVersioning = map[string]Versioning{"Off": Off, "Enabled": Enabled, "Suspended": Suspended}

// bucket is the bucket of a case. Cases that name no provider mean AWS.
func (c bucketCase) bucket() Bucket {
	b := Bucket{Versioning: caseVersioning[c.Versioning], Provider: AWS, MFADelete: c.MFADelete == "Enabled",
		DirectoryBucket: c.Type == "directory", ObjectLock: c.ObjectLock.Enabled}
	for p, name := range providerNames {
		if c.Provider != "" && strings.Contains(strings.ToLower(name), strings.ToLower(c.Provider)) {
			b.Provider = Provider(p)
		}
	}
	for _, t := range c.Tiering {
		tiering := Tiering{ID: t.ID, Status: t.Status, Filter: t.Filter.filter()}
		for _, tier := range t.Tierings {
			tiering.Tiers = append(tiering.Tiers, Tier(tier))
		}
		b.IntelligentTiering = append(b.IntelligentTiering, tiering)
	}
	return b
}

type objectCase struct {
	Key               string            `json:"key"`
	VersionID         *string           `json:"versionId"`
	Size              int64             `json:"size"`
	LastModified      time.Time         `json:"lastModified"`
	Tags              map[string]string `json:"tags"`
	StorageClass      string            `json:"storageClass"`
	IsLatest          bool              `json:"isLatest"`
	IsDeleteMarker    bool              `json:"isDeleteMarker"`
	SuccessorModified *time.Time        `json:"successorModified"`
	NewerNoncurrent   *int              `json:"newerNoncurrent"`
	NumVersions       int               `json:"numVersions"`
	ReplicationStatus string            `json:"replicationStatus"`
	LastAccess        time.Time         `json:"lastAccess"`
	ArchiveStatus     string            `json:"archiveStatus"`
	Lock              *struct {
		RetainUntil *time.Time `json:"retainUntil"`
		LegalHold   bool       `json:"legalHold"`
	} `json:"lock"`
}

func (o objectCase) version() Version {
	v := Version{Key: o.Key, Size: o.Size, LastModified: o.LastModified, DeleteMarker: o.IsDeleteMarker,
		StorageClass: o.StorageClass, Tags: o.Tags, TagsKnown: true, ReplicationStatus: o.ReplicationStatus,
		LastAccess: o.LastAccess, ArchiveStatus: o.ArchiveStatus}
	if o.VersionID != nil {
		v.VersionID = *o.VersionID
	}
	if o.Lock != nil {
		v.LegalHold = o.Lock.LegalHold
		if o.Lock.RetainUntil != nil {
			v.RetainUntil = *o.Lock.RetainUntil
		}
	}
	return v
}

// stack builds the version stack around the object. A case gives numbers of
// neighbours only; those above are as old as the successor, so that the count
// of newer versions never decides a date.
func (o objectCase) stack() (stack []Version, i int) {
	if !o.IsLatest {
		above := Version{Key: o.Key, VersionID: "above", Size: 1 << 20, LastModified: *o.SuccessorModified, TagsKnown: true}
		newer := 0
		if o.NewerNoncurrent != nil {
			newer = *o.NewerNoncurrent
		}
		for range newer + 1 {
			stack = append(stack, above)
		}
	}
	i = len(stack)
	stack = append(stack, o.version())
	for len(stack) < o.NumVersions {
		stack = append(stack, Version{Key: o.Key, VersionID: "below", Size: 1 << 20,
			LastModified: o.LastModified.Add(-time.Hour), TagsKnown: true})
	}
	return stack, i
}

type predictionCase struct {
	ID     string          `json:"id"`
	Bucket bucketCase      `json:"bucket"`
	Policy json.RawMessage `json:"policy"`
	Object objectCase      `json:"object"`
	Now    time.Time       `json:"now"`
	Expect struct {
		Action          string     `json:"action"`
		Rule            *string    `json:"rule"`
		Due             *time.Time `json:"due"`
		DueLatest       *time.Time `json:"dueLatest"`
		StorageClass    string     `json:"storageClass"`
		EligibleNow     *bool      `json:"eligibleNow"`
		Ambiguous       bool       `json:"ambiguous"`
		DueIsLowerBound bool       `json:"dueIsLowerBound"`
		ReaderAfter     string     `json:"readerAfter"`
		ReaderNow       string     `json:"readerNow"`
		Reason          Reason     `json:"reason"`
	} `json:"expect"`
}

var (
	caseActions = map[Kind]string{None: "none", Expire: "expire", Hide: "delete-marker",
		DestroyNoncurrent: "delete-version", RemoveMarker: "remove-marker", Transition: "transition"}
	caseReaders = map[Reader]string{Unchanged: "unchanged", Readable: "200", Archived: "403", Missing: "404"}
)

func (c predictionCase) check() error {
	policy, err := Parse(c.Policy)
	if err != nil {
		return err
	}
	stack, i := c.Object.stack()
	ev, ok := policy.Next(c.Bucket.bucket(), stack, i, c.Now)
	x := c.Expect
	var d differences
	d.add("action", x.Action, caseActions[ev.Kind])
	d.add("readerAfter", x.ReaderAfter, caseReaders[ev.Reader])
	d.add("readerNow", x.ReaderNow == "403", stack[i].ArchivedNow())
	if !ok {
		if knownReason(x.Reason) {
			d.add("reason", x.Reason, ev.Reason)
		}
		return d.err()
	}
	d.addTime("due", x.Due, ev.At)
	d.addTime("dueLatest", x.DueLatest, ev.Latest)
	if x.Rule != nil {
		d.add("rule", *x.Rule, ev.Rule)
	}
	if x.EligibleNow != nil {
		d.add("eligibleNow", *x.EligibleNow, ev.Overdue)
	}
	d.add("storageClass", x.StorageClass, ev.Class)
	d.add("ambiguous", x.Ambiguous, ev.Ambiguous)
	d.add("dueIsLowerBound", x.DueIsLowerBound, ev.LowerBound)
	return d.err()
}

// knownReason reports whether the package has a word for the reason: files may
// explain more than it distinguishes.
func knownReason(r Reason) bool {
	return r == ReasonNoLifecycle || slices.Contains(blockReasons[:], r)
}

type timelineCase struct {
	ID       string          `json:"id"`
	Bucket   bucketCase      `json:"bucket"`
	Policy   json.RawMessage `json:"policy"`
	Key      string          `json:"key"`
	Versions []objectCase    `json:"versions"`
	Now      time.Time       `json:"now"`
	Events   []struct {
		Due          time.Time  `json:"due"`
		DueIfLagged  *time.Time `json:"dueIfLagged"`
		EffectiveDue *time.Time `json:"effectiveDue"`
		Action       string     `json:"action"`
		VersionID    *string    `json:"versionId"`
		Rule         string     `json:"rule"`
		StorageClass string     `json:"storageClass"`
	} `json:"events"`
	Final []string `json:"final"`
}

func (c timelineCase) check() error {
	policy, err := Parse(c.Policy)
	if err != nil {
		return err
	}
	var stack []Version
	for _, v := range c.Versions {
		v.Key = c.Key
		stack = append(stack, v.version())
	}
	b := c.Bucket.bucket()
	early, late := policy.Follow(b, stack, c.Now, 0), policy.Follow(b, stack, c.Now, time.Hour)
	var d differences
	d.add("number of events", len(c.Events), len(early.Events))
	d.add("number of late events", len(c.Events), len(late.Events))
	for i, want := range c.Events {
		if i >= len(early.Events) || i >= len(late.Events) {
			break
		}
		got := early.Events[i]
		name := fmt.Sprintf("event %d ", i+1)
		d.add(name+"action", want.Action, caseActions[got.Kind])
		d.add(name+"rule", want.Rule, got.Rule)
		d.add(name+"class", want.StorageClass, got.Class)
		if want.VersionID != nil {
			d.add(name+"version", *want.VersionID, got.VersionID)
		}
		d.addCounted(name, want.Due, want.EffectiveDue, got)
		if want.DueIfLagged != nil && want.EffectiveDue == nil {
			d.addTime(name+"dueIfLagged", want.DueIfLagged, late.Events[i].At)
		}
	}
	d.add("final", strings.Join(c.Final, ", "), strings.Join(finalNames(early.Final), ", "))
	return d.err()
}

// addCounted compares a date; where enough newer versions came later than the
// age, due is the age alone and effective the date that counts.
func (d *differences) addCounted(name string, due time.Time, effective *time.Time, got Event) {
	if effective == nil {
		d.addTime(name+"due", &due, got.At)
		return
	}
	d.addTime(name+"effectiveDue", effective, got.At)
	if !got.ByAge.IsZero() {
		d.addTime(name+"due by age", &due, got.ByAge)
	}
}

func finalNames(stack []Version) []string {
	var names []string
	for _, v := range stack {
		name := v.VersionID
		if v.DeleteMarker {
			name += " (marker)"
		}
		names = append(names, name)
	}
	return names
}

type headerCase struct {
	ID                  string          `json:"id"`
	Bucket              bucketCase      `json:"bucket"`
	Policy              json.RawMessage `json:"policy"`
	Object              objectCase      `json:"object"`
	RequestHasVersionID bool            `json:"requestHasVersionId"`
	Expect              struct {
		Present    bool       `json:"present"`
		RuleID     *string    `json:"ruleId"`
		ExpiryDate *time.Time `json:"expiryDate"`
	} `json:"expect"`
}

// differences collects what a case expected and did not get.
type differences []string

func (d *differences) add(what string, want, got any) {
	if want != got {
		*d = append(*d, fmt.Sprintf("%s: expected %v, got %v", what, want, got))
	}
}

func (d *differences) addTime(what string, want *time.Time, got time.Time) {
	if want != nil && !want.Equal(got) {
		*d = append(*d, fmt.Sprintf("%s: expected %s, got %s", what, want.Format(time.RFC3339), got.Format(time.RFC3339)))
	}
}

func (d differences) err() error {
	if len(d) == 0 {
		return nil
	}
	return fmt.Errorf("%s", strings.Join(d, "; "))
}

type policyCase struct {
	ID           string          `json:"id"`
	Bucket       bucketCase      `json:"bucket"`
	Policy       json.RawMessage `json:"policy"`
	PolicyExpand json.RawMessage `json:"policyExpand"`
	XML          string          `json:"xml"`
	Expect       struct {
		Code     *string  `json:"code"`
		Field    string   `json:"field"`
		Rule     *string  `json:"rule"`
		Keywords []string `json:"keywords"`
		Warn     []string `json:"warn"`
	} `json:"expect"`
}

// check predicts the header and reads it back from the form S3 gives it.
func (c headerCase) check() error {
	policy, err := Parse(c.Policy)
	if err != nil {
		return err
	}
	var (
		date time.Time
		rule string
		ok   bool
		d    differences
	)
	if !c.RequestHasVersionID && c.Object.IsLatest {
		date, rule, ok = policy.ExpirationHeader(c.Bucket.bucket(), c.Object.version())
	}
	d.add("present", c.Expect.Present, ok)
	if !c.Expect.Present || !ok {
		return d.err()
	}
	d.add("ruleId", *c.Expect.RuleID, rule)
	d.addTime("expiryDate", c.Expect.ExpiryDate, date)
	header := fmt.Sprintf(`expiry-date="%s", rule-id="%s"`, date.Format(http.TimeFormat), rule)
	gotDate, gotRule, ok := ParseExpirationHeader(header)
	d.add("parsed header", fmt.Sprint(date, rule, true), fmt.Sprint(gotDate, gotRule, ok))
	return d.err()
}

// parse reads the policy of a case, in whichever form it is given.
func (c policyCase) parse() (Configuration, error) {
	switch {
	case c.XML != "":
		return Parse([]byte(c.XML))
	case len(c.PolicyExpand) > 0:
		return expand(c.PolicyExpand)
	}
	return Parse(c.Policy)
}

// expand repeats a rule under running numbers. It takes the largest number as
// the count and the object that looks like a rule as the rule.
func expand(raw json.RawMessage) (Configuration, error) {
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(raw, &parts); err != nil {
		return Configuration{}, err
	}
	count, policy := 0, Configuration{}
	for _, part := range parts {
		if n, err := strconv.Atoi(string(part)); err == nil {
			count = max(count, n)
		} else if bytes.Contains(part, []byte(`"Status"`)) {
			if policy, err = Parse([]byte(`{"Rules":[` + strings.Trim(string(part), "[]") + `]}`)); err != nil {
				return policy, err
			}
		}
	}
	if len(policy.Rules) != 1 {
		return policy, errors.New("no rule to repeat")
	}
	rule := policy.Rules[0]
	policy.Rules = nil
	for i := range count {
		rule.ID, rule.Position = fmt.Sprintf("r%d", i), i+1
		policy.Rules = append(policy.Rules, rule)
	}
	return policy, nil
}

// checkRejected compares the first problem, the one S3 would answer with.
// A document that cannot be read at all S3 refuses as malformed.
func (c policyCase) checkRejected() error {
	policy, err := c.parse()
	problems := policy.ValidateFor(c.Bucket.bucket())
	if err != nil {
		problems = []Problem{{Code: CodeMalformedXML, Field: c.Expect.Field, Message: err.Error()}}
	}
	if len(problems) == 0 {
		return errors.New("expected rejected, got accepted")
	}
	p, x := problems[0], c.Expect
	var d differences
	if x.Code != nil && *x.Code != p.OrCode {
		d.add("code", *x.Code, p.Code)
	}
	if !within(p.Field, x.Field) && !within(x.Field, p.Field) {
		d.add("field", x.Field, p.Field)
	}
	if x.Rule != nil {
		d.add("rule", *x.Rule, p.Rule)
	}
	for _, word := range x.Keywords {
		d.add("message contains "+word, true, strings.Contains(p.Message, word))
	}
	return d.err()
}

// checkAccepted allows no problem and requires the warnings of the case. There
// may be more warnings than a case cares for.
func (c policyCase) checkAccepted() error {
	policy, err := c.parse()
	if err != nil {
		return err
	}
	var d differences
	b := c.Bucket.bucket()
	for _, p := range policy.ValidateFor(b) {
		d.add("problem", "none", p.Code+" "+p.Field+": "+p.Message)
	}
	warnings := policy.Warnings(b, caseNow)
	for _, id := range c.Expect.Warn {
		found := slices.ContainsFunc(warnings, func(w Warning) bool { return w.ID == id })
		d.add("warning "+id, true, found)
	}
	return d.err()
}

// caseNow is when policies are judged whose cases give no date.
var caseNow = time.Date(2024, time.June, 15, 12, 0, 0, 0, time.UTC)
