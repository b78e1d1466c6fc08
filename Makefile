# Everything a person or a build machine does here, one word each. `make` alone lists them.
# Needs Go, git and make. The longer recipes live in scripts/, in plain POSIX sh.

GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

# Static programs: no C library, no paths of the building machine. The version is stamped in by us, so the
# build does not ask git a second time (and works from a tarball or a checkout owned by somebody else).
BUILD_FLAGS := -trimpath -buildvcs=false -ldflags '-s -w -X main.version=$(VERSION)'

export GO

.DEFAULT_GOAL := help
.PHONY: help run demo test ts faults soak check build generate bench bench-fanout tidy clean

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: build ## build, then start a hub and an edge on this machine and print how to talk to them (Ctrl-C stops both)
	@scripts/run.sh

demo: build ## play the main story without a person: two devices, one cut off and resumed, digests compared
	@cd deploy/e2e && $(GO) run ./cmd/demo

test: build ## run every test of every module, the system tests with real processes included
	@scripts/test.sh

ts: ## build the TypeScript SDK in api/ts and run its own tests (needs Node and npm; `make test` does more with it)
	@cd api/ts && npm ci --no-audit --no-fund && npm test

faults: ## kill, pause, cut and wipe by one seed, at the figures of docs/guarantees.md (TIME=40s for less, SEED=… again)
	@scripts/faults.sh

soak: ## the same for hours, at 25 times the figures (TIME=4h for another span, SEED=…)
	@scripts/soak.sh

check: ## run every check that is not a test: format, vet, lint, layers, file sizes, generated code, modules
	@scripts/check.sh

build: ## build bin/hub-server, bin/edge-server and bin/yard
	@mkdir -p bin
	@CGO_ENABLED=0 $(GO) build $(BUILD_FLAGS) -o bin/ ./hub-server/cmd/... ./edge-server/cmd/...

generate: ## write the generated code again from api/ (make check fails when it is out of date)
	@scripts/generate.sh

bench: build ## measure speed and memory on this machine and print the table of docs/performance.md
	@cd deploy/e2e && $(GO) run ./cmd/bench

bench-fanout: build ## measure how many devices the hub serves, side by side with Centrifugo on this machine
	@cd deploy/e2e && $(GO) run ./cmd/bench fanout

tidy: ## bring every go.mod and go.sum in order after a dependency changed
	@scripts/tidy.sh

clean: ## remove what was built; the state of `make run` stays
	@rm -rf bin
