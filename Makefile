# The two commands of the README, each complete on a fresh machine with Python 3.11 or later:
#   make demo   sets up .venv and runs the two sample competitions
#   make test   sets up .venv and runs the tests
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
WORKERS ?= 2

.PHONY: demo test test-full browser compiler wheels lint docs bench bench-tiny peers fuzz clean

demo: $(VENV)/.installed
	$(BIN)/harness run configs/demo.toml
	$(BIN)/harness run configs/demo-ponpare.toml

# A file's tests stay in one process, which makes a run or opens a browser for them once.
test: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile

# With the studies (marked slow), and many examples of each property.
test-full: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile -m '' --hypothesis-profile=full

# The tests of the report's page need a browser; without one they are skipped, and say so.
browser:
	@command -v chromium || command -v chromium-browser || command -v google-chrome || { \
	    as=$$([ "$$(id -u)" = 0 ] || echo sudo); \
	    $$as apt-get update --quiet && \
	    $$as apt-get install --quiet --yes --no-install-recommends chromium; }

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/.installed
	$(BIN)/python -c 'from harness.report.docs import definitions_page; print(definitions_page(), end="")' > docs/metrics.md
	$(BIN)/python -c 'from harness.report.rule_docs import checks_page; print(checks_page(), end="")' > docs/submission-checks.md
	$(BIN)/python -c 'from harness.report.docs import parameters_page; print(parameters_page("baselines"), end="")' > docs/baseline-parameters.md

peers: $(VENV)/.installed-dev .venv-peers/.installed
	$(BIN)/python -m pytest peers

# The tools need Python 3.11; one of them asks for use_2to3, which later versions of setuptools refuse.
.venv-peers/.installed: peers/requirements.txt
	@echo "setting up .venv-peers: two minutes, 1.8 GB"
	test -x .venv-peers/bin/python || python3.11 -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check setuptools==57.5.0 wheel
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check --no-build-isolation -r peers/requirements.txt
	touch $@

fuzz: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -q tests/fuzz/fuzz_*.py

bench: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/run_all.py

# Every benchmark once, on little: that it runs is all that it tells, and nothing is written.
bench-tiny: $(VENV)/.installed-dev
	BENCH_SIZE=tiny $(BIN)/python benchmarks/run_all.py

# What is compiled when the package is installed.
KERNELS := setup.py $(wildcard harness/*/*.pyx harness/*/*.pxd harness/*/_kernels.py baselines/_kernels.py)

# Compiling needs a C compiler and Python's headers.
compiler:
	@command -v cc >/dev/null && test -e "$$($(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h" || { \
	    command -v apt-get >/dev/null || { echo "install a C compiler and the headers of Python"; exit 1; }; \
	    as=$$([ "$$(id -u)" = 0 ] || echo sudo); \
	    $$as apt-get update --quiet && \
	    $$as apt-get install --quiet --yes --no-install-recommends gcc libc6-dev python3-dev; }

$(VENV)/.installed: pyproject.toml $(KERNELS) | compiler
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed, found " + sys.version.split()[0] + "; name one with: make PYTHON=python3.11")'
	@echo "setting up $(VENV), or bringing it up to date: a minute or two"
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[als,tune]'
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) .venv-peers build dist *.egg-info runs
	find harness baselines -name "*.so" -delete
