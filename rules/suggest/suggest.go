package suggest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"backstop/audit"
	"backstop/rules"
	"backstop/rules/forecast"
	"backstop/rules/lifecycle"
)

// A Store is what was seen of one store of the bucket, and what its owner expects.
type Store struct {
	Observation *audit.Observation
	Policy      audit.Policy
	Now         time.Time // when it was looked at
}

// A Suggestion is a configuration for a bucket, and how it came about.
type Suggestion struct {
	Bucket string
	Rules  lifecycle.Configuration
	Notes  []Note
}

// A Note says what became of a rule, or why there is none.
type Note struct {
	What What
	// Rule is the rule's ID; empty where there is none.
	Rule string
	Text string
}

// What is the kind of a Note.
type What string

// The kinds of notes.
const (
	Adds      What = "adds"       // a rule of ours
	Keeps     What = "keeps"      // a rule that the bucket has
	LeavesOut What = "leaves out" // one that it has, and that does harm
	Without   What = "without"    // something that cannot be done safely
	Mind      What = "mind"       // what to know when it is applied
)

// ErrUnproven says that no configuration could be shown to be safe.
var ErrUnproven = errors.New("nothing is suggested, because it cannot be shown to be safe")

// abortDays and oldVersionDays are the bounds of what nobody reads any more:
// unfinished uploads, and versions that were deleted or overwritten. The latter
// leaves three months to bring something back.
const (
	abortDays      = 7
	oldVersionDays = 90
	// slackDays is by how much our pruning is later than the ladder, so that
	// etcd-manager's own cleanup comes first, and a store whose backups have
	// stopped keeps its last ones for longer.
	slackDays = 30
)

// ours begins the IDs of our rules. Those of an earlier suggestion are made anew.
const ours = "backstop-"

// For makes a suggestion for the bucket that all the stores are in.
func For(stores []Store) (Suggestion, error) {
	if len(stores) == 0 {
		return Suggestion{}, fmt.Errorf("%w: no store was seen", ErrUnproven)
	}
	for _, s := range stores {
		if err := seenEnough(s.Observation); err != nil {
			return Suggestion{}, err
		}
		if why, later := rules.WrittenAfter(s.Observation, s.Now); later {
			return Suggestion{}, fmt.Errorf("%w: how %s stood then cannot be told: %s", ErrUnproven, s.Observation.Store.URL, why)
		}
	}
	m := maker{stores: stores, Suggestion: Suggestion{Bucket: stores[0].Observation.Bucket.Name}}
	live, err := forecast.ConfigurationOf(stores[0].Observation)
	if err != nil {
		return Suggestion{}, fmt.Errorf("%w: the bucket's rules cannot be understood, so none of them can be kept: %w", ErrUnproven, err)
	}
	m.keep(live)
	m.abort()
	for _, s := range stores {
		m.store(s)
	}
	m.caveats(live)
	if err := m.prove(m.Rules); err != nil {
		return Suggestion{}, fmt.Errorf("%w: %w", ErrUnproven, err)
	}
	return m.Suggestion, nil
}

// seenEnough says which fact is missing without which nothing can be shown.
func seenEnough(o *audit.Observation) error {
	for _, f := range []audit.FactName{audit.FactListing, audit.FactCreated, audit.FactSpec, audit.FactVersioning, audit.FactLifecycle, audit.FactTags, audit.FactKops, audit.FactKopsState} {
		if why, not := o.Unseen(f); not {
			return fmt.Errorf("%w: %s of %s was not seen: %s", ErrUnproven, f, o.Store.URL, why)
		}
	}
	return nil
}

// A maker makes a suggestion.
type maker struct {
	Suggestion
	stores []Store
}

func (m *maker) note(what What, rule, format string, args ...any) {
	m.Notes = append(m.Notes, Note{what, rule, fmt.Sprintf(format, args...)})
}

// keep takes over the rules that the bucket has and that do no harm by themselves.
func (m *maker) keep(live lifecycle.Configuration) {
	for i, r := range live.Rules {
		alone := lifecycle.Configuration{Rules: []lifecycle.Rule{r}, DefaultMinimumSize: live.DefaultMinimumSize}
		for _, n := range live.Notes {
			if n.Rule == i {
				n.Rule = 0
				alone.Notes = append(alone.Notes, n)
			}
		}
		switch err := m.prove(alone); {
		case strings.HasPrefix(r.ID, ours):
		case err != nil:
			m.note(LeavesOut, r.Name(), "%v", err)
		default:
			r.Position = 0
			m.Rules.Rules = append(m.Rules.Rules, r)
			m.note(Keeps, r.Name(), "it takes nothing that is needed")
		}
	}
}

