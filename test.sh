#!/bin/sh
# Runs what must pass before a change lands, in two halves of named stages, and prints the time of each stage.
#
#   ./test.sh          lint and tests: formatting, the linters, the tests on the embedded engine; about five minutes on two
#                      cores and 8 GiB of free memory, longer with less; seconds when nothing changed
#   ./test.sh rest     race, postgres, cluster, peers, deploy, browser; about a quarter of an hour
#   ./test.sh all      both halves
#   ./test.sh STAGE    one stage of the two halves, with its packages given or chosen:
#                      ./test.sh race ./internal/schedule/..., ./test.sh postgres ./internal/team
#   ./test.sh quick    the tests of single packages: under two minutes, installs nothing
#
# It needs a shell and Go, nothing else. The halves install what else they use (tools/install.sh; TOOLS=no leaves that
# out). What a stage does not run is named at the end.
set -eu
cd "$(dirname "$0")"
. tools/say.sh

command -v go >/dev/null || fail "Go is missing: install Go 1.26 or newer (https://go.dev/dl)"
# spare prints a directory in memory for the files of tests, if there is memory for it and programs start from it.
spare() {
	awk '/^MemAvailable:/ { exit $2 < 8388608 }' /proc/meminfo 2>/dev/null || return 0
	awk '$2 == "/dev/shm" && $4 !~ /noexec/ { print $2 }' /proc/mounts | tail -n 1
}

# Where memory is plenty, the tests use it: their databases are written often and read by them alone, and their processes
# end before garbage matters. That saves a third of their processor time.
memory=$(spare)
scratch=$(mktemp -d -p "${memory:-${TMPDIR:-/tmp}}")
if [ -n "$memory" ]; then
	chmod 711 "$scratch" # servers of tests run as other users
	mkdir -m 1777 "$scratch/tmp"
	export GOGC=400 TMPDIR="$scratch/tmp"
fi
trap 'rm -rf "$scratch"' EXIT
trap 'trap "" TERM; kill 0; exit 1' INT TERM # stages beside others would go on
stages=${TOCSIN_STAGES:-$scratch/stages} # several runs may note their stages in one file

# skip names a check that this machine cannot run, for the end of the run.
skip() { echo "  $1" >>"$scratch/skipped"; }

# wants names a check that needs programs when one of them is missing: wants "CHECK" PROGRAM...
wants() {
	check=$1
	shift
	for program; do
		command -v "$program" >/dev/null || [ -x "/usr/sbin/$program" ] || skip "$check ($program is missing)"
	done
}

# packages lists the packages of the stage "tests", the longest first so that no core idles at the end. The others start
# servers, containers or other programs and have stages of their own.
slow="./test/story ./internal/app ./test/blackbox ./test/architecture ./internal/console ./internal/schedule"
packages() {
	# shellcheck disable=SC2086 # the list is meant to be split
	go list $slow
	go list ./... | grep -v -e /test/nodes -e /test/edges -e /test/failover -e /test/faults -e /test/peer -e /test/deploy
}

# shared lists the packages whose goroutines share memory: those of the server's own parts that start, lock or hand over
# something. What the other packages lock, the stories lock as well.
shared() {
	grep -rlE --include='*.go' --exclude='*_test.go' '^	*go |sync\.|atomic\.|chan ' \
		internal/api internal/auth internal/signin internal/engine internal/platform |
		sed 's|^|./|; s|/[^/]*$||' | sort -u | grep -v -e copydb -e /redact
}

# chapters names the first story of each file of test/story: each engine, with the goroutines of all others beside it.
chapters() {
	grep -h -m 1 '^func Test' test/story/*_test.go | sed 's/^func \(Test[A-Za-z0-9_]*\).*/\1/' | paste -s -d '|' -
}

# stored lists the packages whose tests make databases, without those that have no statement of their own: among them all
# of test/, with stages of their own.
stored() {
	go list -test -f '{{.ImportPath}} {{join .Deps " "}}' ./... | sed -n '/ tocsin\/internal\/platform\/db\/dbtest\( \|$\)/s/\.test .*//p' |
		grep -v -e /test/ -e /internal/console -e /internal/demo
}

