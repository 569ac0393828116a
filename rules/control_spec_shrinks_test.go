package rules

import (
	"testing"

	"backstop/audit"
)

var controlSpecShrinksSuite = suite{cases: cases{
	"one member, and there were three": {is: "speaks", seen: specIs(spec(1, "3.5.30"), noon),
		want: []string{"warning: etcd-cluster-spec has memberCount 1, and the cluster had 3 when the newest snapshot was taken: at the next change of leader etcd-manager removes members down to that number"},
		says: []string{"three members became one within 30 s", "3 members, as in the newest snapshot's meta", "do NOT roll the control plane", "control/etcd-cluster-spec"}},
	"no member at all": {is: "speaks", seen: specIs(spec(0, "3.5.30"), birth),
		want: []string{"critical: etcd-cluster-spec has memberCount 0: at the next change of leader etcd-manager removes members"}},
	"an empty document is no member":  {is: "speaks", seen: specIs("{}", birth), want: []string{"critical: memberCount 0"}},
	"a negative number of members":    {is: "speaks", seen: specIs(`{"memberCount":-1,"etcdVersion":"3.5.30"}`, birth), want: []string{"critical: memberCount -1"}},
	"backups are stale, and so it is": {is: "speaks", seen: all(newestAt(audit.Day), specIs(spec(1, "3.5.30"), noon)), want: []string{"warning: memberCount 1"}},

	"kops asks for three": {is: "speaks", seen: all(specIs(spec(1, "3.5.30"), noon), kopsSays(nil)),
		want: []string{"critical: etcd-cluster-spec has memberCount 1, and kops asks for 3: at the next change of leader etcd-manager removes members down to that number, which kops does not want"},
		says: []string{"3 members, as kops asks for", "do NOT roll the control plane"}},
	"kops asks for three, and so does nobody else": {is: "speaks", seen: all(specIs(spec(1, "3.5.30"), noon), noSnapshots, kopsSays(nil)), want: []string{"critical: kops asks for 3"}},
	"kops scales down too": {is: "speaks", seen: all(specIs(spec(1, "3.5.30"), noon), kopsSays(func(k *audit.Kops) { k.Members = 1 })),
		want: []string{"info: the cluster is being scaled down: etcd-cluster-spec has memberCount 1, kops asks for 1, and the cluster had 3"}, never: []string{"Unless you are scaling down"}},
	"kops asks for no member either": {is: "speaks", seen: all(specIs(spec(0, "3.5.30"), noon), kopsSays(func(k *audit.Kops) { k.Members = 0 })), want: []string{"critical: memberCount 0"}},

	"one less than kops asks for":          {is: "boundary", seen: all(specIs(spec(2, "3.5.30"), noon), kopsSays(nil)), want: []string{"critical: memberCount 2, and kops asks for 3"}},
	"as many as kops asks for":             {is: "boundary", seen: kopsSays(nil)},
	"more than kops, and less than before": {is: "boundary", seen: all(specIs(spec(2, "3.5.30"), noon), kopsSays(func(k *audit.Kops) { k.Members = 1 })), want: []string{"info: memberCount 2, kops asks for 1, and the cluster had 3"}},
	"kops does not say how many":           {is: "boundary", seen: all(specIs(spec(1, "3.5.30"), noon), kopsSays(func(k *audit.Kops) { k.Members = 0 })), want: []string{"warning: memberCount 1"}},
	"kops means another place":             {is: "boundary", seen: all(specIs(spec(1, "3.5.30"), noon), moved("s3://other/x")), want: []string{"warning: memberCount 1"}},
	"no member, and there was one":         {is: "boundary", seen: all(specIs(spec(0, "3.5.30"), noon), metaIs(`{"etcdVersion":"3.5.30","clusterSpec":{"memberCount":1}}`)), want: []string{"critical: memberCount 0"}, says: []string{"1 member, as in the newest snapshot's meta"}},
	"no member, and there was none":        {is: "boundary", seen: all(specIs(spec(0, "3.5.30"), noon), metaIs(`{"etcdVersion":"3.5.30","clusterSpec":{}}`)), want: []string{"critical: memberCount 0"}, says: []string{"memberCount as kops has it"}},
	"one member less":                      {is: "boundary", seen: specIs(spec(2, "3.5.30"), noon), want: []string{"warning: memberCount 2, and the cluster had 3"}},
	"as many members":                      {is: "boundary", seen: specIs(spec(3, "3.5.30"), noon)},
	"one member of one":                    {is: "boundary", seen: all(specIs(spec(1, "3.5.30"), noon), metaIs(`{"etcdVersion":"3.5.30","clusterSpec":{"memberCount":1}}`))},
	"a meta of no members says nothing":    {is: "boundary", seen: all(specIs(spec(1, "3.5.30"), noon), metaIs(`{"etcdVersion":"3.5.30","clusterSpec":{}}`))},

	"nothing is wrong":                {is: "silent"},
	"more members is another rule's":  {is: "silent", seen: specIs(spec(5, "3.5.30"), noon)},
	"armed is worse":                  {is: "silent", seen: all(loseCreated, specIs(spec(0, "3.5.30"), birth))},
	"imminent is worse":               {is: "silent", seen: all(loseCreated, specIs(spec(1, "3.5.30"), birth))},
	"blocked keeps members":           {is: "silent", seen: all(createdIs("", birth), specIs(spec(1, "3.5.30"), birth))},
	"a spec that does not parse":      {is: "silent", seen: specIs("{", birth)},
	"a spec that is archived":         {is: "silent", seen: archiveSpec},
	"a spec that is missing":          {is: "silent", seen: loseSpec},
	"the meta is of a later protocol": {is: "silent", seen: all(specIs(spec(1, "3.5.30"), noon), metaIs(`{"foo":1}`))},

	"spec was not seen":            {is: "blind", seen: unseen(audit.FactSpec)},
	"what kops says was not seen":  {is: "blind", seen: all(specIs(spec(1, "3.5.30"), noon), kopsSays(nil), unseen(audit.FactKops)), want: []string{"warning: memberCount 1"}},
	"so that nobody asks for more": {is: "blind", seen: all(specIs(spec(1, "3.5.30"), noon), noSnapshots, kopsSays(nil), unseen(audit.FactKops))},
	"created was not seen":         {is: "blind", seen: all(specIs(spec(1, "3.5.30"), noon), unseen(audit.FactCreated))},
	"the newest meta was not seen": {is: "blind", seen: all(specIs(spec(1, "3.5.30"), noon), unseen(audit.FactNewestMeta))},
	"the newest meta was not seen, but no members need no comparison": {is: "blind", seen: all(specIs(spec(0, "3.5.30"), noon), unseen(audit.FactNewestMeta)),
		want: []string{"critical: memberCount 0"}, says: []string{"memberCount as kops has it"}},
	"the listing was not seen, but no members need none": {is: "blind", seen: all(specIs(spec(0, "3.5.30"), noon), unseen(audit.FactListing), unseen(audit.FactNewestMeta)),
		want: []string{"critical: memberCount 0"}},
}}

func TestControlSpecShrinks(t *testing.T) { controlSpecShrinksSuite.cases.run(t, controlSpecShrinks) }
