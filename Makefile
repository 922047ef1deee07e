# The short menu. It needs make and python3 with venv; everything else is installed into .venv from uv.lock.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SCENARIO ?= examples/hybrid.yaml
READY := $(VENV)/.ready

.PHONY: help plan test lint pages docs check clean
.DEFAULT_GOAL := help

help:
	@echo "make plan   plan SCENARIO ($(SCENARIO)) and write its folder"
	@echo "make test   run the tests"
	@echo "make lint   formatting, style, types, import contracts"
	@echo "make pages  write the parts of the pages that come from the code"
	@echo "make docs   build the documentation into site/"
	@echo "make check  everything that CI runs"
	@echo "make clean  remove what was built"

$(READY): pyproject.toml uv.lock
	@command -v $(PYTHON) >/dev/null 2>&1 || { echo "$(PYTHON) is missing: install it (Debian: apt-get install python3)" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "$(PYTHON) is older than 3.11: set PYTHON to a newer one" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "python3 lacks venv: install it (Debian: apt-get install python3-venv)" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@test -x $(BIN)/uv || $(BIN)/python -m pip install --quiet --disable-pip-version-check 'uv>=0.9'
	$(BIN)/uv sync --quiet --locked --inexact
	@touch $(READY)

plan: $(READY)
	$(BIN)/flopwise plan $(SCENARIO)

test: $(READY)
	$(BIN)/pytest -n auto

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright
	$(BIN)/lint-imports

pages: $(READY)
	$(BIN)/python docs/generated.py

docs: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

# What CI runs: a test that is skipped for lack of anything but the reference data fails.
check: lint docs
	FLOPWISE_FORBID_SKIPS=1 $(MAKE) test
	$(BIN)/towncrier build --draft --version next >/dev/null

clean:
	rm -rf site dist .pytest_cache .ruff_cache .import_linter_cache .hypothesis .benchmarks
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +
