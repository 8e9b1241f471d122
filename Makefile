# Kilomesh. `make help` lists the targets.
SHELL := /bin/sh
.DEFAULT_GOAL := help
.SUFFIXES:
BIN := node_modules/.bin

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile

.PHONY: check
check: node_modules/.package-lock.json ## the gate, under 90 s: format, lint, types, dead code, import direction, unit tests
	$(BIN)/biome check --error-on-warnings
	$(BIN)/tsc -p .
	$(BIN)/knip
	node scripts/suites.mjs unit

.PHONY: fix
fix: node_modules/.package-lock.json ## format, and repair what the linter can repair by itself
	$(BIN)/biome check --write

.PHONY: build
build: node_modules/.package-lock.json ## the programs, into dist/
	node scripts/build.mjs

.PHONY: test
test: install check build ## everything: installs what is missing (root), the gate, then all suites in namespaces and the lab
	node scripts/suites.mjs

.PHONY: demo
demo: install build ## a real mesh on this machine (root). ONCE=1: check all paths and take it down; WIREGUARD=kernel: not wireguard-go
	bin/lab demo $(if $(ONCE),--once) $(if $(WIREGUARD),--wireguard=$(WIREGUARD))

.PHONY: prove
prove: install build ## measures the claims: make prove WHAT=mesh
	node scripts/prove.mjs $(WHAT)

.PHONY: install
install: ## Debian packages that are missing (root); make test, demo and prove do it by themselves
	@scripts/install.sh

.PHONY: clean
clean: ## removes what was built, not node_modules
	rm -rf dist .build

# npm writes this file last; it is older than the lock after a pull that changed a dependency.
node_modules/.package-lock.json: package-lock.json
	npm ci --no-audit --no-fund
	@touch $@
