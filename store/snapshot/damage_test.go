package snapshot_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"testing"

	"backstop/store/snapshot"
	"backstop/store/snapshot/snapshottest"
)

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Flips, cuts and splices of the inflated bytes: not one may pass. `make oracle`
// tries all 10,000.
func TestNoRandomDamagePasses(t *testing.T) {
	n := 300
	if os.Getenv("BACKSTOP_ORACLE") != "" {
		n = 10_000
	}
	plain := snapshottest.Plain(t, "post-reset-v3.6")
	r := rand.New(rand.NewPCG(11, 30))
	b := make([]byte, 0, 2*len(plain))
	for i := range n {
		var what string
		b, what = spoil(r, append(b[:0], plain...))
		if string(b) == string(plain) {
			continue // the bytes that were put in were the same
		}
		got := verify(b)
		if got.Verdict != snapshot.Damaged {
			t.Errorf("%d: %s: %s, %s", i, what, got.Verdict, got.Reason)
		}
	}
}

// spoil changes b at random, and says how.
func spoil(r *rand.Rand, b []byte) ([]byte, string) {
	at, to := r.IntN(len(b)), r.IntN(len(b))
	n := 1 + r.IntN(9000)
	switch r.IntN(6) {
	case 0:
		b[at] ^= 1 << r.IntN(8)
		return b, "a bit"
	case 1:
		for range 1 + r.IntN(20) {
			b[r.IntN(len(b))] = byte(r.Uint32())
		}
		return b, "some bytes"
	case 2:
		return b[:at], "a cut"
	case 3:
		return append(b[:at], b[min(at+n, len(b)):]...), "a piece is missing"
	case 4:
		copy(b[to:min(to+n, len(b))], b[at:])
		return b, "a piece lies over another"
	}
	clear(b[at:min(at+n, len(b))])
	return b, "zeros"
}
