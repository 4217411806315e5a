# The everyday commands. Presets, targets and tests are CMake's (CMakePresets.json); the work is done by scripts/.
programs := kruxosd kruxos kruxos-plugin-runner
# What the demo and the official clients are shown: the host with everything that stands in for a service.
shown    := $(programs) slack gmail filesystem network process mcp kruxos-wrap-mcp mock slack-emulator gmail-emulator
benches  := bench-replica bench-write bench-audit bench-gateway bench-isolation bench-mail-ingest bench-mail-search bench-first-sync \
            bench-fairness bench-strangers bench-facts bench-state
ARGS     ?=
PREFIX   ?= /usr/local

.PHONY: help demo demo-all test test-peers run build install uninstall package bench bench-injection format lint clean

help:
	@echo 'make demo     build everything needed and show in three acts what it is for, against emulated services'
	@echo 'make demo-all the same, and then every chapter of the whole chain'
	@echo 'make test     all tests, under AddressSanitizer and UndefinedBehaviorSanitizer'
	@echo 'make test-peers  official MCP clients, the conformance suite and the Python SDK against the host (needs npm and PyPI)'
	@echo 'make run      start the host with its defaults (make run ARGS="--config FILE")'
	@echo 'make build    build the host, the kruxos command and the adapters into build/dev/bin'
	@echo 'make install  build a release and install it below PREFIX (make install PREFIX=~/kruxos)'
	@echo 'make uninstall  remove what make install put below PREFIX; data and keys stay'
	@echo 'make package  build packages for Debian 12 into build/release/packages'
	@echo 'make bench    build and run the benchmarks'
	@echo 'make bench-injection  goals of injections that a hijacked agent reaches through the host (needs PyPI)'
	@echo 'make format   format the sources     make lint   clang-tidy over what changed'
	@echo 'make clean    remove build/'

demo:
	@scripts/setup
	@scripts/build dev $(shown)
	@scripts/demo $(ARGS)

demo-all:
	@scripts/setup
	@scripts/build dev $(shown)
	@scripts/demo --all $(ARGS)

test:
	@scripts/setup --test
	@scripts/build asan
	@scripts/test asan

test-peers:
	@scripts/setup --peers
	@scripts/build dev $(shown) rule-decisions
	@scripts/test-peers

run: build
	@scripts/run $(ARGS)

build:
	@scripts/setup
	@scripts/build dev $(programs) slack gmail filesystem network process mcp kruxos-wrap-mcp

install:
	@scripts/setup
	@scripts/build release
	@scripts/install "$(PREFIX)"

uninstall:
	@scripts/uninstall "$(PREFIX)"

package:
	@scripts/setup --package
	@scripts/package

bench:
	@scripts/setup --bench
	@scripts/build bench $(benches)
	@scripts/bench

bench-injection:
	@scripts/setup --injection
	@scripts/build dev $(shown)
	@scripts/bench-injection $(ARGS)

format:
	@scripts/setup --dev
	@scripts/format

lint:
	@scripts/setup --dev
	@scripts/lint

clean:
	@rm -rf build
