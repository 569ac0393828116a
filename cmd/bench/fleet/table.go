package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
)

// The targets of an audit beside a client that makes the same requests.
const (
	targetWall   = 1.2 // times the client's
	targetMemory = 64  // MiB above the client's
)

func wall(u usage) float64   { return u.Wall.Seconds() }
func cpu(u usage) float64    { return u.CPU.Seconds() }
func memory(u usage) float64 { return float64(u.RSS) / (1 << 20) }

func ratio(a, b float64) float64      { return a / b }
func difference(a, b float64) float64 { return a - b }

// print shows what was measured.
func (c *contest) print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\twall, s\tCPU, s\tpeak memory, MiB\trequests\t")
	for _, one := range []*contestant{c.audit, c.same, c.listing} {
		total := 0
		for _, n := range one.asked {
			total += n
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d\t\n", one.name, spread("%.2f", one.of(wall)), spread("%.2f", one.of(cpu)), spread("%.1f", one.of(memory)), total)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	times, more := c.audit.beside(c.same, wall, ratio), c.audit.beside(c.same, memory, difference)
	fmt.Fprintf(w, "wall, audit / same requests: %s; target at most %.1f: %s\n", spread("%.2f", times), targetWall, met(times, targetWall))
	fmt.Fprintf(w, "peak memory, audit - same requests: %s MiB; target at most %d: %s\n", spread("%+.1f", more), targetMemory, met(more, targetMemory))
	fmt.Fprintf(w, "CPU, audit / same requests: %s\n", spread("%.2f", c.audit.beside(c.same, cpu, ratio)))
	fmt.Fprintf(w, "wall, audit / keys alone: %s\n", spread("%.2f", c.audit.beside(c.listing, wall, ratio)))
	fmt.Fprintln(w, "requests of the audit, by kind:")
	for _, kind := range slices.Sorted(maps.Keys(c.audit.asked)) {
		fmt.Fprintf(w, "%8d %s\n", c.audit.asked[kind], kind)
	}
	return nil
}

// of gives one figure of all runs.
func (c *contestant) of(figure func(usage) float64) []float64 {
	var all []float64
	for _, u := range c.measured {
		all = append(all, figure(u))
	}
	return all
}

// beside compares a figure with that of another in the same round: the machine is
// as busy for both.
func (c *contestant) beside(other *contestant, figure func(usage) float64, compare func(a, b float64) float64) []float64 {
	var all []float64
	for i, u := range c.measured {
		all = append(all, compare(figure(u), figure(other.measured[i])))
	}
	return all
}

func met(measured []float64, target float64) string {
	if mid, _, _ := median(measured); mid <= target {
		return "met"
	}
	return "MISSED"
}

// spread writes the median with the least and the most.
func spread(format string, of []float64) string {
	mid, least, most := median(of)
	return fmt.Sprintf(format+" ("+format+" to "+format+")", mid, least, most)
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
