package main

import (
	"container/heap"
	"time"
)

// A clock is simulated time, and what is due.
type clock struct {
	now  time.Time
	due  agenda
	made int // appointments so far, so that those of one time keep their order
}

// at does something at a time; one that has passed is now.
func (c *clock) at(t time.Time, do func()) {
	c.made++
	heap.Push(&c.due, appointment{t, c.made, do})
}

func (c *clock) after(d time.Duration, do func()) { c.at(c.now.Add(d), do) }

// run does what is due before a time, and ends there.
func (c *clock) run(until time.Time) {
	for len(c.due) > 0 && c.due[0].at.Before(until) {
		next := heap.Pop(&c.due).(appointment)
		if next.at.After(c.now) {
			c.now = next.at
		}
		next.do()
	}
	c.now = until
}

type appointment struct {
	at    time.Time
	order int
	do    func()
}

// An agenda implements heap.Interface.
type agenda []appointment

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, j int) bool {
	if a[i].at.Equal(a[j].at) {
		return a[i].order < a[j].order
	}
	return a[i].at.Before(a[j].at)
}
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)   { *a = append(*a, x.(appointment)) }
func (a *agenda) Pop() any {
	last := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return last
}
