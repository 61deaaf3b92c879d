#!/bin/sh
# Runs everything that must pass: formatting, vet, the linters, all tests under the race detector, those that use a
# database on both engines, and at the end the time of each stage.
#
#   ./test.sh          all of it, after tools/install.sh (TOOLS=no leaves that out)
#   ./test.sh quick    installs nothing; no race detector, no linters, none of the tests that run the whole program:
#                      under two minutes, seconds once its results are cached
#   ./test.sh lint     formatting, vet and the linters alone
#   ./test.sh race ./internal/schedule/...   go test of these packages under the race detector, as in the whole run
#   ./test.sh postgres [PACKAGES]   the tests that use a database, on a temporary PostgreSQL server, without the race detector
#   ./test.sh browser  the tests of the console in Chromium alone, with the time of each
#
# It needs a shell and Go, nothing else. What it does not run it names at the end.
set -eu
cd "$(dirname "$0")"
. tools/say.sh
skipped=

# The race detector does not watch SQLite, which is C translated to Go: its memory lies outside of Go's heap, where the
# detector sees nothing, and its checks took three quarters of the processor time of these tests.
race="-race -gcflags=modernc.org/sqlite/lib=-race=false -gcflags=modernc.org/libc/...=-race=false -gcflags=modernc.org/memory=-race=false"

command -v go >/dev/null || fail "Go is missing: install Go 1.26 or newer (https://go.dev/dl)"

lint() {
	unformatted=$(gofmt -l cmd docs examples internal test)
	[ -z "$unformatted" ] || fail "not formatted with gofmt: $unformatted"
	go tool -modfile=tools/go.mod golangci-lint run ./...
	(cd test/browser && go tool -modfile=../../tools/go.mod golangci-lint run ./...)
}

# browser prints the path of Chromium; it fails if there is none.
browser() { command -v "${CHROMIUM:-chromium}" || command -v chromium-browser || command -v google-chrome-stable || command -v google-chrome; }

# skip names a check that this machine cannot run, for the end of the run.
skip() { skipped="$skipped
  $1"; }

# stage prints a heading and ends the stage before, whose time and processor time (of this script's processes, without
# servers in the background) times prints.
stage() {
	now=$(date +%s)
	times >"$scratch/times"
	used=$(awk 'NR == 2 { split($1, u, /[ms]/); split($2, s, /[ms]/); printf "%d", u[1] * 60 + u[2] + s[1] * 60 + s[2] }' "$scratch/times")
	[ -z "${name-}" ] || printf '  %-34s %5d s, %5d s of processors\n' "$name" $((now - began)) $((used - before)) >>"$scratch/stages"
	name=$1 began=$now before=$used
	[ -z "$name" ] || say "$name"
}

# stored lists the packages whose tests make databases, without those that start PostgreSQL servers of their own.
stored() {
	go list -test -f '{{.ImportPath}} {{join .Deps " "}}' ./... | sed -n '/ tocsin\/internal\/platform\/db\/dbtest\( \|$\)/s/\.test .*//p' | grep -v /test/nodes
}

# The packages that take longest, which begin first. Some of them mostly wait, beside others that do not.
slow="./test/story ./test/nodes ./test/failover ./internal/app ./test/blackbox ./test/deploy ./test/architecture"

# postgres runs packages on a temporary PostgreSQL server, which it removes again; 77: PostgreSQL is not installed.
postgres() { go run ./test/pgserver/with go test -vet=off -timeout 30m "$@"; }

case "${1:-all}" in
quick)
	gofmt -l cmd docs examples internal test | grep . && fail "the files above are not formatted with gofmt"
	go vet ./...
	go test -vet=off $(go list ./... | grep -v -e /test/story -e /test/blackbox -e /test/peer -e /test/faults -e /test/bench -e /test/nodes -e /test/failover -e /test/deploy -e /internal/app -e /internal/demo)
	;;
lint)
	say "formatting, vet, linters"
	lint
	;;
race)
	shift
	# shellcheck disable=SC2086 # the list is meant to be split
	go test $race "$@"
	;;