# Tests that rest leaves to make soak, because they took most of its time and find little there that others do not find:
# alone, long tests of one goroutine that test no statement; long, stories in which goroutines do for hours what they
# do for a minute in others; plain, the operations and the document as a caller sees them, whatever the engine, and what
# shorter tests ask of PostgreSQL, too.
alone='TestLargeBodyIsTakenAsFarAsItFits|TestMessageOfFiveThousandAlerts|TestRuleOverItsBudgetDoesNotMatch'
alone="$alone|TestCleanConfigurationPagesForEveryEvent|TestBodySizeIsLimited|TestClientDeclares(EveryResource|Variants)"
alone="$alone|TestEveryProblemIsFoundAndVanishes|TestEveryResourceIsDeclared|TestExplainSamples|TestMovedAccountIsNamed"
alone="$alone|TestMoveAccount(Interrupted|WhileEventsArrive)|TestOrderChangesNoAlert|TestPublicAddressesAreThoseOfRegistries"
alone="$alone|TestResourcesHaveEveryMember|TestThousandsOfSources"
long='TestStorm(IntoAcknowledgedIncidentIsOneMessage|IsFewMessages|OfOneErrorIsOnePage|OfUnroutedEventsIsFewMessages)'
long="$long|TestStormWithoutRuleIsFewMessages|TestFloodOfKindsOfErrorsIsBounded|TestSnoozesThatEndTogether"
long="$long|TestCorruptOwnAlertRepeatsNoMessage|TestEndpointThatFailsForHourIsReportedOnce|TestTwoRisesNotifyTwice"
long="$long|TestWhatExplainCalls(NextHappensNext|NextMessageIsSentNext)|TestRemindersS(hareMessage|top)"
long="$long|TestRiseOfAcknowledgedIncidentNotifiesItsResponders|TestRiseWaitsForEndOfSilenceOrSnooze"
long="$long|TestIssuesBeyondBoundAreOneIncident|TestOutageAfterFlappingIsNotified|TestRepliedTextMessageAcknowledges"
long="$long|TestFiftyFailingEndpointsAreFewMessages|TestManyAcknowledgementsAreFewMessages|TestFlappingAlertIsOneIncident"
long="$long|TestEnabledHeartbeatHasItsFullInterval|TestTargetThatFailsForHour|TestPageOfUnfinishedRequestSaysSo"
long="$long|TestFloodWithCorruptEscalationsNotifiesEachOnce|TestFiguresOfStorm|TestIntervalOfJoinedAlertsIsConfigured"
long="$long|TestIncidentThatNobodyAcknowledgedRemindsLastStep|TestRestore(Refuses|Replaces)"
plain='TestDataPermissionIsAsDocumented|TestEveryOperationRefuses|TestDocumentKeepsRules|TestAnyConfigurationSurvivesItsFile'
plain="$plain|TestEveryRequestIsBounded|TestBudget|TestCachesAgreeWithDatabase|TestLargestMap|TestOpenChangesAreBounded"
plain="$plain|TestMoreThanOneCallMayRead|TestMessagesOfObjectArriveInOrder|TestFailureHoldsUpItsObjectForMinuteOnly"
plain="$plain|TestKilled|TestCutConnection|TestFileHasEveryTable|TestEscalateRulesAreDumpedAsLoaded"
plain="$plain|TestNoSecretOfRequestIsShown"

lint() {
	unformatted=$(gofmt -l cmd docs examples internal test)
	[ -z "$unformatted" ] || fail "not formatted with gofmt: $unformatted"
	go tool -modfile=tools/go.mod golangci-lint run ./...
	(cd test/bench && go tool -modfile=../../tools/go.mod golangci-lint run ./...) # a module of its own
}

# tests runs without go vet, whose checks are among the linters. Three packages run at a time, because some wait.
tests() {
	wants "the newcomer's script, test/newcomer" bash curl jq
	# shellcheck disable=SC2046
	go test -vet=off -p 3 -timeout 20m $(packages)
	(cd test/bench && go test -vet=off ./...)
}

quick() {
	gofmt -l cmd docs examples internal test | grep . && fail "the files above are not formatted with gofmt"
	# shellcheck disable=SC2046
	go test -vet=off $(packages | grep -v -e /test/story -e /test/blackbox -e /internal/app -e /internal/demo)
}

