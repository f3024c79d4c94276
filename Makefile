# The two commands of a newcomer are `make build` and `make test`; `make help` lists the rest.
# Nothing is needed but Python 3.11+ and make: the environment and the external tools land in .venv and .cache.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
SPECS  := specs/ai-factory.yaml specs/incident-world.yaml
TOOLBOX := $(PYTHON) tests/toolbox.py
# The newest tools found, named as the command line looks for them.
WITH_TOOLS = export PROMTOOL="$$($(TOOLBOX) path promtool)" AMTOOL="$$($(TOOLBOX) path amtool)"

.DEFAULT_GOAL := help
.PHONY: help build check test test-live test-long lint golden tools tools-browser tools-if-missing pictures bench clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: $(VENV)/ready tools-if-missing ## compile the example specs into out/, every file proven
	@$(WITH_TOOLS) && for spec in $(SPECS); do $(BIN)/tocsin build $$spec || exit $$?; done

check: $(VENV)/ready tools-if-missing ## fail where out/ is not what the specs say
	@$(WITH_TOOLS) && for spec in $(SPECS); do $(BIN)/tocsin build --check $$spec || exit $$?; done

test: $(VENV)/ready tools-if-missing ## run the tests over every promtool and amtool found, and the newest servers
	$(BIN)/pytest -n 3 --dist loadgroup --cov --cov-report=term:skip-covered

test-live: $(VENV)/ready tools-if-missing ## what wants the machine for itself: large sites, every older server, the browser
	$(BIN)/pytest -m "live and not slow"

test-long: $(VENV)/ready tools-if-missing ## the slow tests: the long fuzz, the large specs, every proof on every promtool
	$(BIN)/pytest -m slow

lint: $(VENV)/ready ## style and types
	$(BIN)/ruff format --check compiler tests
	$(BIN)/ruff check compiler tests
	$(BIN)/mypy

golden: $(VENV)/ready tools-if-missing ## rewrite the expected outputs of the tests, then run them
	$(BIN)/pytest --update tests/test_golden.py tests/test_messages.py
	$(BIN)/pytest tests/test_golden.py tests/test_messages.py

tools: ## put promtool, amtool and the servers into .cache/tools where they are not installed
	@$(TOOLBOX) fetch

tools-browser: ## put a headless browser into .cache/tools, for the test that looks at previews
	@$(PYTHON) tests/toolbox_browser.py

tools-if-missing:
	@for tool in promtool amtool; do $(TOOLBOX) path $$tool > /dev/null || exec $(TOOLBOX) fetch; done

pictures: $(VENV)/ready ## draw docs/pictures anew, from a preview of the example spec
	@PYTHONPATH=tests $(BIN)/python tests/preview_pictures.py

bench: $(VENV)/ready tools-if-missing ## time and memory, as ratios to something run beside it
	@$(WITH_TOOLS) && $(BIN)/python -m tests.bench

clean: ## remove everything that can be made again, out/ excepted
	rm -rf $(VENV) .cache .coverage .coverage.* .hypothesis .mypy_cache .pytest_cache .ruff_cache

$(VENV)/ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@$(BIN)/python -m compileall -q compiler
	@touch $@
