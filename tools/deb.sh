#!/bin/sh
# Builds the Debian package of a binary: tools/deb.sh BINARY ARCH VERSION FILE. VERSION is as git describes it. The same
# binary, version and commit give the same bytes.
set -eu
cd "$(dirname "$0")/.."

BINARY=$1 ARCH=$2 file=$4
# Debian's versions begin with a digit, and `~` sorts before the end: 1.2.0~rc1 is older than 1.2.0, 1.2.0+4+gabc newer.
VERSION=$(printf '%s' "$3" | sed -e 's/^v//' -e 's/-\(alpha\|beta\|rc\)/~\1/' -e 's/-/+/g' -e 's/^[^0-9]/0~&/' -e 's/^[0-9a-f]\{7,40\}\(+dirty\)\{0,1\}$/0~&/')
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || echo 0)
STAGE=$(mktemp -d)
trap 'rm -rf "$STAGE"' EXIT
export BINARY ARCH VERSION SOURCE_DATE_EPOCH STAGE

printf 'tocsin (%s-1) stable; urgency=medium\n\n  * See changelog.gz beside this file.\n\n -- Tocsin <tocsin@localhost>  %s\n' \
	"$VERSION" "$(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")" | gzip -9n >"$STAGE/changelog.Debian.gz"
gzip -9nc CHANGELOG.md >"$STAGE/changelog.gz"
gzip -9nc deploy/deb/tocsin.1 >"$STAGE/tocsin.1.gz"
go tool -modfile=tools/nfpm/go.mod nfpm package --config deploy/deb/nfpm.yaml --packager deb --target "$file" >/dev/null
