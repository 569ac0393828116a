package snapshot_test

import (
	"bytes"
	"testing"

	"backstop/store/snapshot"
	"backstop/store/snapshot/snapshottest"
)

// A copy of the file member/snap/db has no trailer, and bbolt grows its file ahead
// of its pages: that is no damage of it. Everything else is.
func TestBareDatabase(t *testing.T) {
	whole := snapshottest.Plain(t, "healthy-v3.6")
	db := whole[:len(whole)-snapshottest.TrailerSize]
	flipped := bytes.Clone(db)
	copy(flipped[210*4096+16:], bytes.Repeat([]byte{0xff}, 64))
	for name, c := range map[string]struct {
		bytes []byte
		want
	}{
		"as long as its pages":   {db, want{snapshot.Intact, "", ""}},
		"grown ahead":            {append(bytes.Clone(db), make([]byte, 16<<20)...), want{snapshot.Intact, "", ""}},
		"a page was overwritten": {flipped, want{snapshot.Damaged, snapshot.BadStructure, "page 210"}},
		"half of it":             {db[:len(db)/2], want{snapshot.Damaged, snapshot.BadLength, ""}},
		"zeros":                  {make([]byte, 1<<20), want{snapshot.Damaged, snapshot.NotSnapshot, "it begins with zeros"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int64{0, int64(len(c.bytes))} {
				got := snapshot.Verify(bytes.NewReader(c.bytes), snapshot.Options{Bare: true, Size: size})
				c.check(t, got)
				if got.Facts != nil && (got.Facts.Revision != 84 || got.Facts.Keys != 1097 || got.Facts.SHA256 != verify(whole).Facts.SHA256) {
					t.Errorf("facts %+v", got.Facts)
				}
			}
		})
	}
}
