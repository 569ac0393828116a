package etcdmanager

import (
	"testing"
	"time"
)

func TestClassify(t *testing.T) {
	for rel, want := range map[string]struct {
		kind Kind
		name string
	}{
		"control/etcd-cluster-created":                           {Created, ""},
		"control/etcd-cluster-spec":                              {Spec, ""},
		"control/2026-11-30T18:32:12Z-000000/_command.json":      {QueuedCommand, ""},
		"control/deep/er/_command.json":                          {QueuedCommand, ""}, // ListCommands reads the whole tree
		"control/":                                               {Stray, ""},         // a placeholder made by the console
		"control/notes.txt":                                      {Stray, ""},
		"control/2026-11-30T18:32:12Z-000000/_etcd_backup.meta":  {Stray, ""},
		"2026-11-30T18:06:17Z-000005/etcd.backup.gz":             {Data, "2026-11-30T18:06:17Z-000005"},
		"2026-11-30T18:06:17Z-000005/_etcd_backup.meta":          {Meta, "2026-11-30T18:06:17Z-000005"},
		"manual-before-upgrade/_etcd_backup.meta":                {Meta, "manual-before-upgrade"},
		"old-copy/2026-11-20T01:02:01Z-000001/_etcd_backup.meta": {Stray, ""},
		"2026-11-30T18:06:17Z-000005/etcd.backup.tgz":            {Stray, ""},
		"_etcd_backup.meta":                                      {Stray, ""},
		"etcd-cluster-created":                                   {Stray, ""},
		"control/sub/etcd-cluster-created":                       {Stray, ""},
		"controls/_etcd_backup.meta":                             {Meta, "controls"},
	} {
		if kind, name := Classify(rel); kind != want.kind || name != want.name {
			t.Errorf("Classify(%q) = %d %q, want %d %q", rel, kind, name, want.kind, want.name)
		}
	}
}

func TestRoot(t *testing.T) {
	const main = "prod.example.com/backups/etcd/main"
	for key, want := range map[string]struct {
		root     string
		snapshot bool
		ok       bool
	}{
		main + "/control/etcd-cluster-created":                      {main, false, true},
		main + "/control/etcd-cluster-spec":                         {main, false, true},
		main + "/control/2026-11-30T18:32:12Z-000000/_command.json": {main, false, true},
		main + "/2026-11-30T18:06:17Z-000005/_etcd_backup.meta":     {main, true, true},
		main + "/2026-11-30T18:06:17Z-000005/etcd.backup.gz":        {main, true, true},
		"2026-11-30T18:06:17Z-000005/etcd.backup.gz":                {"", true, true},
		"control/etcd-cluster-spec":                                 {"", false, true},
		"control/2026-11-30T18:32:12Z-000000/_command.json":         {"", false, true},
		main + "/manual-before-upgrade/_etcd_backup.meta":           {main, true, false}, // its name shows no store
		"etcd-cluster-created":                                      {"", false, false},
		"prod.example.com/cluster.spec":                             {"", false, false},
		"prod.example.com/control/2026/_command.json":               {"prod.example.com", false, false},
		"x/controls/etcd-cluster-created":                           {"x", false, false},
	} {
		root, snapshot, ok := Root(key)
		if ok != want.ok || ok && (root != want.root || snapshot != want.snapshot) {
			t.Errorf("Root(%q) = %q %t %t, want %q %t %t", key, root, snapshot, ok, want.root, want.snapshot, want.ok)
		}
	}
}

func TestParseName(t *testing.T) {
	for name, want := range map[string]string{
		"2026-11-30T18:06:17Z-000005": "2026-11-30T18:06:17Z",
		"2026-11-29T10:00:00Z":        "2026-11-29T10:00:00Z",
		"2026-11-29T10:00:00Z-":       "2026-11-29T10:00:00Z",
		"2026-11-29T10:00:00Z-any":    "2026-11-29T10:00:00Z",
		"2026-11-29T10:00:00Zx":       "",
		"2026-11-29T10:30:00+02:00-x": "",
		"2026-11-29T10:30:00+02:00":   "",
		"2025-01-01":                  "",
		"manual-before-upgrade":       "",
		"":                            "",
		"Z-":                          "",
		"2026-02-30T00:00:00Z-000001": "",
	} {
		got, ok := ParseName(name)
		if ok != (want != "") || ok && got.Format(time.RFC3339) != want {
			t.Errorf("ParseName(%q) = %v %t, want %q", name, got, ok, want)
		}
	}
}

func TestFormatNameParsesBack(t *testing.T) {
	at := time.Date(2026, 11, 30, 18, 6, 17, 0, time.UTC)
	if got := FormatName(at, 5); got != "2026-11-30T18:06:17Z-000005" {
		t.Errorf("FormatName = %q", got)
	}
	if got, ok := ParseName(FormatName(at, 999999)); !ok || !got.Equal(at) {
		t.Errorf("ParseName(FormatName) = %v %t", got, ok)
	}
}

func TestKopsNames(t *testing.T) {
	for root, want := range map[string][2]string{
		"prod.example.com/backups/etcd/main":          {"prod.example.com", "main"},
		"clusters/prod.example.com/backups/etcd/main": {"prod.example.com", "main"},
		"backups/etcd-main":                           {"", "etcd-main"},
		"":                                            {"", ""},
	} {
		if c, e := KopsNames(root); c != want[0] || e != want[1] {
			t.Errorf("KopsNames(%q) = %q %q, want %q", root, c, e, want)
		}
	}
}
