// Package snapshot reads one etcd snapshot and says whether it would restore.
//
// [Verify] takes a stream, as etcd-manager stores it (gzip) or as `etcdctl
// snapshot save` writes it (plain), and reads it once, to its end. It needs no
// file and no second pass. What it keeps is a summary of each page: its memory
// grows with the number of keys and pages, and not with the bytes of the
// values.
//
// # The format
//
// A snapshot is a bbolt database followed by the sha256 of its bytes. The
// database is a row of pages. Its first two are meta pages; they say how large a
// page is, how many there are, and where the tree begins. So the length of the
// whole is known from the first bytes, and a snapshot that was cut or padded is
// refused there ([Options.Tail]).
//
// # Why one pass is enough
//
// Pages come in the order of the file, and the tree is known at its end alone.
// Pages that nothing refers to hold old copies, which must not be taken for the
// tree's. So every position where a page could begin is summed up as a candidate,
// and what is wrong with it is remembered. When the stream has ended the tree is
// walked from its root over the summaries: each page is claimed once, has the
// right type, lies between the keys of its parent, and its keys rise. What is
// wrong with a page counts if the tree leads there, and not otherwise.
//
// # What it trusts
//
// Nothing. Every length is held against the bytes that are there, nothing is
// allocated because a number in the file says so, and all that is kept counts
// towards [Options.MaxMemory]. Past that the verdict is [Unverified].
//
// The names and numbers of the format are from the sources of bbolt 1.4 and of
// etcd 3.6: bbolt's internal/common, etcd's server/storage/schema and mvcc.
package snapshot
