package store

import (
	"errors"
	"strings"

	"backstop/audit"
	"backstop/store/etcdmanager"
)

// versions lists the versions and delete markers of the store. Those of the two
// control files are asked for by themselves where the whole listing did not come
// to its end.
func (l *look) versions() {
	if l.o.Bucket.Versioning.State == audit.Unset {
		l.o.ControlVersions, l.o.Versions = audit.None[[]audit.Version](), audit.None[audit.Versions]()
		return
	}
	root := dirPrefix(l.o.Store.Prefix)
	c := versionCounter{root: root}
	for v, err := range l.b.ListVersions(l.ctx, root) {
		switch {
		case err != nil:
			w := why(err)
			l.o.Versions = audit.Unknown[audit.Versions](w)
			if unknowing(err) {
				l.o.ControlVersions = audit.Unknown[[]audit.Version](w)
				return
			}
			l.controlVersions()
			return
		case c.Counted == countLimit:
			c.More = true
			l.o.Versions = audit.Is(c.sum())
			l.controlVersions()
			return
		}
		c.add(v)
	}
	l.o.Versions, l.o.ControlVersions = audit.Is(c.sum()), audit.Is(c.control)
}

// unknowing reports whether a server does not know the call, so that another of
// its kind need not be made.
func unknowing(err error) bool {
	var e *Error
	return fatal(err) || errors.As(err, &e) && (e.Cause == audit.CauseUnsupported || e.Cause == audit.CauseForeign || e.Cause == audit.CauseNotRecorded)
}

// controlVersions lists the versions and delete markers of the two control files.
func (l *look) controlVersions() {
	versions := []audit.Version{}
	for v, err := range l.b.ListVersions(l.ctx, l.o.Store.Key(etcdmanager.ControlDir, "etcd-cluster-")) {
		if err != nil {
			l.o.ControlVersions = audit.Unknown[[]audit.Version](why(err))
			return
		}
		if len(versions) < versionLimit {
			versions = append(versions, v)
		}
	}
	l.o.ControlVersions = audit.Is(versions)
}

// A versionCounter sums up a listing of versions, key by key.
type versionCounter struct {
	audit.Versions
	root    string
	control []audit.Version
	at      audit.Rewritten // the key whose versions come
	times   int             // how often it was written
}

func (c *versionCounter) add(v audit.Version) {
	c.Counted++
	if v.Key != c.at.Key {
		c.end()
		c.at = audit.Rewritten{Key: v.Key}
	}
	if strings.HasPrefix(v.Key, c.root+etcdmanager.ControlDir+"/etcd-cluster-") && len(c.control) < versionLimit {
		c.control = append(c.control, v)
	}
	if v.Marker {
		return
	}
	if !v.Latest {
		c.Noncurrent++
		c.NoncurrentBytes += v.Size
	}
	if c.times++; len(c.at.Versions) < audit.RewrittenLimit {
		c.at.Versions = append(c.at.Versions, v)
	}
}

// end keeps the versions of a key, if it is that of a snapshot's object that was
// written more than once.
func (c *versionCounter) end() {
	kind, _ := etcdmanager.Classify(strings.TrimPrefix(c.at.Key, c.root))
	if ofSnapshot := kind == etcdmanager.Data || kind == etcdmanager.Meta; ofSnapshot && c.times > 1 && len(c.Rewritten) < audit.RewrittenLimit {
		c.Rewritten = append(c.Rewritten, c.at)
	}
	c.at, c.times = audit.Rewritten{}, 0
}

func (c *versionCounter) sum() audit.Versions {
	c.end()
	if c.control == nil {
		c.control = []audit.Version{}
	}
	return c.Versions
}
