package rules

import (
	"testing"
	"time"

	"backstop/audit"
	"backstop/store/etcdmanager"
)

// rewritten is a created file that tells the birth and was stored so long ago.
func rewritten(age time.Duration) func(o *audit.Observation) {
	return createdIs(string(etcdmanager.FormatCreated(birth)), noon.Add(-age))
}

// storedAfterBirth is one that was stored so long after the time inside it.
func storedAfterBirth(late time.Duration) func(o *audit.Observation) {
	return createdIs(string(etcdmanager.FormatCreated(birth)), birth.Add(late))
}

// twoVersions of created, the latest as the document.
func twoVersions(o *audit.Observation) {
	o.ControlVersions = audit.Is([]audit.Version{version(o.Created.Value, "v2", true), old(etcdmanager.CreatedPath, "v1", birth)})
}

// createdWas says what created told when it was seen last.
func createdWas(born time.Time) func(o *audit.Observation) {
	return memory(func(m *audit.Memory) { m.Created.Now.Body = etcdmanager.FormatCreated(born) })
}

// createdChanged says when an earlier run saw that it changed.
func createdChanged(ago time.Duration) func(o *audit.Observation) {
	return memory(func(m *audit.Memory) {
		m.Created.Before, m.Created.Changed = audit.Record{Body: etcdmanager.FormatCreated(noon)}, noon.Add(-ago)
	})
}

func specChanged(ago time.Duration) func(o *audit.Observation) {
	return memory(func(m *audit.Memory) {
		m.Spec.Before, m.Spec.Changed = audit.Record{Body: []byte(spec(5, "3.5.30"))}, noon.Add(-ago)
	})
}

const again = "etcd-cluster-created was written again or restored, the last time at "

