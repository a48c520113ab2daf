# The two commands of a newcomer, make demo and make test, and what they consist of. CMake does the work:
# `cmake --preset NAME` and `cmake --build --preset NAME` with the names of CMakePresets.json.

PRESET ?= release
BUILD := build/$(PRESET)
PYTHON ?= python3
STEP := @printf '\n== %s\n'

.PHONY: help deps configure build demo test report report-python wheel duckdb format check install clean

help:
	@echo 'make demo     install what is missing, build the command, and join real tables (2 cores: four minutes)'
	@echo 'make test     install what is missing, build, and run every test that this machine can run'
	@echo 'make build    configure and build into $(BUILD); the command is $(BUILD)/bin/keyray'
	@echo 'make report   pages with plots of what was measured, into build/report (SCALE=tiny or paper: measures first)'
	@echo 'make wheel    the Python package, for every GPU, into build/wheel (WHEEL_CUDA=OFF: without CUDA)'
	@echo 'make duckdb   the extension of DuckDB, into $(BUILD)/duckdb (fetches the headers of DuckDB)'
	@echo 'make deps     install the Debian packages that are missing (as root or with sudo)'
	@echo 'make check    clang-format, the rules of includes and names;  make format  reformats'
	@echo 'make install  into PREFIX (default /usr/local);    make clean   removes build/'

deps:
	$(STEP) 'deps: what the build and the tests need'
	@ci/deps build test

configure:
	$(STEP) 'build: preset $(PRESET) into $(BUILD)'
	@ci/deps --check build
	cmake --preset $(PRESET)

build: configure
	cmake --build --preset $(PRESET)

# The command alone, without tests.
demo: deps
	@$(MAKE) --no-print-directory configure
	cmake --build --preset $(PRESET) --target keyray-command
	$(STEP) 'demo: join, range and point lookups on TPC-H tables'
	sh examples/demo/demo.sh $(BUILD)/bin/keyray

# The conformance suite comes last and its summary is the closing line, also when a test before it failed.
test: deps
	@$(MAKE) --no-print-directory build
	$(STEP) 'test: unit, API, command, example and package tests'
	@ctest --preset $(PRESET) -LE conformance -j $$(nproc); others=$$?; \
	printf '\n== test: conformance of every kind on every device of this machine\n'; \
	[ $$others = 0 ] || printf 'tests before this suite failed, see above\n'; \
	$(BUILD)/bin/keyray-conformance test --jobs $$(nproc) && exit $$others

# Of the figures in the tree; with SCALE of this machine's. A call of SCALE=paper that ends with status 3 was cut off, and the
# same goes on. matplotlib makes the plots: of an environment of its own where Python has none.
SCALE ?=
REPORT_PYTHON = $(shell $(PYTHON) -c 'import matplotlib' 2>/dev/null && echo $(PYTHON) || echo build/report-python/bin/python)

build/report-python/ready:
	$(PYTHON) -m venv --clear build/report-python
	build/report-python/bin/pip install --quiet --disable-pip-version-check --only-binary :all: matplotlib==3.11.2
	touch $@

report-python: $(if $(filter build/%,$(REPORT_PYTHON)),build/report-python/ready)

report: report-python
	$(STEP) 'report: pages into build/report'
	@[ -z "$(SCALE)" ] || [ -x $(BUILD)/bin/keyray ] || $(MAKE) --no-print-directory build
	$(REPORT_PYTHON) bench/report $(if $(SCALE),--run $(SCALE) --build $(BUILD))

# One wheel for all Pythons and all GPUs, of at most 10 MB: machine code for Hopper, and PTX, which the driver compiles for other GPUs
# when a kernel first runs. Machine code for Ampere would be 2.3 MB more. nvcc packs kernels smaller where it can.
WHEEL_CUDA ?= ON
WHEEL_FLAGS = --config-settings cmake.define.KEYRAY_CUDA=$(WHEEL_CUDA) --config-settings "cmake.define.CMAKE_CUDA_ARCHITECTURES=75-virtual;90-real"
PACKED = $(shell nvcc --help 2>/dev/null | grep -q -e '-compress-mode' && echo -compress-mode=size)

wheel:
	$(STEP) 'wheel: into build/wheel'
	rm -f build/wheel/*.whl
	$(PYTHON) -m pip wheel --no-deps -w build/wheel ./python --config-settings wheel.tags=py3-none-manylinux_2_34_x86_64 $(WHEEL_FLAGS) \
	    $(if $(PACKED),--config-settings cmake.define.CMAKE_CUDA_FLAGS=$(PACKED))
	python/check_wheel.py build/wheel/*.whl

# DuckDB has no package of its headers: they come out of the source of its Python package.
DUCKDB_VERSIONS ?= 2.0.0 2.0.1
duckdb:
	$(STEP) 'duckdb: extension into $(BUILD)/duckdb'
	$(PYTHON) integrations/duckdb/headers.py build/duckdb-headers $(DUCKDB_VERSIONS)
	cmake --preset $(PRESET) -DKEYRAY_DUCKDB=$(CURDIR)/build/duckdb-headers
	cmake --build --preset $(PRESET) --target keyray-duckdb
	ls -l $(BUILD)/duckdb

format:
	ci/format

check:
	ci/format --check
	python3 python/generate.py --check
	ci/check-includes
	ci/check-names

install: build
	cmake --install $(BUILD) $(if $(PREFIX),--prefix $(PREFIX))

clean:
	rm -rf build
