# Every target sets up .venv by itself. Another interpreter: `make test PYTHON=python3.12`.
# On a machine without a GPU, `make train CPU=1` downloads PyTorch's CPU build (0.2 GB) instead of the CUDA build (2.5 GB).

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
READY_TRAIN := $(VENV)/.ready-train
PIP := $(BIN)/python -m pip install --disable-pip-version-check -c constraints.txt $(if $(CPU),--extra-index-url https://download.pytorch.org/whl/cpu)
TEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist loadfile
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help train test test-all test-libraries fuzz fuzz-files fuzz-operators fuzz-arguments soak bench bench-gpu bench-serve bench-hosts shape lint docs docs-test stubs\
	dist clean

help:  ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 16

train: $(READY_TRAIN)  ## train the MLP of the tutorials on digits (options: ARGS="--model lenet --data DIR")
	$(BIN)/remx train $(ARGS)

test: $(READY)  ## run the tests that take seconds (options: ARGS="-k save")
	$(TEST) -m "not slow" $(ARGS)

test-all: $(READY)  ## run all tests
	@# a browser to look at pages with; without it those tests are skipped
	command -v chromium >/dev/null || test "$$(id -u)" != 0 || apt-get install -y -q --no-install-recommends chromium || true
	$(TEST) $(ARGS)

test-libraries: $(READY)  ## run libraries that are written on MXNet: GluonCV, GluonTS, d2l, DGL (into build/libraries)
	$(BIN)/python -m pip install --quiet --no-deps --upgrade --target build/libraries -r tests/programs/libraries.txt
	OMP_NUM_THREADS=1 PYTHONPATH=build/libraries $(BIN)/python -m pytest tests/programs/test_libraries_run.py $(ARGS)

SEEDS ?= 0:2000
JOBS ?= 1
CTX ?= cpu
fuzz: $(READY)  ## random whole programs, deferral on against off: SEEDS=0:20000 JOBS=2 CTX=gpu; beside MXNet 1.9.1 with MXNET191_PYTHON=/its/python
	$(BIN)/python -m tests.fuzz_programs $(SEEDS) --jobs $(JOBS) --ctx $(CTX) $(ARGS)

fuzz-files: $(READY)  ## read damaged files of every format, in processes with little memory (options: ARGS="--count 1000000 --seed 1")
	$(BIN)/python tests/scripts/fuzz_files.py $(ARGS)

fuzz-operators: $(READY)  ## call every operator with odd attributes: huge, negative, NaN, of wrong types
	OMP_NUM_THREADS=1 MALLOC_ARENA_MAX=1 $(BIN)/python tests/scripts/fuzz_operators.py $(ARGS)

fuzz-arguments: $(READY)  ## call public functions with one odd argument: None, texts, huge numbers, arrays of other shapes
	OMP_NUM_THREADS=1 MALLOC_ARENA_MAX=1 $(BIN)/python tests/scripts/fuzz_arguments.py $(ARGS)

soak: $(READY)  ## long runs whose memory must stay flat, and all tests of faults, with a report (options: ARGS="--steps 100000")
	$(BIN)/python tests/scripts/soak.py $(ARGS)

bench: $(READY)  ## measure against torch, and against MXNet 1.9.1 with MXNET191_PYTHON=/its/python
	$(BIN)/python -m bench $(ARGS)

bench-gpu: $(READY)  ## the same for a CUDA device: steps and predictions beside torch eager and hand-made CUDA graphs
	$(BIN)/python -m bench.gpu $(ARGS)

bench-hosts: $(READY)  ## dist_sync between hosts made of network namespaces, beside Gloo and DDP; as root (ARGS="--hosts 2 --rates 1gbit")
	$(BIN)/python -m bench.hosts $(ARGS)

shape: $(READY)  ## figures of the structure: calls of a step, import cycles, private names of torch (ARGS="--json FILE --mypy")
	OMP_NUM_THREADS=1 $(BIN)/python tests/scripts/shape.py $(ARGS)

bench-serve: $(READY)  ## requests a second and latencies of remx serve beside plain torch (and LitServe where installed)
	$(BIN)/python -m bench.serve $(ARGS)

lint: $(READY)  ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/mypy

docs: $(READY)  ## build the site in English and Chinese, check its links, write the notebooks (into build/docs)
	OMP_NUM_THREADS=1 $(BIN)/python docs/tools/build.py $(ARGS)

docs-test: $(READY)  ## run every program of README, docs/ and the notebooks
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests/repo/test_repo_docs.py $(ARGS)

stubs: $(READY)  ## write the .pyi files again from the operator table
	$(BIN)/python -m mxnet._frontend.stubs

dist: $(READY)  ## build the sdist and the wheel, reproducibly, with checksums and an SBOM (into dist/)
	$(BIN)/python tools/release.py $(ARGS)

clean:  ## remove .venv and everything that was built
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .hypothesis .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# What `make train` and README's programs need: PyTorch, NumPy and OpenCV, and nothing for tests or documentation.
# Without build isolation, so that setuptools comes in the pinned version too.
$(READY_TRAIN): pyproject.toml constraints.txt
	@echo "Setting up $(VENV) for training: remx, PyTorch, NumPy, OpenCV (PyTorch is the largest download)"
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@test -n "$(CPU)" || command -v nvidia-smi >/dev/null || test "$$(uname)" != Linux || \
		echo "No NVIDIA GPU found. If PyTorch's CUDA libraries are downloaded below, stop (Ctrl-C) and run: make train CPU=1"
	$(PIP) --progress-bar on setuptools
	$(PIP) --progress-bar on --no-build-isolation --config-settings editable_mode=compat --editable ".[image]"
	touch $@

# What all other targets need: the tools for tests and documentation as well.
$(READY): pyproject.toml constraints.txt
	@echo "Setting up $(VENV) for development: remx with all optional parts, and tools for tests and documentation"
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --quiet setuptools
	$(PIP) --quiet --no-build-isolation --config-settings editable_mode=compat --editable ".[dev]"
	@# Graphviz draws networks and is no Python package; without it those tests are skipped
	command -v dot >/dev/null || test "$$(id -u)" != 0 || apt-get install -y -q graphviz || true
	touch $@ $(READY_TRAIN)
