package kops

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"backstop/store/etcdmanager"
)

// Retention is how long etcd-manager keeps the backups of an etcd cluster.
type Retention struct {
	// Retention is what etcd-manager runs with: where the spec gives nothing,
	// its own week and two years. Since 1.27 kops writes 90 days into the spec
	// when it creates or updates a cluster; where they are not in it, nobody has
	// told etcd-manager.
	//
	// A value can be negative or absurd and is that to etcd-manager too, which
	// then deletes every backup that is over an hour old: -1d, or 300y, which is
	// more than its clock counts and comes out below zero.
	etcdmanager.Retention
	// HourlyBy and DailyBy are the fields below manager that gave it; empty
	// where nothing did.
	HourlyBy, DailyBy string
	// Fatal says why etcd-manager cannot read the values, so that it ends when
	// it starts: no backups, nothing. What Retention holds is then its own
	// defaults. Empty where all is well.
	Fatal string
}

// The environment variables that etcd-manager reads
// (pkg/backupcontroller/cleanup.go, init), and the fields that set them.
const (
	hourlyEnv = "ETCD_MANAGER_HOURLY_BACKUPS_RETENTION"
	dailyEnv  = "ETCD_MANAGER_DAILY_BACKUPS_RETENTION"
	daysField = "backupRetentionDays"
)

// retention reads manager.backupRetentionDays and manager.env. kops makes the
// first a variable and puts manager.env behind it, and of two variables of one
// name the container gets the last (buildPod in
// pkg/model/components/etcdmanager/model.go). To etcd-manager an empty one is
// none.
func retention(p *problem, manager field) Retention {
	var hourly, daily string
	r := Retention{Retention: etcdmanager.DefaultRetention}
	if days := manager.get(p, daysField); days.given() {
		daily, r.DailyBy = strconv.FormatUint(uint64(days.uint32(p)), 10)+"d", daysField
	}
	for _, v := range manager.get(p, "env").list(p, entryLimit) {
		value := v.get(p, "value")
		switch v.get(p, "name").text(p) {
		case hourlyEnv:
			hourly, r.HourlyBy = value.text(p), "env "+hourlyEnv
		case dailyEnv:
			daily, r.DailyBy = value.text(p), "env "+dailyEnv
		}
	}
	r.take(&r.Hourly, hourly, &r.HourlyBy)
	r.take(&r.Daily, daily, &r.DailyBy)
	if r.Fatal != "" {
		r.Retention = etcdmanager.DefaultRetention
	}
	return r
}

func (r *Retention) take(d *time.Duration, value string, by *string) {
	if value == "" {
		*by = ""
		return
	}
	v, err := ParseRetention(value)
	if err != nil {
		if r.Fatal == "" {
			r.Fatal = fmt.Sprintf("manager.%s is %s: %v", *by, quote(value), err)
		}
		return
	}
	*d = v
}

// ParseRetention reads a length of time as etcd-manager reads its retention: a
// whole number of days or of years of 365 days (7d, 1y), else what Go takes for
// a duration (ParseHumanDuration in pkg/backupcontroller/cleanup.go). It does
// not mix them: 1d12h is an error. A number that is too big wraps around, as it
// does there.
func ParseRetention(s string) (time.Duration, error) {
	unit, digits := time.Duration(0), s
	if rest, ok := strings.CutSuffix(s, "y"); ok {
		unit, digits = 365*24*time.Hour, rest
	} else if rest, ok := strings.CutSuffix(s, "d"); ok {
		unit, digits = 24*time.Hour, rest
	}
	if unit == 0 {
		d, err := time.ParseDuration(s)
		if err != nil {
			return 0, fmt.Errorf("want whole days or years like 7d or 1y, or a duration like 12h30m")
		}
		return d, nil
	}
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0, fmt.Errorf("want a whole number before %q", s[len(s)-1:])
	}
	return time.Duration(n) * unit, nil
}
