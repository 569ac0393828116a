package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// Every command has a man page, with its flags and the exit statuses.
func TestMan(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man1")
	if r := command(t, at("2026-12-01T00:00:00Z"), "man", dir); r.code != 0 {
		t.Fatalf("exit %d: %s", r.code, r.stderr)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "backstop-*.1"))
	if err != nil || len(pages) < 12 {
		t.Errorf("%d pages: %v", len(pages), err)
	}
	page := readText(t, filepath.Join(dir, "backstop-audit.1"))
	for _, say := range []string{"SYNOPSIS", "max-requests-per-second", "Exit status"} {
		if !strings.Contains(page, say) {
			t.Errorf("backstop-audit.1 does not say %q:\n%s", say, page)
		}
	}
}

// Completion is there for the shells that people use, and knows the commands.
func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if r := command(t, at("2026-12-01T00:00:00Z"), "completion", shell); r.code != 0 || !strings.Contains(r.stdout, "backstop") {
			t.Errorf("%s: exit %d", shell, r.code)
		}
	}
	if r := command(t, at("2026-12-01T00:00:00Z"), "__complete", "mer"); !strings.Contains(r.stdout, "merge\t") {
		t.Errorf("mer is completed to %q", r.stdout)
	}
}
