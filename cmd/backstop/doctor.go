package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"backstop/audit"
	"backstop/audit/report"
	"backstop/rules"
	"backstop/store"
)

func (p *program) doctorCommand() *cobra.Command {
	o := &options{}
	c := &cobra.Command{
		Use:   "doctor [STORE...]",
		Short: "Say what this identity may look at, and which rules are blind without the rest",
		Long: `Say which S3 and KMS actions the identity that backstop runs as may do at each
store, which rules are blind for want of the others, and which lines its policy
lacks. It looks as audit does, and makes no other requests.

Exit status: 0 every necessary fact was seen, 3 some was not.
`,
		Example: "  backstop doctor s3://kops-state",
		RunE: func(c *cobra.Command, args []string) error {
			if err := p.fromEnvironment(c); err != nil {
				return err
			}
			return p.doctor(c.Context(), args, o)
		},
	}
	o.addLooking(c.Flags())
	return c
}

func (p *program) doctor(ctx context.Context, args []string, o *options) error {
	if err := o.check(); err != nil {
		return err
	}
	var all examinations
	problems, _, err := p.see(ctx, args, o, &all)
	if err != nil {
		return err
	}
	blind := len(problems) > 0 || len(all) == 0
	lacks := map[string][]string{} // actions by bucket
	var buckets []string
	for i := range all {
		e := &all[i]
		fmt.Fprint(p.stdout, e.text.String())
		blind = blind || e.blind
		if len(e.denied) > 0 && lacks[e.bucket] == nil {
			buckets = append(buckets, e.bucket)
		}
		lacks[e.bucket] = append(lacks[e.bucket], e.denied...)
	}
	for _, pr := range problems {
		fmt.Fprintf(p.stdout, "not looked at: %s: %s\n", report.Printable(pr.Target), report.Printable(pr.Message))
	}
	for _, b := range buckets {
		fmt.Fprintf(p.stdout, "\nadd to the policy of the identity, for bucket %s:\n%s\n", report.Printable(b), statements(b, lacks[b]))
	}
	if blind {
		return status(exitUnknown)
	}
	return nil
}

// examinations are what is to say of each store.
type examinations []examination

type examination struct {
	text   strings.Builder
	bucket string
	blind  bool     // for a necessary fact
	denied []string // actions
}

// expect implements viewer.
func (all *examinations) expect(policies []audit.Policy) {
	*all = make(examinations, len(policies))
}

// show implements viewer.
func (all *examinations) show(i int, s sight) {
	e := &(*all)[i]
	e.bucket = s.Observation.Store.Bucket
	e.blind, e.denied = examine(&e.text, s.Observation)
}

// examine prints what was and was not seen of one store. It reports whether a
// necessary fact is among what was not, and which actions were refused.
func examine(w io.Writer, o *audit.Observation) (necessary bool, denied []string) {
	fmt.Fprintf(w, "%s\n", report.Printable(o.Store.URL))
	for _, fact := range audit.Facts {
		action := store.FactActions[fact]
		why, not := o.Unseen(fact)
		if !not {
			if action != "" && asked(o, fact) {
				fmt.Fprintf(w, "  %-9s %-34s %s\n", "may", action, fact)
			}
			continue
		}
		word := map[audit.Cause]string{
			audit.CauseDenied: "may not", audit.CauseUnsupported: "unknown", audit.CauseForeign: "unknown", audit.CauseNotRecorded: "unknown",
		}[why.Cause]
		if word == "" {
			word = "not seen"
		}
		if why.Permission != "" {
			action = why.Permission
		}
		fmt.Fprintf(w, "  %-9s %-34s %s: %s\n", word, action, fact, report.Printable(why.Reason))
		if b := blindRules(fact); len(b) > 0 {
			fmt.Fprintf(w, "  %-9s %-34s blind: %s\n", "", "", strings.Join(b, ", "))
		}
		if fact.IsNecessary() {
			fmt.Fprintf(w, "  %-9s %-34s the verdict is UNKNOWN at best\n", "", "")
			necessary = true
		}
		if why.Cause == audit.CauseDenied && action != "" {
			denied = append(denied, action)
		}
	}
	return necessary, denied
}

// asked reports whether a fact that is not unseen took a request: some are looked
// for only where they matter.
func asked(o *audit.Observation, fact audit.FactName) bool {
	switch fact {
	case audit.FactTags:
		return o.Created.Value.Tags.IsSet() || o.Spec.Value.Tags.IsSet()
	case audit.FactRestoreMeta:
		return o.RestoreMeta.IsSet()
	case audit.FactNewestMeta:
		return o.NewestMeta.IsSet()
	case audit.FactQueue:
		return len(o.Queue.Value) > 0
	case audit.FactKops:
		return o.Kops.IsSet()
	case audit.FactKopsState:
		return o.Kops.Value.Known
	case audit.FactControlVersions:
		return o.ControlVersions.IsSet()
	case audit.FactVersions:
		return o.Versions.IsSet()
	}
	return true
}

// blindRules are the rules that need a fact.
func blindRules(fact audit.FactName) []string {
	var ids []string
	for _, r := range rules.All {
		if slices.Contains(r.Needs, fact) {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// statements are the lines that a policy lacks, as IAM has them.
func statements(bucket string, actions []string) string {
	slices.Sort(actions)
	type statement struct {
		Effect   string
		Action   []string
		Resource string
	}
	byResource := map[string]*statement{}
	var all []*statement
	for _, a := range slices.Compact(actions) {
		resource := "arn:aws:s3:::" + bucket
		switch {
		case strings.HasPrefix(a, "kms:"):
			resource = "THE-KEY'S-ARN"
		case slices.Contains(store.ObjectActions, a):
			resource += "/*"
		}
		s := byResource[resource]
		if s == nil {
			s = &statement{Effect: "Allow", Resource: resource}
			byResource[resource] = s
			all = append(all, s)
		}
		s.Action = append(s.Action, a)
	}
	body, err := json.MarshalIndent(all, "  ", "  ")
	if err != nil {
		return err.Error() // strings always marshal
	}
	return "  " + string(body)
}
