# The front door of the repository. CMake (see CMakePresets.json) does the work.
#   JOBS=n        how many compilers and tests run at once
#   PROBLEMS=dir  the folder of problem files that `make bench` measures on
#   ARGS="..."    further arguments for the program behind `make bench` and `make demo`

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c

JOBS ?= $(shell nproc)
PROBLEMS ?= problems
PREFIX ?= build/install
ARGS ?=

# Compilations are shared between checkouts in different folders.
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1

CXX_FILES = $(wildcard $(shell git ls-files --cached --others --exclude-standard '*.h' '*.cpp'))
PRESETS = release debug asan tsan native
CONFIGURED = $(PRESETS:%=build/%/build.ninja)

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

# Once configured, ninja itself notices changes of the CMake files and new source files.
$(CONFIGURED): build/%/build.ninja:
	@cmake --preset $*

.PHONY: deps tool-deps
deps:
	@scripts/setup --quiet --test
tool-deps:
	@scripts/setup --quiet --tool

.PHONY: setup
setup: ## install the Debian packages that are missing
	@scripts/setup

.PHONY: build
build: deps build/release/build.ninja ## build everything; the tool is build/release/bin/tribo
	@grep -q '^build tribo_tests:' build/release/build.ninja || cmake --preset release
	@cmake --build --preset release -j $(JOBS)

.PHONY: tool
tool: tool-deps build/release/build.ninja ## build the library and the tool, not the tests
	@cmake --build --preset release -j $(JOBS) --target tribo

.PHONY: demo
demo: tool ## solve a sliding tower with every solver, make a page of an arch and a house of cards that stand by friction
	@scripts/demo $(ARGS)

.PHONY: test
test: deps build/release/build.ninja ## run all tests
	@grep -q '^build tribo_tests:' build/release/build.ninja || cmake --preset release
	@cmake --build --preset release -j $(JOBS) --target tribo tribo_tests
	@ctest --preset release -j $(JOBS)
	@# The page of replays, in node and in Chromium; 77: one line said why it cannot run here.
	@scripts/test-viewer build/release/bin/tribo || [ $$? -eq 77 ]
	@scripts/build-python test || [ $$? -eq 77 ]

.PHONY: asan
asan: deps build/asan/build.ninja ## run all tests under the address and undefined-behaviour sanitizers
	@cmake --build --preset asan -j $(JOBS)
	@scripts/run-tests asan $(JOBS)

.PHONY: tsan
tsan: deps build/tsan/build.ninja ## run all tests under the thread sanitizer
	@cmake --build --preset tsan -j $(JOBS)
	@scripts/run-tests tsan $(JOBS)

.PHONY: bench
bench: ## measure tribo beside its peers on PROBLEMS=dir; ARGS="..." go to bench/run.py
	@test -d "$(PROBLEMS)" || { echo "make bench: no folder '$(PROBLEMS)'. Name a folder of FCLIB .hdf5 or Siconos .dat" \
	  "files: make bench PROBLEMS=dir"; exit 1; }
	@scripts/setup --quiet --bench
	@test -f build/native/build.ninja || cmake --preset native
	@cmake --build --preset native -j $(JOBS)
	@python3 bench/run.py --problems "$(PROBLEMS)" $(ARGS)

# Where PyPI cannot be reached, one line says so.
.PHONY: python
python: tool ## build the Python package and install it into build/venv
	@scripts/build-python install

.PHONY: wheel
wheel: tool ## build a wheel of the Python package that needs none of our Debian packages: dist/
	@scripts/build-python wheel

.PHONY: python-test
python-test: tool ## build the Python package and run its tests
	@scripts/build-python test

.PHONY: format
format: ## format all C++ files in place
	@clang-format -i $(CXX_FILES)

.PHONY: format-check
format-check: ## fail if a C++ file is not formatted
	@clang-format --dry-run -Werror $(CXX_FILES)

.PHONY: lint
lint: build/debug/build.ninja ## run clang-tidy on the library and the tool
	@scripts/setup --quiet
	@# The commands of the debug build: clang cannot read the headers that GCC precompiles for the release build.
	@run-clang-tidy -quiet -j $(JOBS) -p build/debug '^$(CURDIR)/(tribo|apps)/' 2>&1 | \
	  { grep -vE '^(clang-tidy-|[0-9]+ warnings (generated|treated)|$$)' || true; }
	@echo "make lint: no complaints"

.PHONY: check-includes
check-includes: ## check the layering of the rooms, macros, and that each header compiles on its own
	@scripts/check-includes --headers

.PHONY: consumer
consumer: install ## build and run a small project against the installed package
	@cmake -S tests/consumer -B build/consumer -G Ninja -DCMAKE_BUILD_TYPE=Release \
	  -DCMAKE_PREFIX_PATH="$(abspath $(PREFIX))" --log-level=WARNING
	@cmake --build build/consumer
	@ctest --test-dir build/consumer --output-on-failure

.PHONY: check-bits
check-bits: build ## simulate scenes on one and on two threads: the same bits
	@scripts/check-bits

.PHONY: check-readme
check-readme: install ## run the commands and the C++ example of README.md
	@scripts/check-readme --prefix "$(PREFIX)"

.PHONY: docs
docs: ## regenerate figures and the API pages (build/docs)
	@scripts/docs

.PHONY: install
install: build ## install into PREFIX (build/install)
	@cmake --install build/release --prefix "$(PREFIX)" >/dev/null

.PHONY: clean
clean: ## remove everything that was built
	@rm -rf build
