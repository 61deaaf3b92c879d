# make test    formatting, the linters and the tests on the embedded engine: the same as ./test.sh, which needs no make
# make rest    the other stages that must pass: race, postgres, cluster, peers, deploy, browser
# make quick   what runs in under two minutes, installing nothing
# make tools   installs what the tests use besides Go, or prints what is missing (TOOLS=no leaves it out of make test and make rest)
# make postgres   the tests that use a database on a temporary PostgreSQL server; PACKAGES="./internal/team" for some
# make lint    formatting, vet and the linters
# make demo    the throw-away server
# make build   the static binary, stripped, in bin/
# make release static binaries for Linux on amd64 and arm64, bills of materials, Debian packages and checksums, in dist/
# make bench   the figures of docs/performance.md, beside a constant reply of the same size; ARGS="-only events" measures one thing,
#              ARGS=-help names all
# make bench-gate   processor time and KB written for an event, of the commit BASE (default HEAD~1) and of the working tree, in turn;
#              fails when one is more than 15 % above
# make scale   what grows with the number of accounts, and what each tenfold needs: the figures of docs/scale.md
# make cluster three nodes on PostgreSQL with a standby, under load, while a node and the primary are killed: what was lost (nothing)
# make fuzz    every fuzz target for FUZZTIME each (default 5m)
# make soak    the tests of random cases for long: CASES schedules (default 100000), ROUNDS of the others (default 50); its
#              stages are targets of their own: make soak-nodes
# make soak-patroni   every fault of a Patroni cluster, with and without a synchronous standby and HAProxy, twice (24 each time)
# make loki    Grafana Loki as a datasource; it is compiled from its modules, which are gigabytes
# make pictures   the pictures of messages in docs/picture; needs Chromium, CHROMIUM=its name (default chromium)
# make browser tests of the console in Chromium
# make icons      the pictures of the console for the first screens of phones
# make generators   clients generated from the API's document by four programs of others, which it installs, must compile
# make shots   the pictures of the console's pages in docs/picture/console; needs Chromium and a Chinese font
# make golden  writes the golden replies: read the difference before you commit it
# make published REFERENCE="NEWEST.json OLDER.json"   the digest of the public API description that replies are held against

FUZZTIME ?= 5m
CASES    ?= 100000
ROUNDS   ?= 50
CHROMIUM ?= chromium
BASE     ?= HEAD~1

# The stages of the soak; each runs alone, too.
SOAK = soak-timeline soak-monitors soak-rules soak-stories soak-stress soak-crash soak-failover soak-nodes soak-edges soak-postgres soak-race browser generators

.PHONY: test rest quick tools postgres lint demo build release bench bench-gate scale cluster fuzz soak soak-patroni loki $(SOAK) golden pictures icons shots published

test:
	./test.sh

rest:
	./test.sh rest

quick:
	./test.sh quick

tools:
	sh tools/install.sh

postgres:
	./test.sh postgres $(PACKAGES)

lint:
	./test.sh lint

demo:
	go run ./cmd/tocsin demo

build:
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X tocsin/internal/cli.version=$$(sh tools/version.sh)" -o bin/tocsin ./cmd/tocsin

release:
	sh tools/release.sh

# The measurements are a module of their own.
BENCH = go build -C test/bench -o ../../bin/bench . && bin/bench

bench:
	$(BENCH) $(ARGS)

bench-gate:
	$(BENCH) -only gate -base $(BASE)

scale:
	$(BENCH) -only scale

cluster:
	go run ./test/nodes/cluster

# go test takes one fuzz target at a time, so they are run one after the other.
fuzz:
	@for dir in $$(go list -f '{{.Dir}}' ./...); do \
		for target in $$(cd $$dir && grep -ho '^func Fuzz[A-Za-z0-9_]*' *_test.go 2>/dev/null | sed 's/^func //'); do \
			echo "== $$dir $$target"; (cd $$dir && go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) .) || exit 1; \
		done; \
	done

soak: $(SOAK)

soak-timeline:
	TOCSIN_TIMELINE_CASES=$(CASES) go test -count=1 -timeout 0 -run . ./internal/core/oncall
	TOCSIN_SCHEDULE_CASES=$(ROUNDS) go test -count=1 -timeout 0 -run 'TestExplainAgrees|TestReadersAgree|TestPlanOfOverride' ./internal/schedule