var controlAlteredSuite = suite{ages: true,
	limits: []limit{timeLimit("alteredAfter", &alteredAfter), timeLimit("alteredNews", &alteredNews)},
	cases: cases{
		"written by hand an hour ago": {is: "speaks", seen: rewritten(time.Hour), want: []string{"warning: " + again + "2026-11-30 11:00:00Z"},
			says: []string{"it says 2025-10-26 09:30:00Z and was written 2026-11-30 11:00:00Z", "If this was a repair, nothing is to be done", "control/etcd-cluster-created"}},
		"written by hand a month ago": {is: "speaks", seen: rewritten(30 * audit.Day), want: []string{"info: " + again + "2026-10-31 12:00:00Z"}},
		"two versions of it":          {is: "speaks", seen: twoVersions, want: []string{"info: " + again + "2025-10-26 09:30:00Z"}, says: []string{"2 versions"}},
		"two versions, one of today":  {is: "speaks", seen: all(rewritten(time.Hour), twoVersions), want: []string{"warning: " + again}, says: []string{"2 versions"}},
		"a copy of the good version": {is: "speaks", seen: all(rewritten(time.Hour), func(o *audit.Observation) {
			o.ControlVersions = audit.Is(append([]audit.Version{version(o.Created.Value, "v3", true)}, hidden(etcdmanager.CreatedPath, noon.Add(-audit.Day))...))
		}), want: []string{"warning: " + again}, says: []string{"2 versions"}},
		"its content is a person's": {is: "speaks", seen: createdIs("restored", noon.Add(-time.Hour)), want: []string{"warning: " + again}, says: []string{"not one that etcd-manager writes"}},

		"the ledger knows another content": {is: "speaks", seen: createdWas(birth.Add(-audit.Day)),
			want: []string{"critical: etcd-cluster-created holds another content than before: it told of a cluster of 2025-10-25 09:30:00Z, and tells of a cluster of 2025-10-26 09:30:00Z"},
			says: []string{"Do NOT delete volumes", "seen at 2026-11-30 12:00:00Z; the store was seen before at 2026-11-30 11:00:00Z"}},
		"the ledger knows another spec": {is: "speaks", seen: memory(func(m *audit.Memory) { m.Spec.Now.Body = []byte(spec(5, "3.5.21")) }),
			want: []string{"info: etcd-cluster-spec was changed: it asked for 5 members, etcd 3.5.21, and asks for 3 members, etcd 3.5.30"}},
		"the same spec in other bytes": {is: "silent", seen: memory(func(m *audit.Memory) { m.Spec.Now.Body = []byte(" " + spec(3, "3.5.30")) })},
		"it was missing before": {is: "silent", seen: memory(func(m *audit.Memory) {
			m.Created.Now, m.Spec.Now = audit.Record{Missing: true}, audit.Record{Missing: true}
		})},
		"the ledger knows it so":                {is: "silent", seen: memory(func(*audit.Memory) {})},
		"the ledger saw that a day ago":         {is: "boundary", seen: createdChanged(audit.Day), want: []string{"critical: "}},
		"and a second":                          {is: "boundary", seen: createdChanged(audit.Day + time.Second)},
		"a spec of seven days ago":              {is: "boundary", seen: specChanged(7 * audit.Day), want: []string{"info: "}},
		"a spec of seven days and a second ago": {is: "boundary", seen: specChanged(7*audit.Day + time.Second)},

		"ten minutes between the clocks are nothing": {is: "boundary", seen: storedAfterBirth(10 * time.Minute)},
		"a second more is something":                 {is: "boundary", seen: storedAfterBirth(10*time.Minute + time.Second), want: []string{"info: " + again}},
		"ten minutes the other way are nothing":      {is: "boundary", seen: storedAfterBirth(-10 * time.Minute)},
		"a second more that way is something":        {is: "boundary", seen: storedAfterBirth(-10*time.Minute - time.Second), want: []string{"info: " + again}},
		"a day is news":                              {is: "boundary", seen: rewritten(audit.Day), want: []string{"warning: " + again}},
		"a second more is not":                       {is: "boundary", seen: rewritten(audit.Day + time.Second), want: []string{"info: " + again}},
		"one version under a marker is one version": {is: "boundary", seen: func(o *audit.Observation) {
			o.ControlVersions = audit.Is([]audit.Version{version(o.Created.Value, "v1", true), {Object: audit.Object{Key: o.Created.Value.Key}, Marker: true}})
		}},

		"one version of a deleted namesake":       {is: "silent", seen: all(bornAtTime(noon.Add(-time.Hour)), twoVersions, kopsCreated(noon.Add(-2*time.Hour)))},
		"kops created the cluster with the first": {is: "boundary", seen: all(bornAtTime(noon.Add(-time.Hour)), twoVersions, kopsCreated(birth)), want: []string{"warning: " + again}},
		"and a second later":                      {is: "boundary", seen: all(bornAtTime(noon.Add(-time.Hour)), twoVersions, kopsCreated(birth.Add(time.Second)))},

		"nothing is wrong": {is: "silent"},
		"the spec has many versions": {is: "silent", seen: func(o *audit.Observation) {
			o.ControlVersions.Value = append(o.ControlVersions.Value, old(etcdmanager.SpecPath, "v0", birth), old(etcdmanager.SpecPath, "v00", birth))
		}},
		"a copied store has times of a copy": {is: "silent", seen: all(rewritten(time.Hour), snapshotsAre(storedLate(30*audit.Day, 28*audit.Day), storedLate(14*audit.Day, 12*audit.Day)))},
		"created is missing":                 {is: "silent", seen: loseCreated},
		"created is empty":                   {is: "silent", seen: createdIs("", noon)},
		"and there was one with content":     {is: "silent", seen: all(createdIs("", noon), twoVersions)},
		"created is archived":                {is: "silent", seen: all(rewritten(time.Hour), archiveCreated)},
		"the bucket keeps no old versions":   {is: "silent", seen: unversioned},

		"what kops says was not":                               {is: "blind", seen: all(bornAtTime(noon.Add(-time.Hour)), twoVersions, unseen(audit.FactKops)), want: []string{"warning: " + again}},
		"created was not seen":                                 {is: "blind", seen: all(twoVersions, unseen(audit.FactCreated))},
		"the versions were not, and the times agree":           {is: "blind", seen: unseen(audit.FactControlVersions)},
		"the versions were not, and the times differ":          {is: "blind", seen: all(rewritten(time.Hour), unseen(audit.FactControlVersions)), want: []string{"warning: " + again}},
		"the snapshots were not, so that it may be a copy":     {is: "blind", seen: all(rewritten(time.Hour), unseen(audit.FactListing))},
		"the snapshots were not, but two versions are written": {is: "blind", seen: all(twoVersions, unseen(audit.FactListing)), want: []string{"info: " + again}},
	},
}

func TestControlAltered(t *testing.T) { controlAlteredSuite.cases.run(t, controlAltered) }
