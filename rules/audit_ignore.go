package rules

import (
	"fmt"
	"time"

	"backstop/audit"
)

var auditIgnore = audit.Rule{
	ID:         "audit/ignore",
	Title:      "an exception in the configuration has ended, or does nothing",
	Severities: onlyInfo,
	Needs:      audit.Facts,
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		var found []audit.Finding
		for _, e := range idle(o, p, now) {
			if p.AnsweredElsewhere(e.name) {
				continue
			}
			where := e.name
			if p.Entry != "" {
				where = p.Entry + "." + e.name
			}
			found = append(found, audit.Found(audit.Info, "%s", e.message).
				Saw(where+" of the configuration: "+e.is, "an exception that is needed").
				Todo(e.do))
		}
		if role := p.RoleOf(o); p.Role != "" && p.Role != audit.Live && role == audit.Live {
			found = append(found, audit.Found(audit.Info,
				"the configuration calls this store a %s, and kops names it as the one that %s's etcd %s writes to: it is judged as a live one", p.Role, o.Kops.Value.Cluster, o.Kops.Value.Etcd).
				Saw("role "+string(p.Role), "role live").
				Todo("Correct the role, or move the cluster's backupStore."))
		}
		return found
	},
}

// An idleException is an exception without effect.
type idleException struct {
	name    string // as audit.ExceptionName gives it
	is      string // what it says
	message string
	do      string
}

// idle finds the exceptions that have no effect on a store. One whose rule could
// not look is left out: nobody can tell.
func idle(o *audit.Observation, p audit.Policy, now time.Time) []idleException {
	if !p.Any() {
		return nil
	}
	const takeOut = "Take it out of the configuration."
	var list []idleException
	add := func(kind string, i int, is, do, message string, args ...any) {
		list = append(list, idleException{name: audit.ExceptionName(kind, i), is: is, message: fmt.Sprintf(message, args...), do: do})
	}
	for i, a := range p.Assume {
		is := fmt.Sprintf("%s is %s until %s (%s)", a.Fact, a.Value, audit.Until(a.Until), a.Reason)
		switch a.Standing(o, now) {
		case audit.Expired:
			add("assume", i, is, "Look at the provider's console again, and set a new end; or take it out.",
				"the assumption that %s is %s ended on %s", a.Fact, a.Value, audit.Until(a.Until))
		case audit.Unused:
			add("assume", i, is, takeOut, "the assumption that %s is %s is not needed: the server says so itself", a.Fact, a.Value)
		case audit.Wrong:
			add("assume", i, is, takeOut, "the assumption that %s is %s is wrong: the server says otherwise, and what was seen counts", a.Fact, a.Value)
		case audit.Unfit:
			why, _ := o.Unseen(a.Fact)
			add("assume", i, is, remedy(why), "the assumption that %s is %s does not count: it stands in for a provider that cannot tell, and this one can (%s)", a.Fact, a.Value, why.Reason)
		}
	}
	if len(p.Acknowledged) == 0 && len(p.Ignore) == 0 {
		return list
	}
	speaking := audit.Check(looking, o, p, now)
	for i, a := range p.Acknowledged {
		if a.Standing(looking, speaking, o) == audit.Unused {
			add("acknowledged", i, fmt.Sprintf("event %s of %s (%s)", a.Event, a.Rule, a.Reason), takeOut,
				"%s does not speak of the event %s that is acknowledged", a.Rule, a.Event)
		}
	}
	for i, g := range p.Ignore {
		is := fmt.Sprintf("%s until %s (%s)", g.Rule, audit.Until(g.Until), g.Reason)
		switch g.Standing(looking, speaking, o, now) {
		case audit.Expired:
			add("ignore", i, is, "Take it out of the configuration; or, if the reason still holds, set a new end.",
				"the ignoring of %s ended on %s, and its findings count again", g.Rule, audit.Until(g.Until))
		case audit.Unused:
			add("ignore", i, is, takeOut, "%s is ignored and has nothing to say", g.Rule)
		}
	}
	return list
}

// Idle names the exceptions of a policy that have no effect on a store, and
// those in force or undecided are not among them. An entry of a configuration
// may stand for many stores: an exception is idle when it is so for all.
func Idle(o *audit.Observation, p audit.Policy, now time.Time) []string {
	p = p.For(o)
	var names []string
	for _, e := range idle(p.Assuming(o, now), p, now) {
		names = append(names, e.name)
	}
	return names
}