# The watches of alert rules beside a naive model, ten steps for each of CASES, and Prometheus' own test program.
soak-monitors:
	TOCSIN_MONITOR_STEPS=$$((10 * $(CASES))) TOCSIN_PROMTOOL_RULES=$$((4 * $(ROUNDS))) \
		go test -count=1 -timeout 0 -v -run 'TestWatchAgreesWithModel|TestPromtoolAgrees' ./internal/core/evaluate
	TOCSIN_PEER_RULES=200 go test -count=1 -timeout 0 -v -run TestRulesAgreeWithPrometheus ./test/peer

soak-rules:
	TOCSIN_CONFIGURATIONS=$(ROUNDS) TOCSIN_CACHE_SEEDS=$(ROUNDS) go test -count=1 -timeout 0 -run 'TestAnyConfiguration|TestCachesAgree' ./internal/app

soak-stories:
	TOCSIN_INVARIANT_RUNS=$(ROUNDS) TOCSIN_LINT_CONFIGURATIONS=$$((20 * $(ROUNDS))) \
		go test -count=1 -timeout 0 -run 'TestInvariants|TestCleanConfiguration' ./test/story

soak-stress:
	TOCSIN_BUDGET_SEEDS=$(ROUNDS) go test -count=1 -timeout 0 -run TestBudget ./internal/engine/notify
	TOCSIN_STRESS_SEEDS=$(ROUNDS) go test -count=1 -timeout 0 -run TestStress ./internal/platform/delivery
	TOCSIN_TRIAGE_SEEDS=$(ROUNDS) go test -count=1 -timeout 0 -run 'TestBatchResults|TestActionsWhile|TestOrderChanges' ./internal/engine/triage
	TOCSIN_WEBHOOK_SEEDS=$(ROUNDS) go test -count=1 -timeout 0 -run 'TestEachSubscriber|TestMessagesOfObject|TestFailureHolds|TestDumpIs' ./internal/engine/webhook

soak-crash:
	TOCSIN_CRASH_ROUNDS=$(ROUNDS) go test -count=1 -timeout 0 -run TestAcceptedEventsSurviveKill ./test/blackbox
	TOCSIN_POISONS=all go test -count=1 -timeout 0 -v -run TestPageComesDespitePoison ./test/blackbox

soak-failover:
	TOCSIN_FAILOVER_ROUNDS=$(ROUNDS) go test -count=1 -timeout 0 -v -run TestStandbyTakesOver ./test/failover

soak-nodes:
	TOCSIN_NODES_ROUNDS=$$((2 * $(ROUNDS))) go test -count=1 -timeout 0 -v -run TestNodeIsKilled ./test/nodes

# Each pair of faults twice, about half an hour.
soak-edges:
	TOCSIN_EDGES_ROUNDS=30 go test -count=1 -timeout 0 -v -run TestEdgesFailInPairs ./test/edges

# Stories mostly wait for the server, so more of them run at a time than there are processors.
soak-postgres:
	TOCSIN_ENGINE_SEEDS=$(ROUNDS) ./test.sh postgres -timeout 60m -parallel 8 ./test/story ./internal/...

soak-race:
	./test.sh race ./test/story ./internal/...

soak-patroni:
	TOCSIN_PATRONI_ROUNDS=2 go test -count=1 -timeout 0 -v -run TestPatroniCluster ./test/failover

loki:
	cd test/datasource && go test -vet=off -count=1 -timeout 0 -tags loki -v -run TestLokiIsAsked .

golden:
	go test $$(find internal -path '*/testdata/golden' | sed 's#^#./#; s#/testdata/golden##') -update

pictures:
	go run ./docs/picture/messages $(CHROMIUM)

icons:
	go run ./docs/picture/icons internal/console/asset

browser:
	TOCSIN_BROWSER=all ./test.sh browser

generators:
	cd test/generators && go test -vet=off -count=1 -timeout 30m -v ./...

shots:
	cd test/browser && CHROMIUM=$(CHROMIUM) go run ./shots ../../docs/picture/console

published:
	go run ./test/published $(REFERENCE) > internal/api/apitest/testdata/published.json
