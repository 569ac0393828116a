package report_test

import (
	"regexp"
	"strings"
	"testing"

	"backstop/audit/report"
)

// Whether to use color is for the command to decide, with NO_COLOR in mind; the
// format does as it is told, and color takes nothing away and adds no text.
func TestTextColor(t *testing.T) {
	plain := render(t, "text", everything(hostile), report.Options{})
	if strings.Contains(plain, "\x1b") {
		t.Error("escape sequences without Color")
	}
	for _, env := range []string{"", "1"} {
		t.Setenv("NO_COLOR", env)
		colored := render(t, "text", everything(hostile), report.Options{Color: true})
		if !strings.Contains(colored, "\x1b[1;31mCRITICAL\x1b[0m: found") {
			t.Errorf("NO_COLOR=%q: the verdict is not red", env)
		}
		if got := sequence.ReplaceAllString(colored, ""); got != plain {
			t.Errorf("NO_COLOR=%q: without the colors it differs from the plain text:\n%s", env, got)
		}
	}
}

var sequence = regexp.MustCompile("\x1b\\[(?:1;31|1;35|33|32|0)m")

func TestTextWidth(t *testing.T) {
	free := render(t, "text", everything(hostile), report.Options{})
	for _, width := range []int{0, 1, 39} {
		if got := render(t, "text", everything(hostile), report.Options{Width: width}); got != free {
			t.Errorf("width %d, too narrow to wrap at, changes the text", width)
		}
	}
	for _, width := range []int{40, 72, 200} {
		got := render(t, "text", everything(hostile), report.Options{Width: width})
		if strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(free), " ") {
			t.Errorf("width %d changes words", width)
		}
		for _, line := range strings.Split(got, "\n") {
			prose := strings.HasPrefix(line, "    ")
			// One word may be longer than a line, with what introduces it.
			if words := strings.Fields(line); prose && len(line) > width && len(words) > 3 {
				t.Errorf("width %d: a line of %d: %q", width, len(line), line)
			}
		}
	}
}

// The first words of a store's line are its state and its verdict; the last line
// is the verdict of the run.
func TestTextLines(t *testing.T) {
	lines := strings.Split(strings.TrimSuffix(render(t, "text", everything("x"), report.Options{}), "\n"), "\n")
	if !regexp.MustCompile(`^imminent +CRITICAL +s3://kops/prod/backups/etcd/main +12 snapshots, newest 2026-11-30 18:04:10Z \(3m ago\)$`).MatchString(lines[0]) {
		t.Errorf("first line %q", lines[0])
	}
	if last := lines[len(lines)-1]; last != "CRITICAL: found 5 critical, 2 unknown, 4 warning, 2 info; checked 9 of 10 stores; 2 places not audited" {
		t.Errorf("last line %q", last)
	}
}
