# Each goal makes its own environment, installs what it needs, and runs.
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3.14 python3 python; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$p" && break; done)
BIN = .venv/bin

.PHONY: demo test lint types unit bench clean

demo: .venv/ready
	$(BIN)/python examples/photograph.py demo

test: lint types unit

lint: .venv/ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: .venv/ready
	$(BIN)/mypy

unit: .venv/ready
	$(BIN)/python -m pytest -n 2 -q

bench: .venv-bench/ready
	.venv-bench/bin/python benchmarks/run.py
	.venv-bench/bin/python benchmarks/coding.py
	.venv-bench/bin/python benchmarks/files.py
	.venv-bench/bin/python benchmarks/divergences.py
	.venv-bench/bin/python benchmarks/networks.py
	.venv-bench/bin/python benchmarks/walks.py
	.venv-bench/bin/python benchmarks/tensors.py
	.venv-bench/bin/python benchmarks/pictures.py

.venv/ready: pyproject.toml
	@test -n "$(PYTHON)" || { echo "atomstream needs Python 3.11 or later; none was found."; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[all]' --group dev
	touch $@

# The peers, some of them GPL, live in an environment of their own.
.venv-bench/ready: pyproject.toml benchmarks/requirements.txt
	@test -n "$(PYTHON)" || { echo "atomstream needs Python 3.11 or later; none was found."; exit 1; }
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python -m pip install --quiet --upgrade pip
	.venv-bench/bin/python -m pip install --quiet --editable ".[io,graph]" --requirement benchmarks/requirements.txt
	touch $@

clean:
	rm -rf .venv .venv-bench demo
