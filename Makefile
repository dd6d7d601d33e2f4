.PHONY: help demo test lint docs fuzz clean
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin
# The first Python of 3.11 or later on the path.
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3 python python3.14; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)

help:
	@echo "make demo   audit a program with a subtle gradient fault and its cure; recover a measured aerosol's past"
	@echo "make test   run the tests"
	@echo "make lint   check format, style, types, spelling and import order"
	@echo "make fuzz   audit a thousand random programs and count what is found (an hour; goes on where it was stopped)"
	@echo "make docs   build the documentation into site/"
	@echo "make clean  remove what the targets above made"

# $(call install,REQUIREMENT,STAMP): quiet unless it fails, and then everything pip said.
define install
	@test -n "$(PYTHON)" || { echo "Retrograde needs Python 3.11 or later on the path."; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "setting up $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable "$(1)" > $(VENV)/install.log 2>&1 \
		|| { cat $(VENV)/install.log; exit 1; }
	@touch $(2)
endef

$(VENV)/.stamp-run: pyproject.toml
	$(call install,.[aerosol],$@)

$(VENV)/.stamp-dev: pyproject.toml
	$(call install,.[dev],$@)
	@touch $(VENV)/.stamp-run

demo: $(VENV)/.stamp-run
	@PATH="$(abspath $(BIN)):$$PATH" bash examples/demo.sh

test: $(VENV)/.stamp-dev
	@$(BIN)/python -m pytest $(ARGS)

lint: $(VENV)/.stamp-dev
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/typos .
	@PATH="$(abspath $(BIN)):$$PATH" $(BIN)/pyright
	@$(BIN)/lint-imports

docs: $(VENV)/.stamp-dev
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

fuzz: $(VENV)/.stamp-dev
	@PYTHONPATH=src $(BIN)/python -m tests.properties.fuzz $(ARGS)

clean:
	@rm -rf $(VENV)/.stamp-run $(VENV)/.stamp-dev site build dist .pytest_cache .ruff_cache .hypothesis .import_linter_cache
