package etcdmanager

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Version is a version of etcd, without the pre-release and build that may
// follow.
type Version struct {
	Major, Minor, Patch int
}

// ParseVersion reads MAJOR.MINOR.PATCH, each without leading zeros, as semver
// has it: a pre-release (-rc.1) and a build (+x) may follow, a v may lead.
//
// This is what names a version to etcd-manager, because it looks for the
// program in a directory of that exact name, leading v or not
// (BindirForEtcdVersion, pkg/etcd/etcdprocess.go). Where it only asks for the
// family it reads more, 3.5 as 3.5.0: [Restorable] does so too.
func ParseVersion(s string) (Version, bool) {
	return parseSemver(strings.TrimPrefix(s, "v"))
}

// Restorable says with which version of etcd etcd-manager restores a backup
// whose meta file names etcdVersion, or why it cannot. It refuses etcd 2
// (RunEtcdFromBackup, pkg/etcd/restore.go), replaces the versions it knows by
// one of the same family (EtcdVersionForRestore, pkg/etcdversions/mappings.go),
// and takes newer ones as they are. The program of that version must be there
// besides, which only the machine can tell.
//
// It finds out at the restore, when the live cluster's data is already put
// aside.
func Restorable(etcdVersion string) (restoreWith, why string, ok bool) {
	if strings.HasPrefix(etcdVersion, "2.") {
		return "", "this version of etcd-manager does not support etcd v2", false
	}
	if etcdVersion == "" {
		return "", "the meta file names no etcd version", false
	}
	v, ok := parseSemver(normalise(etcdVersion))
	if !ok {
		return "", fmt.Sprintf("%q is not a version: expected MAJOR.MINOR.PATCH", etcdVersion), false
	}
	if v.Major != 3 {
		return "", fmt.Sprintf("unknown etcd version %q: etcd-manager restores etcd 3", etcdVersion), false
	}
	switch {
	case v.Minor <= 1:
		return "3.1.12", "", true
	case v.Minor == 2 && v.Patch <= 18:
		return "3.2.18", "", true
	case v.Minor == 2:
		return "3.2.24", "", true
	case v.Minor == 3 && v.Patch <= 10:
		return "3.3.10", "", true
	case v.Minor == 3 && v.Patch <= 13:
		return "3.3.13", "", true
	case v.Minor == 3:
		return "3.3.17", "", true
	case v.Minor == 4 && v.Patch <= 3:
		return "3.4.3", "", true
	case v.Minor == 4:
		return "3.4.13", "", true
	case v.Minor == 5:
		return "3.5.30", "", true
	case v.Minor == 6:
		return "3.6.11", "", true
	}
	if _, exact := ParseVersion(etcdVersion); !exact {
		return "", fmt.Sprintf("unknown etcd version %q: expected MAJOR.MINOR.PATCH", etcdVersion), false
	}
	return strings.TrimPrefix(etcdVersion, "v"), "", true
}

// normalise makes of s what semver.ParseTolerant of github.com/blang/semver
// parses in its place: no space around, no leading v, no leading zeros, and
// zeros for what a short version leaves out.
func normalise(s string) string {
	parts := strings.SplitN(strings.TrimPrefix(strings.TrimSpace(s), "v"), ".", 3)
	for i, p := range parts {
		if len(p) > 1 {
			p = strings.TrimLeft(p, "0")
			if p == "" || p[0] < '0' || p[0] > '9' {
				p = "0" + p
			}
			parts[i] = p
		}
	}
	for len(parts) < 3 {
		parts = append(parts, "0")
	}
	return strings.Join(parts, ".")
}

// parseSemver accepts what semver.Parse of github.com/blang/semver does, except
// a number that an int cannot hold.
func parseSemver(s string) (Version, bool) {
	s, build, hasBuild := strings.Cut(s, "+")
	s, pre, hasPre := strings.Cut(s, "-")
	if hasBuild && !allIdentifiers(build, false) || hasPre && !allIdentifiers(pre, true) {
		return Version{}, false
	}
	parts := strings.Split(s, ".")
	if len(parts) != 3 {
		return Version{}, false
	}
	var n [3]int
	for i, p := range parts {
		u, ok := parseNumeral(p)
		if !ok || u > math.MaxInt {
			return Version{}, false
		}
		n[i] = int(u)
	}
	return Version{n[0], n[1], n[2]}, true
}

// allIdentifiers reports whether s is identifiers of semver, joined by dots.
// Those of a pre-release are in a sense ordered, so a number among them must be
// a proper one.
func allIdentifiers(s string, preRelease bool) bool {
	for id := range strings.SplitSeq(s, ".") {
		digits := true
		for _, c := range []byte(id) {
			switch {
			case '0' <= c && c <= '9':
			case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '-':
				digits = false
			default:
				return false
			}
		}
		if id == "" {
			return false
		}
		if _, ok := parseNumeral(id); preRelease && digits && !ok {
			return false
		}
	}
	return true
}

// parseNumeral reads digits without leading zeros.
func parseNumeral(s string) (uint64, bool) {
	if len(s) > 1 && s[0] == '0' {
		return 0, false
	}
	n, err := strconv.ParseUint(s, 10, 64)
	return n, err == nil
}
