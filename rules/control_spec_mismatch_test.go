package rules

import (
	"testing"
	"time"

	"backstop/audit"
)

var controlSpecMismatchSuite = suite{ages: true, cases: cases{
	"an upgrade that is under way": {is: "speaks", seen: specIs(spec(3, "3.6.11"), noon.Add(-time.Hour)),
		want: []string{"info: etcd-cluster-spec asks for etcd 3.6.11, and the newest snapshot was taken by etcd 3.5.30 (pending since 2026-11-30 11:00:00Z)"},
		says: []string{"kops rolling-update cluster", "control/etcd-cluster-spec"}},
	"an upgrade that was never carried out": {is: "speaks", seen: specIs(spec(3, "3.6.11"), noon.Add(-30*audit.Day)),
		want: []string{"warning: asks for etcd 3.6.11, and the newest snapshot was taken by etcd 3.5.30 (pending since 2026-10-31 12:00:00Z, 30d)"}},
	"two more members": {is: "speaks", seen: specIs(spec(5, "3.5.30"), noon),
		want: []string{"info: etcd-cluster-spec asks for 5 members, and the newest snapshot was taken with 3 (pending since"}},
	"both at once":          {is: "speaks", seen: specIs(spec(5, "3.6.11"), noon), want: []string{"info: asks for etcd 3.6.11", "info: asks for 5 members"}},
	"another major version": {is: "speaks", seen: all(specIs(spec(3, "3.5.30"), noon), metaIs(`{"etcdVersion":"2.5.0"}`)), want: []string{"info: asks for etcd 3.5.30, and the newest snapshot was taken by etcd 2.5.0"}},
	"a version that does not exist": {is: "speaks", seen: specIs(spec(3, "4.5.30"), noon),
		want: []string{`warning: etcd-cluster-spec asks for etcd "4.5.30", which etcd-manager does not know: it takes backups, and does nothing else`}},
	"no version":              {is: "speaks", seen: specIs(`{"memberCount":3}`, noon), want: []string{`warning: asks for etcd ""`}},
	"a word for a version":    {is: "speaks", seen: specIs(spec(3, "latest"), noon), want: []string{`warning: asks for etcd "latest"`}},
	"a version without patch": {is: "speaks", seen: specIs(spec(3, "3.5"), noon), want: []string{`warning: asks for etcd "3.5"`}},

	"kops asks for another version": {is: "speaks", seen: kopsSays(func(k *audit.Kops) { k.Version = "3.6.11" }),
		want: []string{"warning: etcd-cluster-spec asks for etcd 3.5.30, and kops asks for 3.6.11 (pending since 2025-10-26 09:30:00Z, 400d)"}},
	"the spec was written past kops": {is: "speaks", seen: all(specIs(spec(5, "3.6.11"), noon), kopsSays(nil)),
		want: []string{"info: asks for etcd 3.6.11, and the newest snapshot was taken by etcd 3.5.30, and kops asks for 3.5.30 (pending since", "info: asks for 5 members, and the newest snapshot was taken with 3, and kops asks for 3 (pending since"}},
	"kops asks for fewer members": {is: "speaks", seen: all(noSnapshots, specIs(spec(3, "3.5.30"), noon), kopsSays(func(k *audit.Kops) { k.Members = 1 })), want: []string{"info: asks for 3 members, and kops asks for 1"}},

	"kops's patch does not matter": {is: "boundary", seen: kopsSays(func(k *audit.Kops) { k.Version = "v3.5.1" })},
	"kops's minor does":            {is: "boundary", seen: all(specIs(spec(3, "3.5.30"), noon), kopsSays(func(k *audit.Kops) { k.Version = "3.4.30" })), want: []string{"info: kops asks for 3.4.30"}},
	"kops says no version":         {is: "boundary", seen: kopsSays(func(k *audit.Kops) { k.Version, k.Members = "", 0 })},
	"kops means another place":     {is: "boundary", seen: func(o *audit.Observation) { kopsSays(func(k *audit.Kops) { k.Known, k.Version = false, "3.6.11" })(o) }},
	"kops asks for more members":   {is: "boundary", seen: kopsSays(func(k *audit.Kops) { k.Members = 5 })},
	"seven days may be pending":    {is: "boundary", seen: specIs(spec(3, "3.6.11"), noon.Add(-7*audit.Day)), want: []string{"info: asks for etcd 3.6.11"}},
	"a second more may not":        {is: "boundary", seen: specIs(spec(3, "3.6.11"), noon.Add(-7*audit.Day-time.Second)), want: []string{"warning: asks for etcd 3.6.11"}},
	"members may as long":          {is: "boundary", seen: specIs(spec(5, "3.5.30"), noon.Add(-7*audit.Day)), want: []string{"info: asks for 5 members"}},
	"and no longer":                {is: "boundary", seen: specIs(spec(5, "3.5.30"), noon.Add(-7*audit.Day-time.Second)), want: []string{"warning: asks for 5 members"}},
	"one more member":              {is: "boundary", seen: specIs(spec(4, "3.5.30"), noon), want: []string{"info: asks for 4 members"}},
	"the patch does not matter":    {is: "boundary", seen: specIs(spec(3, "3.5.31"), noon)},
	"nor a v before the version":   {is: "boundary", seen: specIs(spec(3, "v3.5.30"), noon)},
	"the minor matters, both up":   {is: "boundary", seen: specIs(spec(3, "3.6.30"), noon), want: []string{"info: asks for etcd 3.6.30"}},
	"and down":                     {is: "boundary", seen: specIs(spec(3, "3.4.30"), noon), want: []string{"info: asks for etcd 3.4.30"}},

	"nothing is wrong":                 {is: "silent"},
	"the spec was written anew, alike": {is: "silent", seen: specIs(`{"memberCount":  3, "etcdVersion":  "3.5.30"}`, noon)},
	"fewer members is another rule's":  {is: "silent", seen: specIs(spec(1, "3.5.30"), noon)},
	"armed is worse":                   {is: "silent", seen: all(loseCreated, specIs(spec(0, "9.9.9"), noon))},
	"blocked is worse":                 {is: "silent", seen: all(createdIs("", birth), specIs(spec(5, "3.6.11"), noon))},
	"the spec does not parse":          {is: "silent", seen: specIs("{", noon)},
	"the meta does not parse":          {is: "silent", seen: all(specIs(spec(5, "3.6.11"), noon), metaIs("{"))},
	"the meta has an odd version":      {is: "silent", seen: metaIs(`{"etcdVersion":"custom"}`)},
	"there is no snapshot yet":         {is: "silent", seen: all(noSnapshots, specIs(spec(5, "3.6.11"), noon))},

	"spec was not seen":       {is: "blind", seen: unseen(audit.FactSpec)},
	"what kops says was not":  {is: "blind", seen: all(kopsSays(func(k *audit.Kops) { k.Version = "3.6.11" }), unseen(audit.FactKops))},
	"the newest meta was not": {is: "blind", seen: all(specIs(spec(5, "3.6.11"), noon), unseen(audit.FactNewestMeta))},
	"the newest meta was not, but an odd version needs none": {is: "blind", seen: all(specIs(spec(3, "9.9.9"), noon), unseen(audit.FactNewestMeta)),
		want: []string{`warning: asks for etcd "9.9.9"`}},
}}

func TestControlSpecMismatch(t *testing.T) {
	controlSpecMismatchSuite.cases.run(t, controlSpecMismatch)
}
