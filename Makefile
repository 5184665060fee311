# What a developer and CI run. `make demo` and `make test` set up what they need by themselves.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
JOBS   ?= 2

.PHONY: help demo test quick check lab nightly bench format golden clean setup

help:             ## what can be run here
	@grep -E '^[a-z]+:.*##' Makefile | sed 's/:.*##/\t/'

demo: setup       ## diagnose a recorded incident on an embedded database, and show it
	@$(BIN)/tailhound demo $(DEMO_ARGS)

test: setup       ## all tests; says which real components are missing, and fails on that with CI=true
	@$(BIN)/python -m tests.lab.requirements
	$(BIN)/pytest -q -n $(JOBS) --dist loadgroup -m "not nightly"

quick: setup      ## the inner loop: style and unit tests, under a minute
	$(BIN)/ruff check . && $(BIN)/ruff format --check -q .
	$(BIN)/pytest -q -x -n $(JOBS) tests/unit

check: setup      ## style, types, import contracts, runbooks
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/tailhound check runbooks

lab: setup        ## run one scenario on real components: make lab SCENARIO=tests/scenarios/NAME
	$(BIN)/python -m tests.lab.run $(SCENARIO) $(LAB_ARGS)

nightly: setup    ## what takes minutes: hundreds of kills, soak
	$(BIN)/pytest -q -m nightly

bench: setup      ## the table of speed and size, each figure beside its bare probe
	$(BIN)/python -m benchmarks

format: setup     ## put the code into shape
	$(BIN)/ruff check --fix -q . ; $(BIN)/ruff format -q .

golden: setup     ## rewrite the golden files, to be looked at before they are committed
	$(BIN)/pytest -q tests/unit --update-golden

clean:            ## remove what was built
	rm -rf $(VENV) .artifacts .mypy_cache .ruff_cache .pytest_cache .import_linter_cache

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml constraints.txt deploy/setup.sh
	@PYTHON=$(PYTHON) sh deploy/setup.sh $(VENV)
	@touch $@
