# Everything a developer or CI runs. Every target that needs the environment makes it first.
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.supclust-dev
DOCS_STAMP := $(VENV)/.supclust-docs
RAY_STAMP := $(VENV)/.supclust-ray

# The tested version first; the probe also rejects names that exist but do not run.
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3.14 python3.10 python3 python; do \
	if $$p -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' >/dev/null 2>&1; \
	then echo $$p; break; fi; done)

# For example: make test PYTEST_ARGS="tests/unit/hac -x"
PYTEST_ARGS ?=
# pytest-xdist processes; 0 is none.
WORKERS ?= 2
ARGS ?=

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help setup browser check test test-pythons test-slow test-cluster torture lint type imports format count bench train reproduce docs smoke clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(STAMP): pyproject.toml constraints.txt
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || test -n "$(PYTHON)" || \
		{ echo "make: needs Python 3.10 or newer with venv; found none (set PYTHON=...)" >&2; exit 1; }
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv $(VENV)
	@echo "installing the pinned versions into $(VENV): some minutes, about 2 GB, once"
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[dev]"
	@touch $@
	@echo "ready. To use supclust and train.py in this shell: . $(BIN)/activate"

$(DOCS_STAMP): $(STAMP)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[dev,docs]"
	@touch $@

$(RAY_STAMP): $(STAMP)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[dev,ray]"
	@touch $@

setup: $(STAMP) ## create .venv (VENV=...) and install the pinned development environment

# The browser tests drive Debian's Chromium; where it cannot be installed they are skipped, visibly.
browser: ## install Chromium for the browser tests (Debian, as root; elsewhere it does nothing)
	@if command -v chromedriver >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "installing Debian's Chromium for the browser tests"; \
		{ apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq -y install chromium chromium-driver; } >/dev/null 2>&1 \
		|| echo "Chromium could not be installed: the browser tests will be skipped"; \
	else echo "no Chromium here: the browser tests will be skipped"; fi

check: setup lint type imports ## lint, types, import rules, unit and property tests without subprocesses: two minutes
	$(BIN)/python -m pytest -n $(WORKERS) -q -m "not slow and not reproduction and not subprocess and not browser" \
		tests/unit tests/properties $(PYTEST_ARGS)

test: setup browser lint type imports ## everything CI runs: lint, types, import rules, all fast tests (PYTEST_ARGS=...)
	$(BIN)/python -m pytest -n $(WORKERS) $(PYTEST_ARGS)

test-pythons: setup ## the wheel on Python 3.10 to 3.13, wherever found: core, and training where torch installs (ARGS="3.12")
	$(BIN)/python tools/test_pythons.py $(ARGS)

test-slow: setup ## the slow tests and the reproduction of published numbers
	$(BIN)/python -m pytest -m "slow or reproduction" --timeout 3600 -o faulthandler_timeout=0 $(PYTEST_ARGS)

test-cluster: $(RAY_STAMP) ## sweeps and clusterings on a two-node Ray and a one-node SLURM on loopback (ARGS="--only Ray")
	PYTHONPATH=tests $(BIN)/python -m cluster $(ARGS)

torture: setup ## faults on purpose: fuzz, kills, full disks; prints tried and failed (ARGS="--only kill")
	PYTHONPATH=tests $(BIN)/python -m torture $(ARGS)

lint: setup ## ruff (rules and format) and spelling
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell

type: setup ## mypy, strict on src
	$(BIN)/mypy

imports: setup ## the direction of imports between the rooms
	$(BIN)/lint-imports --no-logo

format: setup ## rewrite the code in the house format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

count: setup ## lines, modules per package and modules imported by a run, beside their goals
	$(BIN)/python tools/count.py $(ARGS)

bench: setup ## timings beside other libraries, printed as ratios (ARGS=...)
	$(BIN)/python -m benchmarks.run $(ARGS)

train: setup ## one training: exp_alpha on faces (ARGS="split=1 ...")
	$(BIN)/python train.py objective=exp_alpha dataset=faces $(ARGS)

reproduce: setup ## the paper's tables on the real data; run again, it goes on (ARGS="faces --splits 5")
	$(BIN)/supclust reproduce $(ARGS)

# Material for MkDocs is kept up until 5 May 2027; its successor, Zensical, reads mkdocs.yml as well.
# Every build would say so, to people who can do nothing about it; this is the switch it offers.
docs: $(DOCS_STAMP) ## build the documentation into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

smoke: setup ## the installed command starts and clusters
	$(BIN)/supclust --version
	$(BIN)/supclust warmup

clean: ## remove build products and caches (keeps .venv and outputs)
	rm -rf build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .numba_cache
	find src tests benchmarks -type d -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true
	rm -rf src/*.egg-info