# race watches neither SQLite, which is C translated to Go: its memory lies outside of Go's heap, where the detector sees
# nothing, and its checks took three quarters of the processor time of these tests.
race() {
	if ! has_c; then
		skip "THE RACE DETECTOR (a C compiler or its headers are missing)"
		return
	elif [ "$(go env CGO_ENABLED)" != 1 ]; then
		skip "THE RACE DETECTOR (CGO_ENABLED is $(go env CGO_ENABLED))"
		return
	fi
	if [ $# -gt 0 ]; then
		detect "$@"
		return
	fi
	# shellcheck disable=SC2046
	detect -skip "^($alone|$long)\$" $(shared)
	detect -skip "^($alone|$long)\$" -run "^($(chapters))\$" ./test/story
	skip "long tests, most stories and packages that start no goroutine, under the race detector: make soak runs all"
}

detect() {
	go test -vet=off -p 3 -timeout 20m -race -gcflags=modernc.org/sqlite/lib=-race=false \
		-gcflags=modernc.org/libc/...=-race=false -gcflags=modernc.org/memory=-race=false "$@"
}

# postgres runs the tests that make databases on a temporary PostgreSQL server. Of test/story it runs what differs between
# the engines: all of it takes a quarter of an hour (make soak). Of test/architecture it runs what does not read the source.
postgres() {
	command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || {
		skip "POSTGRESQL: the program ran on the embedded engine alone (apt-get install postgresql)"
		return
	}
	go build -o "$scratch/with" ./test/pgserver/with # go run has a status of its own
	if [ $# -gt 0 ]; then
		"$scratch/with" go test -vet=off -timeout 30m "$@"
		return
	fi
	# shellcheck disable=SC2046
	"$scratch/with" go test -vet=off -p 3 -timeout 20m -skip "^($alone|$plain)\$" $(stored)
	"$scratch/with" go test -vet=off -timeout 20m ./test/story ./test/architecture \
		-run 'TestEnginesAgree|TestDatabaseThatWillBeTooLarge|TestInvariantsOfTwoPrograms|TwoProcesses|TestMove|Restart|Statement|Retention|Watched|Plans|ModuleHolds'
	skip "most stories, the console and some long tests on PostgreSQL: make soak runs all"
}

# cluster runs several servers at a time, or edges, and kills them.
cluster() {
	for commit in $(sed -n 's/^\([0-9a-f]\{7,\}\) .*/\1/p' test/nodes/earlier.txt); do
		git cat-file -e "$commit^{tree}" 2>/dev/null || skip "THE UPGRADE from $commit, test/nodes (this copy is without git's history)"
	done
	wants "a Patroni cluster, test/failover" patroni etcd haproxy
	go test -vet=off -timeout 20m ./test/nodes ./test/edges ./test/failover ./test/faults
}

peers() {
	wants "real peers, test/peer" prometheus prometheus-alertmanager nginx zabbix_js mariadbd clickhouse-server
	wants "the signatures of webhooks in a second language, test/story" python3
	go test -vet=off ./test/peer/...
	(cd test/oidc && go test -vet=off ./...)
	(cd test/pagerduty && go test -vet=off ./...)
	(cd test/datasource && go test -vet=off ./...)
}

deploy() {
	wants "checks of deploy/, test/deploy" systemd-analyze promtool dpkg lintian buildah nginx
	[ "$(id -u)" = 0 ] || skip "the package and the image in a root of their own, test/deploy (they need root)"
	go test -vet=off ./test/deploy
	(cd test/deploy/helm && go test -vet=off -count=1 ./...) # the chart is outside of its module, so results would be cached though it changes
}

browser() {
	(cd test/browser && go tool -modfile=../../tools/go.mod golangci-lint run ./...) # a module of its own
	if ! command -v "${CHROMIUM:-chromium}" >/dev/null && ! command -v chromium-browser >/dev/null &&
		! command -v google-chrome-stable >/dev/null && ! command -v google-chrome >/dev/null; then
		skip "THE CONSOLE IN A BROWSER, test/browser: Chromium is missing (apt-get install chromium, or name it in CHROMIUM)"
		return
	fi
	(cd test/browser && go test -vet=off -timeout 20m ./...)
	command -v "${CHROMIUM:-chromium-headless-shell}" >/dev/null || say "without chromium-headless-shell the tests take twice the time"
	skip "pages in every combination of language, theme, width and size of text: make browser"
	skip "pages with a query that are empty or hostile, and axe-core on states without a new kind of element: make browser"
}

# stage runs a stage and notes its time and the processor time of its processes, without servers in the background.
stage() {
	say "$1"
	began=$(date +%s)
	times >"$scratch/$1.before" # in this shell: a subshell has no programs yet
	"$@"
	times >"$scratch/$1.after"
	printf '  %-10s %5d s, %5d s of processors\n' "$1" $(($(date +%s) - began)) $(($(used "$1.after") - $(used "$1.before"))) >>"$stages"
}

lane() {
	for name; do
		stage "$name"
	done
}

# beside runs two lists of stages at a time, all of both, and fails if one fails. The second one's output comes at the end.
beside() {
	# shellcheck disable=SC2086 # the lists are meant to be split
	lane $1 &
	one=$!
	# shellcheck disable=SC2086
	lane $2 >"$scratch/second" 2>&1 &
	other=$!
	failed=
	wait "$one" || failed=yes
	wait "$other" || failed=yes
	cat "$scratch/second"
	[ -z "$failed" ]
}

# used prints the seconds of processors in a file of times: used FILE.
used() {
	awk 'NR == 2 { split($1, u, /[ms]/); split($2, s, /[ms]/); printf "%d", u[1] * 60 + u[2] + s[1] * 60 + s[2] }' "$scratch/$1"
}

tools() {
	[ "${TOOLS:-yes}" = no ] || sh tools/install.sh
}

# half runs one stage after the other: both compile the whole program, and beside each other they would do it twice.
half() {
	lane tools lint tests
}

rest() {
	beside "race postgres" "cluster peers deploy browser" # the second list mostly waits
}

case "${1:-}" in
"")
	half
	;;
rest)
	lane tools
	rest
	;;
all)
	half
	rest
	;;
quick | lint | tests | race | postgres | cluster | peers | deploy | browser) stage "$@" ;;
*) fail "usage: ./test.sh [rest|all|quick|lint|tests|race [PACKAGES]|postgres [PACKAGES]|cluster|peers|deploy|browser]" ;;
esac
say "time"
cat "$stages"
if [ -s "$scratch/skipped" ]; then
	say "NOT run on this machine:"
	cat "$scratch/skipped"
fi
