# make demo: a real retrieval experiment; make test: everything that must hold. Both need Python 3.11+ and nothing else.
PYTHON ?= python3
EXTRAS ?= test
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test check docs bench clean

demo: $(VENV)/installed
	$(BIN)/rankwell demo -o results/demo

test: check
	$(BIN)/python -m pytest -n auto

check: $(VENV)/installed-$(EXTRAS)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(BIN)/python tools/reference.py --check

docs: $(VENV)/installed-$(EXTRAS)
	$(BIN)/python tools/reference.py

bench: $(VENV)/installed-$(EXTRAS)
	$(BIN)/python benchmarks/make_cases.py
	$(BIN)/python benchmarks/run_files.py

$(VENV)/installed: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("rankwell needs Python 3.11 or newer, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/installed-$(EXTRAS): pyproject.toml $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$(EXTRAS)]'
	touch $@

clean:
	rm -rf $(VENV) build dist results .pytest_cache .ruff_cache .hypothesis
