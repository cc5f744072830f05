# Targets for people; `.ci/run` is for a machine that has nothing yet.
PYTHON ?= python
CORES = -n auto --dist worksteal

.PHONY: help check format lint types layers quick test sweep ci

help:  ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 10

check: lint types quick  ## format, lint, types, layers, quick tests: under a minute

format:  ## rewrite files in the project's format
	$(PYTHON) -m ruff format .
	$(PYTHON) -m ruff check --fix .
	$(PYTHON) -m tensat_dl fmt rulesets examples

lint:  ## is everything formatted, and clean?
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m ruff check .

types:  ## mypy, strict
	$(PYTHON) -m mypy

layers:  ## the order of the stages and the fences around packages
	$(PYTHON) -m pytest -q tests/test_layers.py

quick:  ## the tests that take no time, those of the layers among them
	$(PYTHON) -m pytest -q $(CORES) -m "not slow" -x

test:  ## all tests
	$(PYTHON) -m pytest $(CORES)

sweep:  ## every operator model of the onnx package through `std`: are its outputs what they were?
	$(PYTHON) tests/bench/sweep.py

ci:  ## what continuous integration runs: new environment, tests, wheel
	.ci/run
