# Short names for what one does often. The work is done by CMake (CMakePresets.json) and scripts/.

JOBS ?= $(shell nproc)
export JOBS

.PHONY: help demo test test-deep test-peers test-ggml mutate check build wheel format fuzz bench clean deps

help:
	@echo 'make demo    install what is missing, build, and tour the command line on examples/; leaves a report for the browser'
	@echo 'make test    the tests, with gcc, and what an installed library and the pages look like to their users'
	@echo 'make test-deep   the same tests under clang and sanitizers, threads, fuzz targets, drop-ins; CI runs it after make test'
	@echo 'make test-peers  what takes longer than CI has: many more random graphs, other solvers and runtimes on the same inputs'
	@echo 'make test-ggml [GGML_SOURCE=… GGML_LIBRARY=…]   the drop-in for ggml-alloc, against that ggml or the one on PyPI (docs/ggml.md)'
	@echo 'make mutate [MUTATE="--count 20 --module pack"]   mutation testing: which small changes to the sources does no test notice?'
	@echo 'make check   the quick part of it: development build, unit tests, layers'
	@echo 'make build   release build of library, command line and examples, in build/release'
	@echo 'make wheel   the wheel of the Python package, in dist/'
	@echo 'make format  format all C++'
	@echo 'make fuzz    every fuzz target for FUZZ_SECONDS (60)'
	@echo 'make bench   benchmarks over the data beside the project'
	@echo 'make clean   remove build/'

demo: deps build
	scripts/demo.sh

test:
	scripts/test_all.sh

test-deep:
	scripts/test_all.sh --deep

test-peers:
	scripts/test_all.sh --peers

test-ggml:
	scripts/ggml_test.sh $(GGML_SOURCE) $(GGML_LIBRARY)

mutate:
	scripts/mutate.py $(MUTATE)

check:
	scripts/check_layers.py
	cmake --preset dev
	cmake --build --preset dev -j $(JOBS)
	ctest --preset quick -j $(JOBS)

build:
	cmake --preset release
	cmake --build --preset release -j $(JOBS) --target stowage stowage_cli examples/all

wheel: deps
	scripts/wheel.sh

format:
	scripts/format.sh

fuzz:
	scripts/fuzz.sh

bench:
	cmake --preset release
	cmake --build --preset release -j $(JOBS) --target bench/all
	bench/run.sh

clean:
	rm -rf build

deps:
	scripts/install_deps.sh
