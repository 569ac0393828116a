package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"backstop/rules"
	"backstop/rules/lint"
)

func (p *program) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "explain [RULE]",
		Short: "Print the runbook page of a rule, or the list of rules",
		Args:  cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return ruleIDs(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				fmt.Fprint(p.stdout, rules.Index()+lint.Index())
				return nil
			}
			if !slices.Contains(ruleIDs(), args[0]) {
				return &failure{status: exitUsage, err: fmt.Errorf("there is no rule %q", args[0]), hint: closest(args[0])}
			}
			page, err := rules.Page(args[0])
			if _, ok := lint.Named(args[0]); ok {
				page, err = lint.Page(args[0])
			}
			if err != nil {
				return &failure{status: exitInternal, err: err}
			}
			fmt.Fprint(p.stdout, page)
			return nil
		},
	}
}

func ruleIDs() []string {
	var ids []string
	for _, r := range rules.All {
		ids = append(ids, r.ID)
	}
	for _, r := range lint.All {
		ids = append(ids, r.ID)
	}
	return ids
}

// closest suggests the rules that hold what was typed.
func closest(typed string) string {
	_, name, _ := strings.Cut("/"+typed, "/")
	var like []string
	for _, id := range ruleIDs() {
		if strings.Contains(id, strings.Trim(name, "/")) {
			like = append(like, id)
		}
	}
	if len(like) == 0 || len(like) == len(ruleIDs()) {
		return "`backstop explain` lists the rules"
	}
	return "did you mean " + strings.Join(like, " or ") + "?"
}
