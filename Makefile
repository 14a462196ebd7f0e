# The two commands of the README are `make demo` and `make test`; both start from nothing but Python.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
UV     := $(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python
JOBS   ?= auto

.PHONY: demo serve-demo test test-fast test-long lint format docs bench lock clean
.DEFAULT_GOAL := help

help:
	@echo "make demo | serve-demo | test | test-fast | test-long | lint | format | docs | bench | lock | clean"
	@echo "test-fast: while you work, under two minutes; test: everything but the tests that take minutes each"

$(BIN)/uv:
	@echo "creating $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --requirement requirements/uv.txt

# One stamp per set of packages, so that a changed lock file is installed again and nothing else is.
$(VENV)/.run: requirements/run.txt pyproject.toml vendor.lock.json | $(BIN)/uv
	@$(UV) --requirement requirements/run.txt && $(UV) --no-deps --editable . && $(BIN)/python -m compileall -q src && touch $@

$(VENV)/.dev: requirements/dev.txt pyproject.toml vendor.lock.json | $(BIN)/uv
	@$(UV) --requirement requirements/dev.txt && $(UV) --no-deps --editable . && $(BIN)/python -m compileall -q src && touch $@

demo: $(VENV)/.run
	@$(BIN)/nowiser demo

# A hospital with three accounts on a port of this machine; Ctrl-C ends it, the folder keeps what was asked.
serve-demo: $(VENV)/.run
	@$(BIN)/nowiser serve --demo build/hospital --log-level warning

test: $(VENV)/.dev
	@$(BIN)/pytest -n $(JOBS) -m "not long"

# Left out: what attacks, proves, trains, draws, or starts servers, kernels and engines; oracles of the calculus; the site.
# Whoever works there runs that folder. `make test` runs all of them.
FAST := attacks bounding classical engines examples fuzz gateway graphs guess learn notebook pums red_team server support synth tpch verify
FAST := $(filter-out $(FAST:%=tests/%), $(wildcard tests/[a-z]*))
FAST := $(filter-out tests/conftest.py tests/test_docs.py tests/test_platforms.py tests/test_site.py tests/__pycache__, $(FAST)) \
        tests/gateway/test_gateway.py tests/gateway/test_account.py tests/guess/test_ceiling.py
SLOW := report/test_charts.py ledger/test_many_processes.py microdata/risk microdata/perturb microdata/releases \
        microdata/test_adult.py microdata/test_attacked.py microdata/test_suppressed.py noise/test_above_threshold.py

test-fast: $(VENV)/.dev
	@$(BIN)/pytest -n $(JOBS) -q -m "not long" $(wildcard $(FAST)) $(SLOW:%=--ignore=tests/%)

test-long: $(VENV)/.dev
	@$(BIN)/pytest -n $(JOBS) --hypothesis-profile=new

lint: $(VENV)/.dev
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy && $(BIN)/lint-imports

format: $(VENV)/.dev
	@$(BIN)/ruff check --fix . ; $(BIN)/ruff format .

docs: $(VENV)/.dev
	@$(BIN)/python tools/reference_pages.py && $(BIN)/python tools/build_site.py

# `make bench ONLY="guess noise"` runs some of them. Peers are installed beside us in .venv-peers.
bench: $(VENV)/.dev
	@$(BIN)/python -m benchmarks $(ONLY)

# Pins every package, names no registry.
lock: $(BIN)/uv
	@for set in run dev; do \
	  $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url \
	    --output-file requirements/$$set.txt requirements/$$set.in; done
	@for peer in $(wildcard requirements/peers/*.in); do \
	  $(BIN)/uv pip compile --quiet --python-version 3.11 --no-header --no-annotate --no-emit-index-url \
	    --output-file $${peer%.in}.txt $$peer; done

clean:
	rm -rf $(VENV) .venv-peers build dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis
