package snapshot

import (
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// etcd's buckets, the same from 3.4 to 3.7 (etcd's server/storage/schema/bucket.go).
const (
	keyBucket     = "key"
	metaBucket    = "meta"
	leaseBucket   = "lease"
	memberBucket  = "members"
	removedBucket = "members_removed"
	clusterBucket = "cluster"
	alarmBucket   = "alarm"
	authBucket    = "auth"
)

var etcdBuckets = []string{
	keyBucket, metaBucket, leaseBucket, alarmBucket, clusterBucket, memberBucket, removedBucket,
	authBucket, "authUsers", "authRoles",
}

// A compaction is how far old revisions were removed: begun, and done.
type compaction struct{ scheduled, finished int64 }

// entry takes one entry of the bucket that the walk is in.
func (w *walker) entry(page uint64, e element) {
	if e.bucket {
		w.damagef(BadSchema, page, "the entry %.40q is a bucket, and etcd nests none", e.key)
		return
	}
	var err error
	switch w.bucket {
	case keyBucket:
		err = fmt.Errorf("the key %.40q is no revision", e.key)
		if _, like, _ := parseRevision(e.key); like {
			return // its neighbours are told about
		}
	case metaBucket:
		err = w.metaEntry(string(e.key), e.value)
	case leaseBucket:
		w.facts.Leases++
		if !isLease(e.key, e.value) {
			err = fmt.Errorf("the value of %x is not the lease of its key", e.key)
		}
	case clusterBucket:
		if string(e.key) == "clusterVersion" {
			w.facts.ClusterVersion = text(e.value)
		}
	case memberBucket:
		w.member(e)
	case removedBucket:
		w.facts.RemovedMembers = append(w.facts.RemovedMembers, text(e.key))
	case alarmBucket:
		w.alarm(e.key)
	case authBucket:
		if string(e.key) == "authEnabled" {
			w.facts.AuthEnabled = len(e.value) == 1 && e.value[0] == 1
		}
	}
	if err != nil {
		w.damagef(BadRecord, page, "%v", err)
	}
}

// text bounds what is kept of a string that comes from the snapshot.
func text(b []byte) string { return string(b[:min(len(b), 256)]) }

// metaEntry takes an entry of the meta bucket.
func (w *walker) metaEntry(key string, value []byte) error {
	number := func(into *uint64) error {
		if len(value) != 8 {
			return fmt.Errorf("%s has %d bytes, not 8", key, len(value))
		}
		*into = be.Uint64(value)
		return nil
	}
	compacted := func(into *int64) error {
		if len(value) < revisionSize {
			return fmt.Errorf("%s has %d bytes, not %d", key, len(value), revisionSize)
		}
		*into = int64(be.Uint64(value))
		return nil
	}
	switch key {
	case "consistent_index":
		return number(&w.facts.ConsistentIndex)
	case "term":
		return number(&w.facts.Term)
	case "scheduledCompactRev":
		return compacted(&w.compact.scheduled)
	case "finishedCompactRev":
		return compacted(&w.compact.finished)
	case "storageVersion":
		w.facts.StorageVersion = text(value)
	}
	return nil
}

// member takes an entry of the members bucket. A restore writes these anew, so
// that a bad one is told and no more.
func (w *walker) member(e element) {
	var m struct {
		ID         uint64   `json:"id"`
		Name       string   `json:"name"`
		PeerURLs   []string `json:"peerURLs"`
		ClientURLs []string `json:"clientURLs"`
		IsLearner  bool     `json:"isLearner"`
	}
	err := json.Unmarshal(e.value, &m)
	if id := strconv.FormatUint(m.ID, 16); err != nil || id != string(e.key) {
		w.out.remarkf("the entry of member %.40q cannot be read, or is another's", e.key)
		return
	}
	w.facts.Members = append(w.facts.Members, Member{text(e.key), m.Name, m.PeerURLs, m.ClientURLs, m.IsLearner})
}

// alarmNames are etcdserverpb.AlarmType's.
var alarmNames = map[uint64]string{1: "NOSPACE", 2: "CORRUPT"}

// alarm takes a key of the alarm bucket: an etcdserverpb.AlarmMember, {1
// memberID, 2 alarm}.
func (w *walker) alarm(key []byte) {
	kind := uint64(0)
	for len(key) > 0 {
		var tag, n uint64
		var ok bool
		if tag, key, ok = uvarint(key); !ok {
			break
		}
		if n, key, ok = uvarint(key); !ok {
			break
		}
		if tag == 2<<3 {
			kind = n
		}
	}
	name, ok := alarmNames[kind]
	if !ok {
		name = fmt.Sprintf("number %d", kind)
	}
	if !slices.Contains(w.facts.Alarms, name) {
		w.facts.Alarms = append(w.facts.Alarms, name)
	}
}

// schema judges which buckets there are, and tells what is to be known of them.
func (w *walker) schema() {
	if !w.seen[keyBucket] && !w.seen[metaBucket] {
		if len(w.out.Damage) == 0 {
			w.out.damagef(NotSnapshot, "it is a bbolt database, but not etcd's: its buckets are %s", names(w.seen))
		}
		return
	}
	var without []string
	for _, name := range etcdBuckets {
		switch {
		case w.seen[name]:
		case name == keyBucket || name == metaBucket:
			w.out.damagef(BadSchema, "it has no bucket %q", name)
		default:
			without = append(without, name)
		}
	}
	if len(without) > 0 {
		w.out.remarkf("it lacks buckets that etcd has: %s", strings.Join(without, ", "))
	}
	for name := range w.seen {
		if !slices.Contains(etcdBuckets, name) {
			w.out.remarkf("it has a bucket that this program does not know: %.40q", name)
		}
	}
	for _, a := range w.facts.Alarms {
		if a == "CORRUPT" {
			w.out.remarkf("the alarm CORRUPT was raised when it was taken: etcd itself held a member's data for corrupt")
		} else {
			w.out.remarkf("the alarm %s was raised when it was taken, and a restored server keeps it", a)
		}
	}
}

// names lists buckets for people.
func names(seen map[string]bool) string {
	if len(seen) == 0 {
		return "none"
	}
	var all []string
	for name := range seen {
		all = append(all, fmt.Sprintf("%.40q", name))
	}
	slices.Sort(all)
	return strings.Join(all[:min(len(all), 10)], ", ")
}

// derivedClusterID is the id of a cluster that began with these members: the
// first 8 bytes of the sha1 of their ids, sorted, 8 bytes each (etcd's
// membership.RaftCluster.genID).
func derivedClusterID(members []Member) string {
	var ids []uint64
	for _, m := range members {
		id, err := strconv.ParseUint(m.ID, 16, 64)
		if err != nil {
			return ""
		}
		ids = append(ids, id)
	}
	if len(ids) == 0 {
		return ""
	}
	slices.Sort(ids)
	var b []byte
	for _, id := range ids {
		b = be.AppendUint64(b, id)
	}
	sum := sha1.Sum(b)
	return strings.TrimLeft(hex.EncodeToString(sum[:8]), "0")
}
