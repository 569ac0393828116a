package snapshot

import (
	"errors"
	"reflect"
)

// DefaultMaxMemory is what a verification may keep, in bytes, where nothing
// else is said.
const DefaultMaxMemory = 1 << 30

var errTooBig = errors.New("it needs more memory than it may have")

// A budget counts what is kept against what may be.
type budget struct{ left int64 }

// take reports whether n more bytes may be kept.
func (b *budget) take(n int64) bool {
	if n > b.left {
		return false
	}
	b.left -= n
	return true
}

// give takes bytes back that are kept no longer.
func (b *budget) give(n int64) { b.left += n }

// slabSize is how many elements a slab grows by.
const slabSize = 1 << 12

// A slab is a list that grows without copying what it holds, so that there are
// never two copies at a time.
type slab[T any] struct {
	parts [][]T
	n     uint32
	bytes int64 // of one part
}

func newSlab[T any]() slab[T] {
	return slab[T]{bytes: slabSize * int64(reflect.TypeFor[T]().Size())}
}

// add appends an element, and gives nil where the budget is used up.
func (s *slab[T]) add(b *budget, v T) *T {
	i := s.n % slabSize
	if i == 0 && int(s.n/slabSize) == len(s.parts) {
		if s.n > 1<<32-2*slabSize || !b.take(s.bytes) {
			return nil
		}
		s.parts = append(s.parts, make([]T, slabSize))
	}
	at := &s.parts[s.n/slabSize][i]
	*at = v
	s.n++
	return at
}

// at gives the element with index i.
func (s *slab[T]) at(i uint32) *T { return &s.parts[i/slabSize][i%slabSize] }

// cut forgets the elements from n on.
func (s *slab[T]) cut(n uint32) { s.n = n }
