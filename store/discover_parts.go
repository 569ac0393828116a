package store

import (
	"context"
	"slices"

	"backstop/audit"
)

// The pages of a listing follow each other: each names the next one. A bucket with
// hundreds of thousands of snapshots is hundreds of pages, and takes minutes so. A
// long listing is therefore divided, and its parts are listed at a time.
const (
	// undivided is how many keys are listed before a listing counts as long. Most
	// buckets have fewer, and cost no request more.
	undivided = 4000
	// partsPerRoom is how many parts there are for each that can be listed at a
	// time: more than one, because they are not alike.
	partsPerRoom = 4
	// pagesPerPart keeps a part from being so short that what it costs (a page that
	// goes beyond its end) counts.
	pagesPerPart = 4
	// maxFolderDepth is how many folders with nothing beside them are entered in
	// the search for some by which to divide.
	maxFolderDepth = 4
)

// listInParts looks at every key below prefix. What it finds does not depend on how
// it divides the keys: each lies in one part, whatever the bounds are. Where a part
// cannot be listed, as where a server does not know how to begin after a key, all of
// it is listed again undivided, and that has the word.
func listInParts(ctx context.Context, b Bucket, prefix string, at pool) (keysSeen, error) {
	var head keysSeen
	var last string
	var bounds []string
	var err error
	most := partsPerRoom * cap(at)
	if cap(at) == 1 {
		most = 0 // it gains nothing
	}
	at.do(func() { head, last, bounds, err = listHead(ctx, b, prefix, most) })
	if err != nil || len(bounds) == 0 {
		return head, err
	}
	parts, errs := make([]keysSeen, len(bounds)+1), make([]error, len(bounds)+1)
	from, to := append([]string{last}, bounds...), append(bounds, "")
	at.each(len(parts), func(i int) { parts[i], errs[i] = listPart(ctx, b, prefix, from[i], to[i]) })
	if err := first(errs); err != nil {
		if fatal(err) || ctx.Err() != nil {
			return keysSeen{}, err
		}
		at.do(func() { head, _, _, err = listHead(ctx, b, prefix, 0) })
		return head, err
	}
	for _, p := range parts {
		head.join(p)
	}
	return head, nil
}

func first(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *keysSeen) join(next keysSeen) {
	s.specs = append(s.specs, next.specs...)
	for folder, files := range next.state {
		if s.state == nil {
			s.state = map[string][]audit.Object{}
		}
		s.state[folder] = append(s.state[folder], files...)
	}
	for at := range next.charm {
		s.noteCharm(at)
	}
	for at, r := range next.roots {
		o := s.roots[at]
		s.roots[at] = root{snapshots: o.snapshots || r.snapshots, control: o.control || r.control}
	}
}

// listHead lists all keys, or as many as are listed undivided: then it gives the
// last one, and the bounds by which to divide the rest into at most so many parts.
func listHead(ctx context.Context, b Bucket, prefix string, parts int) (seen keysSeen, last string, bounds []string, err error) {
	seen.roots = map[string]root{}
	n := 0
	for o, err := range b.List(ctx, ListInput{Prefix: prefix}) {
		if err != nil {
			return seen, "", nil, err
		}
		seen.add(o)
		if n++; n == undivided && parts > 1 {
			if bounds = divide(ctx, b, prefix, o.Key, parts); len(bounds) > 0 {
				return seen, o.Key, bounds, nil
			}
		}
	}
	return seen, "", nil, nil
}

// listPart lists the keys behind from, up to and with to; an empty to is the end.
func listPart(ctx context.Context, b Bucket, prefix, from, to string) (keysSeen, error) {
	seen := keysSeen{roots: map[string]root{}, from: from}
	for o, err := range b.List(ctx, ListInput{Prefix: prefix, StartAfter: from}) {
		if err != nil {
			return keysSeen{}, err
		}
		if to != "" && o.Key > to {
			break
		}
		seen.add(o)
	}
	return seen, nil
}

// divide gives the bounds, in order, by which to divide what is listed behind last,
// into at most so many parts. It goes by folders, of which a cluster has one: they
// are as good a guess as any of how much there is. Without a guess there are none.
func divide(ctx context.Context, b Bucket, prefix, last string, parts int) []string {
	folders, err := b.Folders(ctx, prefix)
	for range maxFolderDepth {
		if err != nil || len(folders) != 1 {
			break
		}
		folders, err = b.Folders(ctx, folders[0])
	}
	if err != nil {
		return nil // it was worth a try
	}
	behind, _ := slices.BinarySearch(folders, last)
	ahead := folders[behind:]
	pages := undivided / pageSize * len(ahead) / max(1, behind) // if the rest is as the head was
	parts = min(parts, pages/pagesPerPart, len(ahead))
	var bounds []string
	for i := 1; i < parts; i++ {
		bounds = append(bounds, ahead[i*len(ahead)/parts])
	}
	return bounds
}

// pageSize is how many keys a page of a listing has in S3.
const pageSize = 1000
