# Everything that a contributor runs. `make test` is what CI runs.
GO ?= go
TOOLS := $(CURDIR)/bin/tools

.PHONY: build test unit real lint deps cases update situations fuzz oracle bench replay screenshots image image-test manifests manifests-update kube demo clean

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

VERSION ?=
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

screenshots: ## pictures of the page in bin/screenshots: healthy, foretold, armed and reset, desktop and phone, light and dark
	mkdir -p bin/screenshots
	BACKSTOP_REQUIRE_REAL=1 $(GO) test ./cmd/backstop -run '^TestScreenshots$$' -count 1 -screenshots '$(CURDIR)/bin/screenshots'

image: ## bin/image/oci: the container image for amd64 and arm64, as an OCI layout, with bills of materials
	cd .ci/image && $(GO) run . -version "$(VERSION)"

image-test: ## two builds give one digest; the image audits a real gateway on a read-only root (root)
	cd .ci/image && $(GO) test -count 1 -timeout 1h -v .

manifests: ## the chart: lint, each mode held against Kubernetes's schemas and against deploy/manifests
	.ci/kube/manifests

manifests-update: ## rewrites deploy/manifests
	.ci/kube/manifests update

kube: manifests ## the same, against a real kube-apiserver, which takes ten minutes to build
	.ci/kube/apiserver-check

demo:
	$(GO) run ./cmd/backstop demo

clean:
	rm -rf bin
