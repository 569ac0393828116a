package etcdmanager

import (
	"testing"
)

func TestParseVersion(t *testing.T) {
	for in, want := range map[string]Version{
		"3.5.30":              {3, 5, 30},
		"v3.5.30":             {3, 5, 30},
		"0.0.0":               {},
		"3.6.0-rc.1":          {3, 6, 0},
		"3.6.0-alpha-1.x-y.0": {3, 6, 0},
		"3.6.0-0a":            {3, 6, 0},
		"3.6.0+git.00af":      {3, 6, 0},
		"3.6.0-rc.1+001":      {3, 6, 0},
	} {
		got, ok := ParseVersion(in)
		if !ok || got != want {
			t.Errorf("%q: %v, %t, want %v", in, got, ok, want)
		}
	}
	for _, in := range []string{
		"", "v", "3", "3.5", "3.5.", ".5.1", "3..1", "3.5.1.2", "vv3.5.1", "V3.5.1", " 3.5.1", "3.5.1 ", "03.5.1",
		"3.05.1", "3.5.01", "3.5.x", "3.5.-1", "3.5.+1", "+3.5.1", "-3.5.1", "3.5.1-", "3.5.1+", "3.5.1-a..b", "3.5.1-01",
		"3.5.1-rc_1", "3.5.1-é", "3.5.1+a+b", "3.5.1+a.", "3.5.1-18446744073709551616", "3.5.18446744073709551616", "٣.5.1", "latest",
	} {
		if got, ok := ParseVersion(in); ok {
			t.Errorf("%q: %v, want none", in, got)
		}
	}
}

func TestRestorable(t *testing.T) {
	for in, want := range map[string]string{
		"3.0.17":     "3.1.12",
		"3.1.0":      "3.1.12",
		"3.1.20":     "3.1.12",
		"3.2.18":     "3.2.18",
		"3.2.19":     "3.2.24",
		"3.3.10":     "3.3.10",
		"3.3.11":     "3.3.13",
		"3.3.13":     "3.3.13",
		"3.3.14":     "3.3.17",
		"3.4.0":      "3.4.3",
		"3.4.3":      "3.4.3",
		"3.4.4":      "3.4.13",
		"3.4.27":     "3.4.13",
		"3.5.0":      "3.5.30",
		"3.5.99":     "3.5.30",
		"v3.5.9":     "3.5.30",
		"3.6.0-rc.1": "3.6.11",
		"3.6.11":     "3.6.11",
		"3.7.0":      "3.7.0",
		"v3.7.0":     "3.7.0",
		"3.10.1-a":   "3.10.1-a",
		// The family is read with more tolerance than a version is.
		"3.5":        "3.5.30",
		" v03.4.03 ": "3.4.3",
		"3":          "3.1.12",
		"3.6.1+x":    "3.6.11",
	} {
		got, why, ok := Restorable(in)
		if !ok || got != want || why != "" {
			t.Errorf("%q: %q, %q, %t, want %q", in, got, why, ok, want)
		}
	}
	for in, want := range map[string]string{
		"2.2.1":    "this version of etcd-manager does not support etcd v2",
		"2.x":      "this version of etcd-manager does not support etcd v2",
		"v2.2.1":   `unknown etcd version "v2.2.1": etcd-manager restores etcd 3`,
		"4.0.0":    `unknown etcd version "4.0.0": etcd-manager restores etcd 3`,
		"":         "the meta file names no etcd version",
		"latest":   `"latest" is not a version: expected MAJOR.MINOR.PATCH`,
		"3.6-rc.1": `"3.6-rc.1" is not a version: expected MAJOR.MINOR.PATCH`,
		"3-rc":     `"3-rc" is not a version: expected MAJOR.MINOR.PATCH`,
		"3.7":      `unknown etcd version "3.7": expected MAJOR.MINOR.PATCH`,
		" 3.7.0":   `unknown etcd version " 3.7.0": expected MAJOR.MINOR.PATCH`,
	} {
		got, why, ok := Restorable(in)
		if ok || got != "" || why != want {
			t.Errorf("%q: %q, %q, %t, want %q", in, got, why, ok, want)
		}
	}
}
