package snapshot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
)

var le, be = binary.LittleEndian, binary.BigEndian

// bbolt's page header: id u64, flags u16, count u16, overflow u32.
const headerSize = 16

// The flags of a page header.
const (
	branchPage   = 0x01
	leafPage     = 0x02
	metaPage     = 0x04
	freelistPage = 0x10
)

const (
	metaMagic   = 0xED0CDAED
	metaVersion = 2
	metaSize    = 64
	trailerSize = 32
	// noFreelist is the freelist's page in a database that stores none.
	noFreelist = ^uint64(0)
	// Page sizes are those of operating systems: bbolt takes the system's.
	minPageSize, maxPageSize = 1 << 10, 64 << 10
	// maxPages keeps page numbers in 32 bits.
	maxPages = 1 << 32
)

// A meta is a meta page.
type meta struct {
	pageSize uint32
	root     uint64 // the page of the bucket of buckets
	freelist uint64
	pages    uint64 // how many there are
	txid     uint64
}

// parseMeta reads the meta page that begins at b, as bbolt does: by magic number,
// version and checksum.
func parseMeta(b []byte) (meta, error) {
	if len(b) < headerSize+metaSize {
		return meta{}, errors.New("it is cut short")
	}
	d := b[headerSize : headerSize+metaSize]
	switch {
	case le.Uint32(d) != metaMagic:
		return meta{}, errors.New("it has not bbolt's magic number")
	case le.Uint32(d[4:]) != metaVersion:
		return meta{}, fmt.Errorf("its version is %d, not %d", le.Uint32(d[4:]), metaVersion)
	}
	sum := fnv.New64a()
	_, _ = sum.Write(d[:56]) // it never fails
	if sum.Sum64() != le.Uint64(d[56:]) {
		return meta{}, errors.New("its checksum does not match")
	}
	return meta{
		pageSize: le.Uint32(d[8:]), root: le.Uint64(d[16:]), freelist: le.Uint64(d[32:]),
		pages: le.Uint64(d[40:]), txid: le.Uint64(d[48:]),
	}, nil
}

func (m meta) hasPageSize() bool {
	return m.pageSize >= minPageSize && m.pageSize <= maxPageSize && m.pageSize&(m.pageSize-1) == 0
}

// check refuses what no bbolt writes.
func (m meta) check() error {
	switch {
	case !m.hasPageSize():
		return fmt.Errorf("its page size is %d bytes", m.pageSize)
	case m.pages < 3:
		return fmt.Errorf("it counts %d pages", m.pages)
	case m.root < 2 || m.root >= m.pages:
		return fmt.Errorf("its root is page %d of %d", m.root, m.pages)
	case m.freelist != noFreelist && (m.freelist < 2 || m.freelist >= m.pages):
		return fmt.Errorf("its freelist is page %d of %d", m.freelist, m.pages)
	}
	return nil
}

// size is the length of the database in bytes.
func (m meta) size() int64 { return int64(m.pages) * int64(m.pageSize) }

// offset is where a page begins.
func (m meta) offset(page uint64) int64 { return int64(page) * int64(m.pageSize) }

// isMetaPage reports whether the header at b is that of a meta page.
func isMetaPage(b []byte, id uint64) bool {
	return len(b) >= headerSize && le.Uint64(b) == id && le.Uint16(b[8:]) == metaPage
}

// A layout is what the first bytes of a database say.
type layout struct {
	meta
	// torn says what is wrong with one of the meta pages; bbolt opens the
	// database by the other one.
	torn error
}

// errNoDatabase says that nothing at all looks like bbolt.
var errNoDatabase = errors.New("neither of its first pages is a meta page of bbolt")

// readLayout finds the meta pages, and picks one as bbolt does: of those whose
// checksum matches the one with the higher transaction id, whatever it says. So
// one that says nonsense, and was sealed again, cannot be passed over.
func readLayout(head []byte) (layout, error) {
	first, err0 := parseMeta(head)
	if err0 == nil && !first.hasPageSize() {
		return layout{}, fmt.Errorf("meta page 0 is wrong: %w", first.check())
	}
	second, err1 := secondMeta(head, first, err0)
	var l layout
	switch {
	case err0 != nil && err1 != nil:
		if !isMetaPage(head, 0) && (len(head) < headerSize+4 || le.Uint32(head[headerSize:]) != metaMagic) {
			return layout{}, errNoDatabase
		}
		return layout{}, fmt.Errorf("both meta pages are damaged: of the first %w, of the second %w", err0, err1)
	case err0 != nil:
		l = layout{second, fmt.Errorf("meta page 0 is damaged: %w", err0)}
	case err1 != nil:
		l = layout{first, fmt.Errorf("meta page 1 is damaged: %w", err1)}
	default:
		l = bothMetas(head, first, second)
	}
	if err := l.check(); err != nil {
		return layout{}, fmt.Errorf("its meta page is wrong: %w", err)
	}
	return l, nil
}

// secondMeta reads the second meta page. Where the first one does not tell the
// page size it tries all, as bbolt does.
func secondMeta(head []byte, first meta, err0 error) (meta, error) {
	if err0 == nil {
		if int(first.pageSize) > len(head) {
			return meta{}, errors.New("it is cut off")
		}
		return parseMeta(head[first.pageSize:])
	}
	for size := minPageSize; size <= maxPageSize && size < len(head); size *= 2 {
		if m, err := parseMeta(head[size:]); err == nil && int(m.pageSize) == size {
			return m, nil
		}
	}
	return meta{}, errors.New("nothing is left")
}

// bothMetas holds two meta pages against each other: a snapshot writes both from
// one transaction.
func bothMetas(head []byte, first, second meta) layout {
	l := layout{meta: first}
	if second.txid > first.txid {
		l.meta = second
		l.pageSize = first.pageSize // which bbolt takes from the first
	}
	switch {
	case !isMetaPage(head, 0):
		l.torn = errors.New("the header of meta page 0 is damaged")
	case !isMetaPage(head[first.pageSize:], 1):
		l.torn = errors.New("the header of meta page 1 is damaged")
	case first.root != second.root || first.pages != second.pages || first.freelist != second.freelist || first.pageSize != second.pageSize:
		l.torn = errors.New("its two meta pages are of different transactions, as in a copy of the file of a running server")
	}
	return l
}
