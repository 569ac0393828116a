package store

import (
	"context"
	"errors"
	"strings"

	"backstop/audit"
	"backstop/store/etcdmanager"
)

// Probe asks whether the control files of a store are still as they were observed:
// the cheapest question that can see a reset coming. It costs two conditional
// requests, and a listing of control/ where they do not settle it. It reports true
// where nothing has changed; an error says that this could not be told.
//
// A control file that was not seen when the store was observed is no change: the
// next full look asks for it again.
func Probe(ctx context.Context, b Bucket, o *audit.Observation) (same bool, err error) {
	settled := true
	var failed []error
	for _, f := range []audit.Fact[audit.Document]{o.Created, o.Spec} {
		if !f.IsSet() {
			settled = false
			continue
		}
		switch same, err := b.Unchanged(ctx, f.Value.Object); {
		case errors.Is(err, ErrMissing):
			settled = false
		case err != nil:
			settled = false
			failed = append(failed, err)
		case !same && f.Value.Unreadable == "":
			return false, nil
		}
	}
	if settled {
		return true, nil
	}
	there, err := controlFiles(ctx, b, o.Store)
	if err != nil {
		return false, errors.Join(append(failed, err)...)
	}
	for path, f := range map[string]audit.Fact[audit.Document]{etcdmanager.CreatedPath: o.Created, etcdmanager.SpecPath: o.Spec} {
		if f.Seen() && f.IsSet() != there[path] {
			return false, nil
		}
	}
	return len(failed) == 0, errors.Join(failed...)
}

// controlFiles says which of the two control files a listing of control/ has.
func controlFiles(ctx context.Context, b Bucket, s audit.Store) (map[string]bool, error) {
	there := map[string]bool{}
	root := s.Key("")
	for o, err := range b.List(ctx, ListInput{Prefix: s.Key(etcdmanager.ControlDir + "/")}) {
		if err != nil {
			return nil, err
		}
		there[strings.TrimPrefix(o.Key, root)] = true
	}
	return there, nil
}