all)
	scratch=$(mktemp -d)
	trap 'rm -rf "$scratch"' EXIT
	trap 'exit 1' INT TERM
	stage "tools"
	[ "${TOOLS:-yes}" = no ] || sh tools/install.sh
	stage "formatting, vet, linters"
	lint
	if ! has_c; then
		race=
		skip "the race detector (a C compiler or its headers are missing)"
	elif [ "$(go env CGO_ENABLED)" != 1 ]; then
		race=
		skip "the race detector (CGO_ENABLED is $(go env CGO_ENABLED))"
	fi
	[ -n "$race" ] || say "without the race detector; the end says why"
	command -v curl >/dev/null && command -v jq >/dev/null || skip "the newcomer's script, test/newcomer (curl or jq is missing)"
	command -v prometheus >/dev/null && command -v prometheus-alertmanager >/dev/null &&
		{ command -v nginx >/dev/null || [ -x /usr/sbin/nginx ]; } ||
		skip "real peers, test/peer (prometheus, prometheus-alertmanager or nginx is missing)"
	for program in systemd-analyze promtool dpkg lintian buildah nginx; do
		command -v $program >/dev/null || [ -x /usr/sbin/$program ] || skip "checks of deploy/ that use $program, test/deploy ($program is missing)"
	done
	[ "$(id -u)" = 0 ] || skip "the package and the image in a root of their own, test/deploy (they need root)"
	for commit in $(sed -n 's/^\([0-9a-f]\{7,\}\) .*/\1/p' test/nodes/earlier.txt); do
		git cat-file -e "$commit^{tree}" 2>/dev/null || skip "THE UPGRADE from $commit, test/nodes (this copy is without git's history)"
	done
	command -v python3 >/dev/null || skip "the signatures of webhooks in a second language, test/story (python3 is missing)"
	stage "tests${race:+ under the race detector}"
	# One build serves both engines: tools/both.sh runs it on the one and then on the other. Three packages at once: some
	# start servers and wait. -vet=off: the linters have vetted.
	go build -o "$scratch/with" ./test/pgserver/with # go run has a status of its own
	status=0
	# shellcheck disable=SC2086 # the lists are meant to be split
	"$scratch/with" go test -vet=off -p 3 -timeout 30m $race -exec "sh $PWD/tools/both.sh" $slow ./... || status=$?
	[ $status = 77 ] || skip "most stories of test/story on PostgreSQL: make postgres runs all, for a quarter of an hour"
	if [ $status = 77 ]; then
		skip "POSTGRESQL: THE WHOLE PROGRAM RAN ON THE EMBEDDED ENGINE ALONE (apt-get install postgresql)"
		status=0
		# shellcheck disable=SC2086
		go test -vet=off -p 3 -timeout 30m $race $slow ./... || status=$?
	fi
	[ $status = 0 ] || fail "tests (status $status)"
	(cd test/oidc && go test -vet=off ./...)
	(cd test/deploy/helm && go test -vet=off -count=1 ./...) # the chart is outside of its module, so results would be cached though it changes
	if browser >/dev/null; then
		stage "tests of the console in Chromium"
		(cd test/browser && go test -vet=off ./...)
		skip "the full account in Chinese and the empty one in English in all looks: make browser"
	else
		skip "THE CONSOLE IN A BROWSER: test/browser did not run, Chromium is missing (apt-get install chromium, or name it in CHROMIUM)"
	fi
	stage ""
	say "time"
	cat "$scratch/stages"
	[ -z "$skipped" ] || say "NOT run on this machine:$skipped"
	;;
postgres)
	shift
	[ $# -gt 0 ] || set -- $(stored)
	postgres "$@"
	;;
browser)
	browser >/dev/null || fail "Chromium is missing: apt-get install chromium, or name it in CHROMIUM"
	(cd test/browser && TOCSIN_BROWSER=all go test -vet=off -v ./...)
	;;
*) fail "usage: ./test.sh [quick|lint|race PACKAGES|postgres [PACKAGES]|browser]" ;;
esac
