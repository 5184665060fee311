# What a developer and CI run. Every target sets up the environment that it needs by itself.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
JOBS   ?= 2
# what the inner loop leaves to `make test`: engines that start, damage at every place, benchmarks
SLOW   := charts/test_draw.py charts/test_painter.py durable parse/test_damaged.py parse/test_hostile.py \
          slack/test_commands.py slack/test_feedback_form.py slack/test_limits.py slack/test_listeners.py \
          slack/test_modals_hostile.py slack/test_notifier.py slack/test_preparing.py slack/test_silence_form.py \
          slack/test_socket.py slack/test_standin.py slack/test_standin_sockets.py slack/test_thread.py \
          slack/test_thread_posts.py store/test_incidents.py test_alertmanager_big.py test_benchmarks.py test_cli.py \
          test_cli_check.py test_cli_keeping.py test_cli_replay.py test_doctor.py test_own_serve.py test_redaction.py \
          test_second_way.py transports web/test_anything.py web/test_crowds.py web/test_server.py web/test_small.py

.PHONY: help demo test quick check lab accuracy nightly bench format golden docs record constraints clean setup

help:             ## what can be run here
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' Makefile | expand -t 14

demo: setup       ## diagnose a recorded incident on an embedded database, and show it
	@$(BIN)/tailhound demo $(DEMO_ARGS)

test: setup       ## all tests; names the parts that are missing here, and fails on that with CI=true
	@$(BIN)/python -m tests.lab.requirements || [ "$$CI" != true ]
	$(BIN)/pytest -q -n $(JOBS) --dist loadgroup -m "not nightly and not devices"

quick: setup      ## the inner loop: style and unit tests, under a minute
	$(BIN)/ruff check -q . && $(BIN)/ruff format --check -q .
	$(BIN)/pytest -q -x -n $(JOBS) tests/unit -m "not nightly and not postgres" $(SLOW:%=--ignore=tests/unit/%)

check: setup      ## style, types, import contracts, runbooks
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/tailhound check runbooks

lab: setup        ## run one scenario on real components: make lab SCENARIO=tests/scenarios/NAME
	@$(BIN)/python -m tests.lab.run $(SCENARIO) $(LAB_ARGS)

accuracy: setup   ## every scenario and its variants: right causes, false confirmations (make accuracy ACCURACY_ARGS=--plain)
	@$(BIN)/python -m tests.accuracy --jobs $(JOBS) $(ACCURACY_ARGS)

devices: setup    ## emulated hosts with an NVMe drive and an RDMA device: are injected faults seen?
	@$(BIN)/python -m tests.lab.devices.build
	$(BIN)/pytest -q -m devices tests/lab/devices

nightly: setup    ## what takes minutes: hundreds of kills, soak
	$(BIN)/pytest -q -m nightly

bench: setup      ## the table of speed and size, each figure beside its bare probe
	@$(BIN)/python -m benchmarks

format: setup     ## put the code into shape
	$(BIN)/ruff check --fix -q . ; $(BIN)/ruff format -q .

golden: setup     ## rewrite the golden files, to be looked at before they are committed
	TAILHOUND_UPDATE_GOLDEN=1 $(BIN)/pytest -q tests/unit

docs: setup       ## rewrite the pages that are made from the code
	$(BIN)/python -m tests.generated

record: setup     ## make the demo's recording anew from the lab, when what is asked has changed
	$(BIN)/python -m tests.lab.record

constraints: setup ## pin what this environment holds, after an upgrade that passes the tests
	@$(BIN)/python -m pip install --quiet -e '.[dev,postgres]'
	@$(BIN)/python deploy/constraints.py > constraints.new && mv constraints.new constraints.txt

clean:            ## remove what was built
	rm -rf $(VENV) .artifacts .mypy_cache .ruff_cache .pytest_cache .import_linter_cache dist

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml constraints.txt deploy/setup.sh
	@PYTHON=$(PYTHON) sh deploy/setup.sh $(VENV)
	@touch $@
