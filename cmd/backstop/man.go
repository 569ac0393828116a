package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func (p *program) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "man DIRECTORY",
		Short:   "Write the man pages",
		Long:    "Write a man page for each command into DIRECTORY, which is made if it is not there.",
		Example: "  backstop man /usr/local/share/man/man1",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := p.man(c.Root(), args[0]); err != nil {
				return &failure{status: exitInternal, err: fmt.Errorf("write man pages: %w", err)}
			}
			return nil
		},
	}
}

func (p *program) man(root *cobra.Command, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root.DisableAutoGenTag = true // the pages are of this version, whenever they are made
	now := p.now().UTC()
	return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "backstop " + versionString(), Date: &now}, dir)
}
