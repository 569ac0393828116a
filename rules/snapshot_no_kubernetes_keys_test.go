package rules

import (
	"testing"
	"time"

	"backstop/audit"
)

var (
	noKeys    = &audit.Content{Revision: 1200, Keys: 0}
	otherKeys = &audit.Content{Revision: 1200, Keys: 17}
)

var snapshotNoKubernetesKeysSuite = suite{limits: []limit{timeLimit("emptyFor", &emptyFor)}, cases: cases{
	"nothing is in it": {is: "speaks", seen: contents(nil, holds(1000, 85), noKeys),
		want: []string{"critical: 2026-11-30T10:55:00Z-000001, the newest snapshot of main that was read to its end, holds no key below /registry/"},
		says: []string{"Do NOT restore it", "2026-11-30T10:40:00Z-000001 still held 85 keys of Kubernetes", "--etcd-prefix"}},
	"keys of another program":     {is: "speaks", seen: contents(otherKeys), want: []string{"critical: "}, says: []string{"17 keys, none of Kubernetes"}},
	"created has no time in it":   {is: "speaks", seen: all(createdIs("x", birth), contents(noKeys)), want: []string{"critical: "}},
	"kops says that it is main":   {is: "speaks", seen: all(etcdIs("etcd"), kopsSays(func(k *audit.Kops) { k.Etcd = "main" }), contents(noKeys)), want: []string{"critical: "}},
	"a later one has them again":  {is: "silent", seen: contents(noKeys, holds(1300, 1))},
	"events hold none":            {is: "silent", seen: all(etcdIs("events"), contents(noKeys))},
	"nothing was opened":          {is: "silent"},
	"an hour after the birth":     {is: "boundary", seen: all(bornAtTime(snapshotAt(1).Add(-time.Hour)), contents(nil, noKeys))},
	"a second more":               {is: "boundary", seen: all(bornAtTime(snapshotAt(1).Add(-time.Hour-time.Second)), contents(nil, noKeys)), want: []string{"critical: "}},
	"created was not seen":        {is: "blind", seen: all(contents(noKeys), unseen(audit.FactCreated)), want: []string{"critical: "}},
	"the snapshots were not seen": {is: "blind", seen: all(contents(noKeys), unseen(audit.FactListing))},
}}

func TestSnapshotNoKubernetesKeys(t *testing.T) {
	snapshotNoKubernetesKeysSuite.cases.run(t, snapshotNoKubernetesKeys)
}
