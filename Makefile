# The two commands of the README, each complete on a fresh machine with Python 3.11 or later:
#   make demo   sets up .venv and runs the two sample competitions
#   make test   sets up .venv and runs the unit tests and journeys
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
EDITABLE := $(PIP) --no-build-isolation --editable
WORKERS ?= 2

.PHONY: demo dev test test-full conformance system nightly coverage mutants browser spark compiler gone release-check lint docs links pages pictures bench bench-tiny peers peers-neighbours fuzz fuzz-asan clean

demo: $(VENV)/.compiled
	$(BIN)/harness run configs/demo.toml
	$(BIN)/harness run configs/demo-ponpare.toml

# Unit tests, the examples of docstrings, and journeys. A file's tests stay in one process, which makes a run for them once.
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile
test: $(VENV)/.installed-dev
	$(PYTEST)

# All that is needed to edit and to test.
dev: $(VENV)/.installed-dev $(VENV)/.compiled

# Beside them: contract × models, metric × library, engine × config; then processes, the page in a browser, Spark.
test-full: test conformance system

conformance: $(VENV)/.installed-dev
	$(PYTEST) tests/conformance

system: $(VENV)/.installed-dev
	$(PYTEST) tests/system

# All of it with many examples of each property, the long studies, every other tool, and the faults that tests must catch.
nightly: $(VENV)/.installed-dev
	HARNESS_LONG=1 $(PYTEST) --hypothesis-profile=full harness baselines tests
	$(MAKE) --keep-going coverage mutants fuzz fuzz-asan peers peers-neighbours

# How much of harness/ the tests of `make test` execute; what Spark runs is left out.
coverage: $(VENV)/.installed-dev
	$(PYTEST) --cov

# The faults of .ci/mutants.json, and which of them the tests catch.
mutants: $(VENV)/.installed-dev
	$(BIN)/python .ci/mutants

# The tests of the report's page in a browser (make system) need one; without it they are skipped, and say so.
browser:
	@command -v chromium || command -v chromium-browser || command -v google-chrome || { \
	    as=$$([ "$$(id -u)" = 0 ] || echo sudo); \
	    $$as apt-get update --quiet && \
	    $$as apt-get install --quiet --yes --no-install-recommends chromium; }

# The tests of Spark (make system) need PySpark, 400 MB, and Java; without them they are skipped, and say so.
spark: $(VENV)/.installed-dev
	$(EDITABLE) '.[spark]'
	@command -v java || test -n "$$JAVA_HOME" || { \
	    as=$$([ "$$(id -u)" = 0 ] || echo sudo); \
	    $$as apt-get update --quiet && \
	    $$as apt-get install --quiet --yes --no-install-recommends openjdk-17-jre-headless; }

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The pictures of the README, from a real run and its page in a browser.
pictures: $(VENV)/.installed-dev browser
	PYTHONPATH=docs $(BIN)/python docs/pictures/make.py

SPHINX := PYTHONPATH=docs $(BIN)/python -m sphinx --quiet
# The site, in build/site: pages that follow from the code, the gallery executed, warnings as errors.
docs: pages $(VENV)/.installed-docs
	rm -rf build/site docs/examples
	$(SPHINX) --fail-on-warning --keep-going docs build/site

# The links that leave the site, one request each.
links: pages $(VENV)/.installed-docs
	$(SPHINX) -b linkcheck -D plot_gallery=0 docs build/links

pages: $(VENV)/.compiled
	PYTHONPATH=docs $(BIN)/python -m pages

peers: $(VENV)/.installed-dev .venv-peers/.installed
	$(BIN)/python -m pytest peers

# The tools need Python 3.11; one of them asks for use_2to3, which later versions of setuptools refuse.
.venv-peers/.installed: peers/requirements.txt
	@echo "setting up .venv-peers: two minutes, 1.8 GB"
	test -x .venv-peers/bin/python || python3.11 -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check setuptools==57.5.0 wheel
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --no-build-isolation -r peers/requirements.txt
	touch $@

# LensKit, RecBole and similaripy; without them make peers skips what they are compared in, and says so.
peers-neighbours: $(VENV)/.installed-dev .venv-neighbours/.installed
	$(BIN)/python -m pytest peers/test_neighbours.py

.venv-neighbours/.installed: peers/requirements-neighbours.txt
	@echo "setting up .venv-neighbours: three minutes, 6 GB"
	test -x .venv-neighbours/bin/python || python3.11 -m venv .venv-neighbours
	.venv-neighbours/bin/python -m pip install --quiet --disable-pip-version-check -r peers/requirements-neighbours.txt
	.venv-neighbours/bin/python -m pip install --quiet --disable-pip-version-check --no-deps recbole==1.2.1
	touch $@

fuzz: $(VENV)/.installed-dev
	$(PYTEST) -q tests/system/fuzz/fuzz_*.py

