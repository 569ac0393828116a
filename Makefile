# Everything that a contributor runs. `make test` is what CI runs.
GO ?= go
TOOLS := $(CURDIR)/bin/tools

.PHONY: build test unit real lint update fuzz oracle demo clean

build: ## bin/backstop
	$(GO) build -trimpath -o bin/backstop ./cmd/backstop

test: real lint ## all of it against real parts, which are installed with apt
	BACKSTOP_REQUIRE_REAL=1 $(GO) test -race -timeout 30m ./...

unit: ## without root: skips the real parts and says which
	$(GO) test ./...

real: ## installs the real parts that the tests need (root)
	.ci/install-real

lint: $(TOOLS)/staticcheck
	@bad=$$(gofmt -l $$(git ls-files '*.go')); [ -z "$$bad" ] || { echo "gofmt would change: $$bad"; exit 1; }
	$(GO) vet ./...
	$(TOOLS)/staticcheck ./...

$(TOOLS)/staticcheck:
	GOBIN=$(TOOLS) $(GO) install honnef.co/go/tools/cmd/staticcheck@v0.8.2

update: ## rewrites every derived file
	$(GO) test ./audit/report ./store ./rules ./alerts ./cmd/... -update

FUZZTIME ?= 1m
fuzz: ## every fuzz target for FUZZTIME
	.ci/fuzz $(FUZZTIME)

oracle: real ## 300 random rule sets that a real S3 server executes day by day; half an hour
	BACKSTOP_REQUIRE_REAL=1 $(GO) test ./rules/lifecycle -run '^TestOracle$$' -v -count 1 -timeout 3h -parallel 3 -sets 300 -gateways 3 -days 14 -headers 2100

demo:
	$(GO) run ./cmd/backstop demo

clean:
	rm -rf bin
