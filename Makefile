# make nightly   builds everything and runs the project's own night on the simulated engine
# make test      installs what the tests need and runs all of them
# make help      lists the rest

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-builtin-rules
export CGO_ENABLED := 0

BIN := out/bin
GO_BUILD := go build -trimpath -ldflags "-s -w -buildid="
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
FUZZTIME ?= 10m

.PHONY: help build nightly fixtures test test-needs lint generate bench bench-loadgen bench-intake bench-rules soak-fuzz soak-history clean

help: ## lists the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

build: ## builds the static binaries into out/bin
	@mkdir -p $(BIN)
	$(GO_BUILD) -o $(BIN)/ ./cmd/...

nightly: build ## runs the project's own night, judges it, writes out/nightly-results.json and out/summary.md
	$(BIN)/nightly-eval --matrix bench/nightly.yaml --baselines bench/baselines.yaml \
		--work-dir out/nightly --out out/nightly-results.json --summary out/summary.md

fixtures: build ## runs, imports, locks and checks the project's own latency fixtures in scratch clones
	go run ./bench/fixtures

test-needs: # what the tests need beside Go: a C compiler for the race detector
	@command -v gcc >/dev/null || { apt-get update -qq && apt-get install -y -qq gcc libc6-dev; }

test: test-needs lint ## runs every test with the race detector
	CGO_ENABLED=1 go test -race -shuffle=on -count=1 -timeout 20m ./...

lint: ## gofmt, vet for Linux and darwin, staticcheck
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); echo 'gofmt: run gofmt -w on these'; exit 1; }
	go vet ./...
	GOOS=darwin GOARCH=arm64 go vet ./...
	go run $(STATICCHECK) ./...

generate: ## rewrites the blocks and files that are made from the doors' tables
	go test . -run TestGenerated -update -count=1

bench: ## runs every Go benchmark
	go test -run '^$$' -bench . -benchmem ./...

bench-loadgen: build ## measures the load generator against the engine's own send log, one core each
	go run ./bench/loadgen

bench-intake: build ## measures time and memory of running and importing a log of 2 GiB
	go run ./bench/intake

bench-rules: ## simulates the rules of bounds and holds them to the published figures
	go run ./bench/rules

soak-fuzz: ## runs every fuzz target for FUZZTIME each
	@for dir in $$(git grep -lE '^func Fuzz' -- '*_test.go' | xargs -n1 dirname | sort -u); do \
		for name in $$(grep -hoE '^func Fuzz[A-Za-z0-9_]+' $$dir/*_test.go | sed 's/func //'); do \
			echo "fuzzing $$dir $$name for $(FUZZTIME)"; \
			go test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x ./$$dir; \
		done; \
	done

soak-history: ## 32 publishers race for one branch over 20 rounds, and others are killed
	GATEHOUSE_PUBLISHERS=32 GATEHOUSE_ROUNDS=20 GATEHOUSE_KILLS=30 \
		go test -count=1 -timeout 2h -run 'TestConcurrentPublishers|TestKilledPublisher' -v ./pkg/gate/history

clean: ## removes what the targets made
	rm -rf out
