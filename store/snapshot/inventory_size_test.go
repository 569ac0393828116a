package snapshot

import (
	"testing"
	"unsafe"
)

// What the documentation promises of a comparison's memory.
func TestWhatAKeyTakes(t *testing.T) {
	if got := unsafe.Sizeof(kept{}); got != 32 {
		t.Errorf("a key takes %d bytes", got)
	}
	if got := unsafe.Sizeof(sighting{}); got != 16 {
		t.Errorf("a sighting takes %d bytes", got)
	}
}
