package kops_test

import (
	"strings"
	"testing"
	"time"

	"backstop/store/etcdmanager"
	"backstop/store/kops"
)

func TestRetention(t *testing.T) {
	const (
		hourly = "ETCD_MANAGER_HOURLY_BACKUPS_RETENTION"
		daily  = "ETCD_MANAGER_DAILY_BACKUPS_RETENTION"
	)
	env := func(pairs ...string) string {
		s := "env: ["
		for i := 0; i < len(pairs); i += 2 {
			s += "{name: " + pairs[i] + ", value: '" + pairs[i+1] + "'},"
		}
		return s + "]"
	}
	of := func(h, d time.Duration, hourlyBy, dailyBy string) kops.Retention {
		return kops.Retention{Retention: etcdmanager.Retention{Hourly: h, Daily: d}, HourlyBy: hourlyBy, DailyBy: dailyBy}
	}
	for _, test := range []struct {
		manager string
		want    kops.Retention
		fatal   string
	}{
		{"", theDefault, ""},
		{"backupRetentionDays: null", theDefault, ""},
		{"backupRetentionDays: 90", ninety, ""},
		{"backupRetentionDays: 0", of(7*day, 0, "", "backupRetentionDays"), ""},
		{env(daily, "1y"), of(7*day, 365*day, "", "env "+daily), ""},
		{env(hourly, "36h", daily, "30d"), of(36*time.Hour, 30*day, "env "+hourly, "env "+daily), ""},
		{env(hourly, "-1d"), of(-day, 2*365*day, "env "+hourly, ""), ""},
		{env("OTHER", "x", strings.ToLower(daily), "1d"), theDefault, ""},
		// manager.env stands behind kops's own variable, and the last one counts.
		{"backupRetentionDays: 90, " + env(daily, "14d"), of(7*day, 14*day, "", "env "+daily), ""},
		{env(daily, "14d", daily, "28d"), of(7*day, 28*day, "", "env "+daily), ""},
		// Set to nothing, it is not set, whatever stood before it.
		{"backupRetentionDays: 90, " + env(daily, ""), theDefault, ""},
		{"backupRetentionDays: 90, env: [{name: " + daily + "}]", theDefault, ""},
		// More than 292 years are less than nothing.
		{env(daily, "300y"), of(7*day, -8985944073709551616, "", "env "+daily), ""},
		{env(daily, "90days"), of(7*day, 2*365*day, "", "env "+daily), `manager.env ` + daily + ` is "90days": want whole days or years like 7d or 1y, or a duration like 12h30m`},
		{env(daily, "90"), of(7*day, 2*365*day, "", "env "+daily), `manager.env ` + daily + ` is "90": want whole days`},
		{env(hourly, "1.5d", daily, "90d"), of(7*day, 2*365*day, "env "+hourly, "env "+daily), `manager.env ` + hourly + ` is "1.5d": want a whole number before "d"`},
		{env(hourly, "x", daily, "y"), of(7*day, 2*365*day, "env "+hourly, "env "+daily), `manager.env ` + hourly + ` is "x"`},
	} {
		c, err := kops.Parse([]byte(with("    manager: {"+test.manager+"}")), "x/config")
		if err != nil {
			t.Error(err)
			continue
		}
		got := c.Etcd[0].Retention
		if !strings.HasPrefix(got.Fatal, test.fatal) || test.fatal == "" && got.Fatal != "" {
			t.Errorf("%s: fatal %q, want %q", test.manager, got.Fatal, test.fatal)
		}
		if got.Fatal = ""; got != test.want {
			t.Errorf("%s: got %+v, want %+v", test.manager, got, test.want)
		}
	}
}

func TestParseRetention(t *testing.T) {
	for s, want := range map[string]time.Duration{
		"0d": 0, "7d": 7 * day, "+7d": 7 * day, "-7d": -7 * day, "007d": 7 * day, "1y": 365 * day, "2y": 2 * 365 * day,
		"0": 0, "168h": 168 * time.Hour, "1h30m": 90 * time.Minute, "1.5h": 90 * time.Minute, "106751d": 106751 * day,
	} {
		if got, err := kops.ParseRetention(s); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", s, got, err, want)
		}
	}
	for _, s := range []string{"", "d", "y", "7", "7 d", " 7d", "7d ", "7D", "1w", "1d12h", "1y6d", "1.5y", "0x7d", "1_0d", "99999999999999999999d", "٧d", "forever"} {
		if got, err := kops.ParseRetention(s); err == nil {
			t.Errorf("%q: %s, want an error", s, got)
		}
	}
	// Beyond what a duration holds etcd-manager's multiplication wraps around.
	for _, s := range []string{"106752d", "293y", "300y"} {
		if got, err := kops.ParseRetention(s); err != nil || got >= 0 {
			t.Errorf("%s: %s, %v; want a negative duration", s, got, err)
		}
	}
}
