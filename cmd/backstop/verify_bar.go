package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"backstop/audit/report"
)

// A progressBar shows on a terminal how much of a snapshot was read. A nil one shows
// nothing.
type progressBar struct {
	w     io.Writer
	now   func() time.Time
	width int
	name  string
	size  int64 // 0 where it is not known

	read         int64
	begun, shown time.Time
}

// barEvery is how often a bar is drawn again.
const barEvery = 200 * time.Millisecond

// newBar gives a bar where stderr is a terminal, and else nil.
func (p *program) newBar(name string, size int64) *progressBar {
	f, isFile := p.stderr.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width < 20 {
		width = 80
	}
	at := p.now()
	return &progressBar{w: f, now: p.now, width: width, name: report.Printable(name), size: size, begun: at, shown: at}
}

// add notes that n more bytes were read.
func (b *progressBar) add(n int64) {
	if b == nil {
		return
	}
	b.read += n
	if at := b.now(); at.Sub(b.shown) >= barEvery {
		b.shown = at
		fmt.Fprintf(b.w, "\r%s\x1b[K", b.line(at.Sub(b.begun)))
	}
}

// done takes the bar away.
func (b *progressBar) done() {
	if b != nil {
		fmt.Fprint(b.w, "\r\x1b[K")
	}
}

// line draws the bar as of a time after its beginning, no wider than the
// terminal.
func (b *progressBar) line(after time.Duration) string {
	rate := int64(float64(b.read) / max(after.Seconds(), 0.001))
	if b.size <= 0 {
		return b.fit(fmt.Sprintf("  %s, %s/s", size(b.read), size(rate)))
	}
	left := ""
	if rate > 0 {
		left = fmt.Sprintf(", %v left", (time.Duration((b.size-b.read)/rate) * time.Second).Round(time.Second))
	}
	const cells = 24
	full := int(min(cells, cells*b.read/b.size))
	return b.fit(fmt.Sprintf(" [%s%s] %3d%% of %s, %s/s%s", strings.Repeat("#", full), strings.Repeat(".", cells-full),
		100*b.read/b.size, size(b.size), size(rate), left))
}

// fit puts as much of the name's end before s as there is room for.
func (b *progressBar) fit(s string) string {
	name := []rune(b.name)
	room := b.width - 1 - len(s)
	if room < 0 {
		return s[:b.width-1]
	}
	if len(name) > room {
		name = name[len(name)-room:]
	}
	return string(name) + s
}
