# Everything that a contributor runs. `make test` is what CI runs.
GO ?= go
TOOLS := $(CURDIR)/bin/tools

.PHONY: build test unit real lint deps cases update situations fuzz oracle bench replay demo clean

build: ## bin/backstop
	$(GO) build -trimpath -o bin/backstop ./cmd/backstop

test: real lint ## all of it against real parts, which are installed with apt
	BACKSTOP_REQUIRE_REAL=1 $(GO) test -race -timeout 30m ./...

unit: ## without root: skips the real parts and says which
	$(GO) test ./...

real: ## installs the real parts that the tests need (root), and builds an etcd
	.ci/install-real
	.ci/etcd/build 3.6

lint: $(TOOLS)/staticcheck
	@bad=$$(gofmt -l $$(git ls-files '*.go')); [ -z "$$bad" ] || { echo "gofmt would change: $$bad"; exit 1; }
	$(GO) vet ./...
	$(TOOLS)/staticcheck ./...

$(TOOLS)/staticcheck:
	GOBIN=$(TOOLS) $(GO) install honnef.co/go/tools/cmd/staticcheck@v0.8.2

deps: ## known vulnerabilities and licences of what the program is linked with
	.ci/deps

FILE ?= rules/lifecycle/testdata/cases.json
cases: ## the lifecycle cases of FILE, and how many passed
	@$(GO) test -c -o bin/cases.test ./rules/lifecycle
	@cd rules/lifecycle && ../../bin/cases.test -test.run Cases -cases '$(abspath $(FILE))'

update: ## rewrites every derived file
	$(GO) test ./audit/report ./store ./rules ./rules/lint ./alerts ./alerts/notify ./cmd/backstop -update

situations: ## what is said of a cluster in every situation, by name
	$(GO) test ./cmd/backstop -run Situations -v

FUZZTIME ?= 1m
fuzz: ## every fuzz target for FUZZTIME
	.ci/fuzz $(FUZZTIME)

oracle: real ## what takes half an hour: 300 rule sets that a real S3 server executes day by day; snapshots against etcd 3.4 to 3.7
	BACKSTOP_REQUIRE_REAL=1 $(GO) test ./rules/lifecycle -run '^TestOracle$$' -v -count 1 -timeout 3h -parallel 3 -sets 300 -gateways 3 -days 14 -headers 2100
	.ci/etcd/build 3.5 3.6 3.7
	BACKSTOP_REQUIRE_REAL=1 BACKSTOP_ORACLE=1 $(GO) test ./store/snapshot -v -count 1 -timeout 1h -run '^(TestNoRandomDamagePasses|TestRealServers|TestHashKVAfterRestore|TestMutationsAgainstEtcdutl)$$'
	BACKSTOP_REQUIRE_REAL=1 BACKSTOP_ORACLE=1 $(GO) test ./store/drill -v -count 1 -run '^(TestHealthyAreRestored|TestFreshSnapshotIsRestored)$$'

BENCHFLAGS ?=
bench: build ## every program of cmd/bench, then the benchmarks of the packages
	@set -e; for b in cmd/bench/*/; do $(GO) build -trimpath -o bin/ ./$$b; "bin/$$(basename $$b)" $(BENCHFLAGS); done
	$(GO) test -run '^$$' -bench . -benchmem ./...

SCENARIO ?= $(addprefix cmd/replay/scenarios/,disasters.yaml lifecycle.yaml fleet.yaml)
REPLAYFLAGS ?=
replay: ## a fleet's life in memory: false alarms and missed disasters (docs/reliability.md); long
	$(GO) build -trimpath -o bin/replay ./cmd/replay
	bin/replay $(REPLAYFLAGS) $(SCENARIO)

demo:
	$(GO) run ./cmd/backstop demo

clean:
	rm -rf bin
