package rules

import (
	"testing"
	"time"

	"backstop/audit"
)

var snapshotKeyCollapseSuite = suite{ages: true,
	limits: []limit{numberLimit("collapseFrom", &collapseFrom), numberLimit("collapseLeft", &collapseLeft), timeLimit("collapseNews", &collapseNews)},
	cases: cases{
		"secrets were deleted": {is: "speaks", seen: contents(resources{"secrets": 100, "configmaps": 50}.of(1000), resources{"secrets": 3, "configmaps": 50}.of(1200)),
			want: []string{"warning: between 2026-11-30T10:25:00Z-000001 and 2026-11-30T10:40:00Z-000001 most objects of 1 resource were deleted: secrets from 100 to 3"},
			says: []string{"do NOT restore etcd for it", "audit log", "Copy that snapshot away"}},
		"two resources": {is: "speaks", seen: contents(resources{"secrets": 100, "configmaps": 50}.of(1000), resources{"secrets": 3}.of(1200)),
			want: []string{"warning: most objects of 2 resources were deleted: secrets from 100 to 3, configmaps from 50 to 0"}},

		"few are gone":            {is: "silent", seen: contents(resources{"secrets": 100}.of(1000), resources{"secrets": 60}.of(1200))},
		"pods at night":           {is: "silent", seen: contents(resources{"pods": 100, "events": 500, "minions": 30}.of(1000), resources{"pods": 1}.of(1200))},
		"a reset is another rule": {is: "silent", seen: contents(resources{"secrets": 100}.of(1000), resources{"secrets": 3}.of(90))},
		"events have no such":     {is: "silent", seen: all(etcdIs("events"), contents(resources{"secrets": 100}.of(1000), resources{"secrets": 3}.of(1200)))},
		"nothing was opened":      {is: "silent"},

		"20 keys":       {is: "boundary", seen: contents(resources{"secrets": 20}.of(1000), resources{}.of(1200)), want: []string{"warning: "}},
		"19 keys":       {is: "boundary", seen: contents(resources{"secrets": 19}.of(1000), resources{}.of(1200))},
		"21 keys":       {is: "boundary", seen: contents(resources{"secrets": 21}.of(1000), resources{}.of(1200)), want: []string{"warning: "}},
		"a fifth":       {is: "boundary", seen: contents(resources{"secrets": 100}.of(1000), resources{"secrets": 20}.of(1200)), want: []string{"warning: "}},
		"one more":      {is: "boundary", seen: contents(resources{"secrets": 100}.of(1000), resources{"secrets": 21}.of(1200))},
		"a week":        {is: "boundary", at: -80*time.Minute + 2*time.Second + 7*audit.Day, seen: contents(resources{"secrets": 100}.of(1000), resources{}.of(1200)), want: []string{"warning: "}},
		"a second more": {is: "boundary", at: -80*time.Minute + 3*time.Second + 7*audit.Day, seen: contents(resources{"secrets": 100}.of(1000), resources{}.of(1200))},

		"no listing": {is: "blind", seen: all(contents(resources{"secrets": 100}.of(1000), resources{}.of(1200)), unseen(audit.FactListing))},
	}}

func TestSnapshotKeyCollapse(t *testing.T) {
	snapshotKeyCollapseSuite.cases.run(t, snapshotKeyCollapse)
}
