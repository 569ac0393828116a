package store

import (
	"sync"
	"sync/atomic"
)

// A pool bounds how many things of a survey are done at a time, whatever they are
// and at however many places. What runs in it must not wait for it.
type pool chan struct{}

func newPool(size int) pool { return make(pool, max(1, size)) }

// each does something for each of n, as soon as there is room, in about the order
// of their numbers; it returns when all is done.
func (p pool) each(n int, do func(i int)) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(n, cap(p)) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				p.do(func() { do(i) })
			}
		})
	}
	all.Wait()
}

// do does one thing, as soon as there is room.
func (p pool) do(what func()) {
	p <- struct{}{}
	defer func() { <-p }()
	what()
}
