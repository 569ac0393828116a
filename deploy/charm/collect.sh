#!/usr/bin/env bash
# Collects from a unit of the etcd charm what `backstop preflight --bundle` judges:
# etcd.conf.yml, a listing of the data directories, and copies of their databases.
# It changes nothing of etcd's, takes no key and no certificate, and blanks what in
# the configuration could be secret. The databases hold the cluster's Secrets, so the
# bundle is for nobody else's eyes: -n leaves them out, and preflight then says that
# it cannot tell.
#
#   juju scp deploy/charm/collect.sh etcd/0:/tmp/collect.sh
#   juju exec --unit etcd/0 'bash /tmp/collect.sh -o /tmp/etcd-0.tar.gz'
#   juju scp etcd/0:/tmp/etcd-0.tar.gz .
#   juju exec --unit etcd/0 'rm /tmp/collect.sh /tmp/etcd-0.tar.gz'
#
# Needs bash, coreutils, findutils, sed, and GNU tar, which every unit has.
set -euo pipefail
export LC_ALL=C
umask 077

usage() {
  echo "usage: collect.sh -o FILE [-n] [-u UNIT] [-r ROOT]" >&2
  echo "  -o FILE  where to write the bundle" >&2
  echo "  -n       without the databases" >&2
  echo "  -u UNIT  the unit's name, if not \$JUJU_UNIT_NAME" >&2
  echo "  -r ROOT  look below ROOT instead of /" >&2
  exit 64
}

out='' databases=yes unit=${JUJU_UNIT_NAME:-} root=''
while getopts 'o:nu:r:' option; do
  case $option in
    o) out=$OPTARG ;;
    n) databases=no ;;
    u) unit=$OPTARG ;;
    r) root=${OPTARG%/} ;;
    *) usage ;;
  esac
done
shift $((OPTIND - 1))
if [ $# -ne 0 ] || [ -z "$out" ]; then usage; fi

snap=/var/snap/etcd
common=$snap/common
storage=/media/etcd/data

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: >"$work/unseen"
: >"$work/end"
: >"$work/listing"

unseen() { printf '%s\n' "$*" | tr '\n\t' '  ' >>"$work/unseen"; echo >>"$work/unseen"; }

# The revision that `current` is a link to.
revision=''
if [ -L "$root$snap/current" ]; then
  revision=$(basename "$(readlink "$root$snap/current")")
fi
{
  echo backstop_charm_bundle=1
  echo "unit=$unit"
  echo "taken=$(date +%s)"
  echo "zone=$(date +%z)"
  echo "revision=$revision"
} >"$work/manifest"

# list PLACE writes a line a file, with the path on the unit. What is behind the link
# `current` is listed by that name.
list() {
  local place=$1 problems
  [ -e "$root$place" ] || [ -L "$root$place" ] || return 0
  if ! problems=$(find -H "$root$place" -maxdepth 6 -printf '%y\t%s\t%P\n' 2>&1 >"$work/found"); then
    unseen "find $place: $problems"
  fi
  sed -e "s|^\([^	]*	[^	]*	\)|\1$place/|" -e 's|/$||' "$work/found" >>"$work/listing"
}
list "$snap/current"
for place in "$root$snap"/*/; do
  name=$(basename "$place")
  case $name in
    current | "$revision" | '*') ;;
    *) list "$snap/$name" ;;
  esac
done
list "$storage"
for name in etcd.conf etcd.conf.2x etcd.conf.yml; do
  if [ -e "$root$common/$name" ]; then printf 'f\t0\t%s\n' "$common/$name" >>"$work/listing"; fi
done

# redact blanks what could be secret, and drops keys that stand in the file.
redact() {
  sed -E -e '/-----BEGIN/,/-----END/d' \
    -e 's/^([[:space:]]*[A-Za-z_-]*(password|passwd|secret|credential|private|auth-token)[A-Za-z_-]*[[:space:]]*:).*/\1 REDACTED/I' "$1"
}
members=(manifest listing)
conf=$common/etcd.conf.yml
if [ -r "$root$conf" ]; then
  redact "$root$conf" >"$work/etcd.conf.yml"
  members+=(etcd.conf.yml)
elif [ -e "$root$conf" ]; then
  unseen "$conf may not be read"
fi

# head_of is the first bytes of a database, its meta pages among them: they change
# with every commit.
head_of() { head -c 8192 "$1" | sha256sum; }

# copy DB COPY copies a database, where it leaves the disk room for etcd. A copy
# during a commit can be torn, so one is made again until none came in between.
copy() {
  local before free
  free=$(df --output=avail -B1 "$work" | tail -n 1)
  if [ "$free" -lt $((4 * $(stat -c %s "$1"))) ]; then
    echo "too little room for a copy below $work; set TMPDIR to a place with more" >&2
    return 1
  fi
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    before=$(head_of "$1")
    cp "$1" "$2" || return 1
    [ "$before" != "$(head_of "$1")" ] || return 0
  done
}
if [ $databases = yes ]; then
  while IFS=$'\t' read -r type _ path; do
    case $type$path in
      "f$snap/current/"*member/snap/db | "f$storage/"*member/snap/db) ;;
      *) continue ;;
    esac
    mkdir -p "$work/db$(dirname "$path")"
    if ! copy "$root$path" "$work/db$path" 2>>"$work/errors"; then
      rm -f "$work/db$path"
      unseen "copy $path: $(tail -n 1 "$work/errors")"
    fi
  done <"$work/listing"
  if [ -d "$work/db" ]; then members+=(db); fi
fi

tar --format=gnu -czf "$out" -C "$work" "${members[@]}" unseen end
# juju exec runs as root, and juju scp as ubuntu.
if [ "$(id -u)" = 0 ] && id ubuntu >/dev/null 2>&1; then chown ubuntu "$out"; fi
echo "wrote $out ($(stat -c %s "$out") bytes)" >&2
if [ -s "$work/unseen" ]; then
  echo "what could not be looked at:" >&2
  cat "$work/unseen" >&2
fi