# The tests that reach what is compiled, on modules that AddressSanitizer and the sanitizer of
# undefined behaviour watch: built apart, and imported from there in place of the folder's own.
ASAN := build/asan
SANITIZE := -g -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
REPORT := log_path=$(CURDIR)/$(ASAN)/report
fuzz-asan: $(VENV)/.installed-dev
	HARNESS_CFLAGS="$(SANITIZE)" LDFLAGS="$(SANITIZE)" \
	    $(BIN)/python setup.py --quiet build --build-base $(ASAN) --build-lib $(ASAN)/lib
	rm -f $(ASAN)/report.*
	PYTHONPATH="$(CURDIR)/$(ASAN)/lib" PYTHONSAFEPATH=1 \
	    LD_PRELOAD="$$($(CC) -print-file-name=libasan.so)" PYTHONMALLOC=malloc \
	    ASAN_OPTIONS=detect_leaks=0:$(REPORT) UBSAN_OPTIONS=print_stacktrace=1:$(REPORT) \
	    $(PYTEST) -q tests/conformance/test_compiled.py \
	        tests/system/fuzz/fuzz_submissions.py tests/system/fuzz/fuzz_rows.py tests/system/fuzz/fuzz_solutions.py \
	        tests/system/fuzz/fuzz_events.py \
	    || { cat $(ASAN)/report.*; exit 1; }

# A release: the source distribution has the committed files, the wheel is built from it, a package
# index accepts both, and an environment with only the wheel and no compiler prints the demo's figures
# to the last bit. Both stay in dist/; the wheel is for this Python and Linux, and
# .github/workflows/wheels.yml makes those of other systems and versions.
RELEASE := build/release
WHEEL_USER := $(RELEASE)/user
SAMPLE := data/hm-sample/sample_submission.csv.gz
MADE := PKG-INFO|setup.cfg|[^/]*\.egg-info/.*
release-check: $(VENV)/.installed-dev
	git diff --quiet HEAD || { echo "commit your changes first"; exit 1; }
	rm -rf dist $(RELEASE) *.egg-info
	$(BIN)/python -m build --outdir $(RELEASE)
	git ls-files | LC_ALL=C sort > $(RELEASE)/committed
	tar -tf $(RELEASE)/*.tar.gz | sed 's,^[^/]*/,,' | grep -vE '/$$|^$$|^($(MADE))$$' | LC_ALL=C sort > $(RELEASE)/source
	diff $(RELEASE)/committed $(RELEASE)/source
	PATH="$(abspath $(BIN)):$$PATH" auditwheel repair --strip --wheel-dir dist $(RELEASE)/*.whl
	$(BIN)/auditwheel show dist/*.whl
	mv $(RELEASE)/*.tar.gz dist
	$(BIN)/twine check --strict dist/*
	$(PYTHON) -m venv $(WHEEL_USER)
	$(WHEEL_USER)/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	$(BIN)/harness run configs/demo.toml --fresh --quiet --out $(RELEASE)/here
	export PATH="$(abspath $(WHEEL_USER))/bin"; \
	    harness run configs/demo.toml --fresh --out $(RELEASE)/there && \
	    harness validate $(SAMPLE) --sample $(SAMPLE)
	for run in here there; do \
	    sed '/"seconds": {/,/}/d' $(RELEASE)/$$run/result.json > $(RELEASE)/$$run/figures.json; done
	cmp $(RELEASE)/here/figures.json $(RELEASE)/there/figures.json

bench: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/run_all.py

# Every benchmark once, on little: that it runs is all that it tells, and nothing is written.
bench-tiny: $(VENV)/.installed-dev
	BENCH_SIZE=tiny $(BIN)/python benchmarks/run_all.py

# What is compiled when the package is installed, and anew where it was edited since or is gone.
# A module's types stand beside it in a .pyi.
STUBS := $(wildcard harness/*/*.pyi baselines/*.pyi)
GONE := $(filter gone,$(foreach stub,$(STUBS),$(or $(wildcard $(stub:.pyi=.*.so)),gone)))
KERNELS := $(wildcard harness/*/*.pyx harness/*/*.pxd harness/*/_*kernels.py baselines/_*kernels.py)

# Compiling needs a C compiler and Python's headers, which apt has; else a person installs them.
compiler:
	@command -v cc >/dev/null && test -e "$$($(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h" || { \
	    dev=$$($(PYTHON) -c 'import sys; print("python{}.{}-dev".format(*sys.version_info))'); \
	    as=$$([ "$$(id -u)" = 0 ] && echo env || echo sudo); \
	    command -v apt-get >/dev/null && command -v $$as >/dev/null && \
	    $$as apt-get update --quiet && \
	    $$as apt-get install --quiet --yes --no-install-recommends gcc libc6-dev "$$dev" || { \
	    echo "install a C compiler and the headers of Python, then type make again; as root on Debian or Ubuntu:"; \
	    echo "  apt-get install gcc libc6-dev $$dev"; exit 1; }; }

$(VENV)/.installed: pyproject.toml setup.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed, found " + sys.version.split()[0] + "; name one with: make PYTHON=python3.11")'
	@$(MAKE) --no-print-directory compiler
	@echo "setting up $(VENV), or bringing it up to date: two or three minutes, half of them to compile"
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade cython setuptools
	$(EDITABLE) '.[als,tune,fetch]'
	touch $@

$(VENV)/.compiled: $(VENV)/.installed $(KERNELS) $(GONE)
	$(BIN)/python setup.py --quiet build_ext --inplace
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed | $(VENV)/.compiled
	$(EDITABLE) '.[dev]'
	touch $@

$(VENV)/.installed-docs: $(VENV)/.installed | $(VENV)/.compiled
	$(EDITABLE) '.[docs]'
	touch $@

clean:
	rm -rf $(VENV) .venv-peers .venv-neighbours build dist *.egg-info runs
	find harness baselines -name "*.so" -delete
