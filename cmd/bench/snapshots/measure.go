package main

import (
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"syscall"
	"text/tabwriter"
	"time"
)

// A target is what is asked of verify: at most so much of what the others take,
// and so many MiB at its peak.
type target struct {
	wall, cpu []float64 // beside each of the others
	memory    float64
}

var targets = map[int]target{
	640:  {wall: []float64{0.60, 0.45}, cpu: []float64{0.60, 0.55}, memory: 48},
	2500: {wall: []float64{0.60, 0.45}, cpu: []float64{0.60, 0.55}, memory: 110},
}

// run measures once.
func (c *contestant) run() error {
	var out bytes.Buffer
	cmd := exec.Command(c.command[0], c.command[1:]...)
	cmd.Stdout, cmd.Stderr = &out, &out
	begin := time.Now()
	err := cmd.Run()
	u := usage{wall: time.Since(begin)}
	if err != nil {
		return fmt.Errorf("%s: %w: %s", c.name, err, out.String())
	}
	u.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if r, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		u.rss = r.Maxrss * 1024 // Linux counts KiB
	}
	c.measured = append(c.measured, u)
	return nil
}

func wall(u usage) float64   { return u.wall.Seconds() }
func cpu(u usage) float64    { return u.cpu.Seconds() }
func memory(u usage) float64 { return float64(u.rss) / (1 << 20) }

// show prints what was measured, and what was asked.
func show(w io.Writer, all []*contestant, asked target) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\twall, s\tCPU, s\tpeak memory, MiB\t")
	for _, c := range all {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t\n", c.name, spread(c.of(wall)), spread(c.of(cpu)), spread(c.of(memory)))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	ours := all[0]
	for i, other := range all[1:] {
		verdict(w, "wall beside "+other.name, ours.beside(other, wall), asked.wall, i)
		verdict(w, "CPU beside "+other.name, ours.beside(other, cpu), asked.cpu, i)
	}
	verdict(w, "peak memory, MiB", ours.of(memory), []float64{asked.memory}, 0)
	return nil
}

func verdict(w io.Writer, what string, measured, asked []float64, i int) {
	fmt.Fprintf(w, "%s: %s", what, spread(measured))
	if i < len(asked) && asked[i] > 0 {
		word := "met"
		if mid, _, _ := median(measured); mid > asked[i] {
			word = "MISSED"
		}
		fmt.Fprintf(w, "; target at most %.2f: %s", asked[i], word)
	}
	fmt.Fprintln(w)
}

// of gives one figure of all runs.
func (c *contestant) of(figure func(usage) float64) []float64 {
	var all []float64
	for _, u := range c.measured {
		all = append(all, figure(u))
	}
	return all
}

// beside divides a figure by the other's of the same round: the machine is as
// busy for both.
func (c *contestant) beside(other *contestant, figure func(usage) float64) []float64 {
	var all []float64
	for i, u := range c.measured {
		all = append(all, figure(u)/figure(other.measured[i]))
	}
	return all
}

// spread writes the median with the least and the most.
func spread(of []float64) string {
	mid, least, most := median(of)
	return fmt.Sprintf("%.2f (%.2f to %.2f)", mid, least, most)
}

// median gives the middle of what was measured, and the ends.
func median(of []float64) (mid, least, most float64) {
	s := slices.Sorted(slices.Values(of))
	mid = s[len(s)/2]
	if len(s)%2 == 0 {
		mid = (s[len(s)/2-1] + mid) / 2
	}
	return mid, s[0], s[len(s)-1]
}
