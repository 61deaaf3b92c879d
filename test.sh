#!/bin/sh
# Runs everything that must pass: formatting, vet, the linters, all tests under the race detector.
#
#   ./test.sh          all of it, after tools/install.sh (TOOLS=no leaves that out)
#   ./test.sh quick    installs nothing; no race detector, no linters, none of the tests that run the whole program:
#                      under two minutes, seconds once its results are cached
#   ./test.sh lint     formatting, vet and the linters alone
#   ./test.sh race ./internal/schedule/...   go test of these packages under the race detector, as in the whole run
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
	say "formatting, vet, linters"
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

case "${1:-all}" in
quick)
	gofmt -l cmd docs examples internal test | grep . && fail "the files above are not formatted with gofmt"
	go vet ./...
	go test -vet=off $(go list ./... | grep -v -e /test/story -e /test/blackbox -e /test/peer -e /test/faults -e /test/bench -e /internal/app -e /internal/demo)
	;;
lint) lint ;;
race)
	shift
	# shellcheck disable=SC2086 # the list is meant to be split
	go test $race "$@"
	;;
all)
	[ "${TOOLS:-yes}" = no ] || sh tools/install.sh
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
	command -v python3 >/dev/null || skip "the signatures of webhooks in a second language, test/story (python3 is missing)"
	say "tests${race:+ under the race detector}"
	# -vet=off: the linters have vetted.
	# shellcheck disable=SC2086 # the list is meant to be split
	go test -vet=off $race ./...
	(cd test/oidc && go test -vet=off ./...)
	if browser >/dev/null; then
		say "tests of the console in Chromium"
		(cd test/browser && go test -vet=off ./...)
		skip "the full account in Chinese and the empty one in English in all looks: make browser"
	else
		skip "THE CONSOLE IN A BROWSER: test/browser did not run, Chromium is missing (apt-get install chromium, or name it in CHROMIUM)"
	fi
	[ -z "$skipped" ] || say "NOT run on this machine:$skipped"
	;;
browser)
	browser >/dev/null || fail "Chromium is missing: apt-get install chromium, or name it in CHROMIUM"
	(cd test/browser && TOCSIN_BROWSER=all go test -vet=off -v ./...)
	;;
*) fail "usage: ./test.sh [quick|lint|race PACKAGES|browser]" ;;
esac
