# make test    everything that must pass: vet, lint, all tests under the race detector
# make demo    the throw-away server
# make build   the static binary, stripped, in bin/; VERSION says its version (default: the tag, else dev)
# make bench   the figures of docs/performance.md, beside a constant reply of the same size
# make fuzz    every fuzz target for FUZZTIME each (default 5m)
# make soak    the timeline engine against its naive model, CASES random schedules (default 100000)

FUZZTIME ?= 5m
CASES    ?= 100000
VERSION  ?= $(or $(shell git describe --tags --dirty 2>/dev/null),dev)

.PHONY: test check-tools lint demo build bench fuzz soak golden

test: check-tools lint
	@test -d ../shared/reference/openapi || echo "note: ../shared/reference/openapi is not beside this checkout: the shapes of replies are NOT checked against it"
	go test -race ./...

# The race detector needs a C compiler; the product does not. On a bare Debian run as root it is
# installed, elsewhere it is named.
check-tools:
	@command -v go >/dev/null || { echo "Go is missing: install Go 1.26 or newer (https://go.dev/dl)"; exit 1; }
	@command -v gcc >/dev/null || { \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then apt-get update -q && apt-get install -qy gcc libc6-dev; \
		else echo "gcc is missing, the race detector needs it: apt-get install gcc libc6-dev"; exit 1; fi; }
	@for tool in curl jq; do command -v $$tool >/dev/null || { \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then apt-get update -q && apt-get install -qy $$tool; \
		else echo "$$tool is missing, the newcomer's script needs it: apt-get install $$tool"; exit 1; fi; }; done

	@command -v prometheus >/dev/null && command -v prometheus-alertmanager >/dev/null || { \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends prometheus prometheus-alertmanager; \
		else echo "note: prometheus and prometheus-alertmanager are missing: the test with real peers (test/peer) is NOT run"; fi; }

lint:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go' 2>/dev/null || find . -name '*.go')); \
	if [ -n "$$unformatted" ]; then echo "not formatted:"; echo "$$unformatted"; exit 1; fi
	go vet ./...
	go tool staticcheck ./...

demo:
	go run ./cmd/tocsin demo

build:
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X tocsin/internal/cli.version=$(VERSION)" -o bin/tocsin ./cmd/tocsin

bench:
	go run ./test/bench

# go test takes one fuzz target at a time, so they are run one after the other.
fuzz:
	@for dir in $$(go list -f '{{.Dir}}' ./...); do \
		for target in $$(cd $$dir && grep -ho '^func Fuzz[A-Za-z0-9_]*' *_test.go 2>/dev/null | sed 's/^func //'); do \
			echo "== $$dir $$target"; (cd $$dir && go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) .) || exit 1; \
		done; \
	done

soak:
	TOCSIN_TIMELINE_CASES=$(CASES) go test -count=1 -timeout 0 -run . ./internal/timeline

golden:
	go test $$(find internal -path '*/testdata/golden' | sed 's#^#./#; s#/testdata/golden##') -update
