# Every target sets up .venv by itself. Another interpreter: `make test PYTHON=python3.12`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
TEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist loadfile
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help train test test-all test-libraries fuzz fuzz-files fuzz-operators soak bench bench-gpu shape lint docs docs-test stubs\
	clean

help:  ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 16

train: $(READY)  ## train the MLP of the tutorials on digits (options: ARGS="--model lenet --data DIR")
	$(BIN)/remx train $(ARGS)

test: $(READY)  ## run the tests that take seconds (options: ARGS="-k save")
	$(TEST) -m "not slow" $(ARGS)

test-all: $(READY)  ## run all tests
	@# a browser to look at pages with; without it those tests are skipped
	command -v chromium >/dev/null || test "$$(id -u)" != 0 || apt-get install -y -q --no-install-recommends chromium || true
	$(TEST) $(ARGS)

test-libraries: $(READY)  ## run libraries that are written on MXNet: GluonCV, GluonTS, d2l, DGL (into build/libraries)
	$(BIN)/python -m pip install --quiet --no-deps --upgrade --target build/libraries -r tests/libraries.txt
	OMP_NUM_THREADS=1 PYTHONPATH=build/libraries $(BIN)/python -m pytest tests/test_libraries_run.py $(ARGS)

SEEDS ?= 0:2000
JOBS ?= 1
CTX ?= cpu
fuzz: $(READY)  ## random whole programs, deferral on against off: SEEDS=0:20000 JOBS=2 CTX=gpu; beside MXNet 1.9.1 with MXNET191_PYTHON=/its/python
	$(BIN)/python -m tests.fuzz_programs $(SEEDS) --jobs $(JOBS) --ctx $(CTX) $(ARGS)

fuzz-files: $(READY)  ## read damaged files of every format, in processes with little memory (options: ARGS="--count 1000000 --seed 1")
	$(BIN)/python tests/fuzz_files.py $(ARGS)

fuzz-operators: $(READY)  ## call every operator with odd attributes: huge, negative, NaN, of wrong types
	OMP_NUM_THREADS=1 MALLOC_ARENA_MAX=1 $(BIN)/python tests/fuzz_operators.py $(ARGS)

soak: $(READY)  ## long runs whose memory must stay flat, and all tests of faults, with a report (options: ARGS="--steps 100000")
	$(BIN)/python tests/soak.py $(ARGS)

bench: $(READY)  ## measure against torch, and against MXNet 1.9.1 with MXNET191_PYTHON=/its/python
	$(BIN)/python -m bench $(ARGS)

bench-gpu: $(READY)  ## the same for a CUDA device: steps and predictions beside torch eager and hand-made CUDA graphs
	$(BIN)/python -m bench.gpu $(ARGS)

shape: $(READY)  ## figures of the structure: calls of a step, import cycles, private names of torch (ARGS="--json FILE --mypy")
	OMP_NUM_THREADS=1 $(BIN)/python tests/shape.py $(ARGS)

lint: $(READY)  ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/mypy

docs: $(READY)  ## build the site in English and Chinese, check its links, write the notebooks (into build/docs)
	OMP_NUM_THREADS=1 $(BIN)/python docs/tools/build.py $(ARGS)

docs-test: $(READY)  ## run every program of README, docs/ and the notebooks
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests/test_repo_docs.py $(ARGS)

stubs: $(READY)  ## write the .pyi files again from the operator table
	$(BIN)/python -m mxnet._frontend.stubs

clean:  ## remove .venv and everything that was built
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .hypothesis .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Without build isolation, so that setuptools comes in the pinned version too.
$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -c constraints.txt setuptools
	$(BIN)/python -m pip install --quiet -c constraints.txt --no-build-isolation --editable ".[dev]"
	@# what draws networks is no Python package; without it those tests are skipped
	command -v dot >/dev/null || test "$$(id -u)" != 0 || apt-get install -y -q graphviz || true
	touch $@