// abort ends unfinished uploads everywhere in the bucket. It never touches a stored
// object, and is what scanners ask for besides any rule at all.
func (m *maker) abort() {
	m.add(lifecycle.Rule{ID: ours + "unfinished-uploads", Status: "Enabled", Filter: &lifecycle.Filter{},
		AbortMultipart: &lifecycle.AbortMultipart{DaysAfterInitiation: new(abortDays)}},
		"ends multipart uploads that were not finished within %d days, in the whole bucket; it touches no stored object", abortDays)
}

func (m *maker) add(r lifecycle.Rule, format string, args ...any) {
	r.ID = m.unique(r.ID)
	m.Rules.Rules = append(m.Rules.Rules, r)
	m.note(Adds, r.ID, format, args...)
}

// maxID is how long a rule's ID may be.
const maxID = 255

// caveats says what the document cannot.
func (m *maker) caveats(live lifecycle.Configuration) {
	o := m.stores[0].Observation
	moves := slices.ContainsFunc(m.Rules.Rules, func(r lifecycle.Rule) bool {
		return len(r.Transitions) > 0 || len(r.NoncurrentTransitions) > 0
	})
	if moves && live.DefaultMinimumSize == lifecycle.VariesByClass {
		m.note(Mind, "", "the bucket moves small objects too (%s), which the rules do not hold: pass --transition-default-minimum-object-size %s when you apply them, or small objects stay", lifecycle.VariesByClass, lifecycle.VariesByClass)
	}
	if o.Store.Endpoint != "" {
		m.note(Mind, "", "%s is not AWS: it may refuse rules that AWS accepts, or carry them out otherwise", o.Store.Endpoint)
	}
	m.note(Mind, "", "this replaces all rules of the bucket: apply it where the rules are managed, and nowhere else")
}

// unique makes an ID that no other rule has.
func (m *maker) unique(id string) string {
	id = strings.ToValidUTF8(id[:min(len(id), maxID-8)], "")
	taken := func(id string) bool {
		return slices.ContainsFunc(m.Rules.Rules, func(r lifecycle.Rule) bool { return r.ID == id })
	}
	for n, first := 2, id; taken(id); n++ {
		id = fmt.Sprintf("%s-%d", first, n)
	}
	return id
}

// store bounds the old versions of one store's snapshots, and prunes the snapshots
// where a prefix separates them from everything else.
func (m *maker) store(s Store) {
	o := s.Observation
	if why := trouble(s); why != "" {
		m.note(Without, "", "there is no rule for %s: %s", o.Store.URL, why)
		return
	}
	prefix := o.Store.Key("20")
	versioned := o.Bucket.Versioning.IsSet()
	r := lifecycle.Rule{Status: "Enabled", ID: ours + "snapshots-" + name(o.Store), Filter: &lifecycle.Filter{Predicates: lifecycle.Predicates{Prefix: &prefix}}}
	m.oldVersions(&r, versioned)
	if why := m.inseparable(o, prefix); why != "" {
		m.note(Without, "", "snapshots of %s are not pruned: %s", o.Store.URL, why)
		if versioned {
			r.ID = ours + "old-versions-" + name(o.Store)
			r.Expiration = &lifecycle.Expiration{ExpiredObjectDeleteMarker: new(true)}
			m.add(r, "removes what was deleted or overwritten below %q %d days later; it touches no current object", prefix, oldVersionDays)
		}
		return
	}
	days := pruneDays(o, s.Policy)
	r.Expiration = &lifecycle.Expiration{Days: &days}
	m.add(r, "prunes the snapshots of %s after %d days, %d days later than etcd-manager itself (%s)%s. The prefix %q is their year, and matches nothing of control/",
		o.Store.URL, days, slackDays, ladder(o, s.Policy), oldVersionsSaid(versioned), prefix)
}

func (m *maker) oldVersions(r *lifecycle.Rule, versioned bool) {
	if versioned {
		r.NoncurrentExpiration = &lifecycle.NoncurrentExpiration{NoncurrentDays: new(oldVersionDays)}
	}
}

func oldVersionsSaid(versioned bool) string {
	if !versioned {
		return ""
	}
	return fmt.Sprintf(", and removes what was hidden or deleted %d days later", oldVersionDays)
}

// name makes of a store a part of a rule's ID.
func name(s audit.Store) string {
	if s.Prefix == "" {
		return "all"
	}
	return strings.ReplaceAll(s.Prefix, "/", "-")
}

// pruneDays is after how many days snapshots are pruned: later than the ladder.
func pruneDays(o *audit.Observation, p audit.Policy) int {
	keep, _, _ := forecast.Ladder(o, p.For(o))
	return int((keep+audit.Day-1)/audit.Day) + slackDays
}

func ladder(o *audit.Observation, p audit.Policy) string {
	keep, _, whose := forecast.Ladder(o, p.For(o))
	return "it keeps one of each day for " + audit.Span(keep) + ", " + whose
}
