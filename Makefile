# Each goal makes its own environment, installs what it needs, and runs.
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3.14 python3 python; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$p" && break; done)
SCRIPTS = $(if $(filter Windows_NT,$(OS)),Scripts,bin)
BIN = .venv/$(SCRIPTS)
PYTEST = $(BIN)/python -m pytest -n 2 --dist loadfile -q
# Hundreds of processes would compile the package anew where the shell asks to write no bytecode.
export PYTHONDONTWRITEBYTECODE =

.PHONY: demo test test-fast test-long test-weekly test-elsewhere test-mutations lint types unit coverage test-floor test-next \
	fuzz changelog bench bench-guard docs pictures notebooks release-check clean

demo: .venv/ready
	$(BIN)/python examples/photograph.py demo

test: lint types unit

lint: .venv/ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: .venv/ready
	$(BIN)/mypy
	$(BIN)/mypy --strict --follow-imports=silent --cache-dir .mypy_cache/strict tests/typed tests/fields/*/typed_*.py
	$(BIN)/pyright --pythonpath $(BIN)/python

unit: .venv/ready
	$(PYTEST) -m "not long" --durations=10

# The long forms of tests whose short form is in make test, and more examples of properties.
test-long: .venv/ready
	$(PYTEST) -m "(long or hypothesis) and not weekly" --hypothesis-profile long --durations=10

# What takes minutes by itself: tutorials, machines that are killed fifty times, large made tables.
test-weekly: .venv/ready
	$(PYTEST) -m weekly --durations=10

# Tests of what is learned, as other machines would run them: at most half an hour.
test-elsewhere: .venv/ready
	$(BIN)/python tests/elsewhere.py

# Faults put into a copy of the sources, one at a time: the bound that guards against each must fail.
test-mutations: .venv/ready
	$(BIN)/python tests/mutations.py

# Without the slow tests, runs, the command line, files and pages: an answer within a minute.
test-fast: .venv/ready
	$(PYTEST) -m "not slow and not long" tests src \
		--ignore=tests/cli --ignore=tests/runs --ignore=tests/io

coverage: .venv/ready
	$(PYTEST) --cov --cov-report=term-missing:skip-covered

# The fast tests with the oldest releases that pyproject.toml admits. Their compiled kernels lie
# apart: numba keeps only one release's of a source file.
test-floor: .venv-floor/ready
	NUMBA_CACHE_DIR="$(CURDIR)/.venv-floor/kernels" .venv-floor/$(SCRIPTS)/python -m pytest -n 2 -q \
		-m "not slow and not long" -W ignore::DeprecationWarning tests

# The fast tests with releases of the dependencies that are still to come.
test-next: .venv-next/ready
	.venv-next/$(SCRIPTS)/python -m pytest -n 2 -q -m "not slow and not long" tests

# Damages files of every kind for ten minutes, and reads them.
fuzz: .venv/ready
	$(BIN)/python tests/fuzz.py --seconds 600

changelog: .venv/ready
	$(BIN)/towncrier build --draft

# What has become slower than at the last release or yesterday (or: make bench-guard AGAINST=COMMIT).
bench-guard: .venv/ready
	$(BIN)/python benchmarks/guard.py $(if $(AGAINST),--against $(AGAINST))

# Every benchmark and experiment whose record is not of the commit that is checked out: hours.
bench: .venv-bench/ready .venv-esat/ready
	.venv-bench/$(SCRIPTS)/python benchmarks/everything.py --esat .venv-esat/$(SCRIPTS)/python

# The site, in docs/_build/html. Building needs no network; warnings and broken links end it.
docs: .venv-docs/ready
	rm -rf docs/_build/html/_modules
	MPLBACKEND=agg OMP_NUM_THREADS=1 .venv-docs/$(SCRIPTS)/sphinx-build -q -W --keep-going \
		-c docs -d docs/_build/doctrees . docs/_build/html
	.venv-docs/$(SCRIPTS)/python docs/check_links.py docs/_build/html

# The pictures that pages show; each script draws its own.
pictures: .venv-docs/ready
	for script in docs/pictures/*.py; do MPLBACKEND=agg .venv-docs/$(SCRIPTS)/python $$script || exit 1; done

# Runs the tutorials and stores what they print and draw; one whose data are not here is passed over.
notebooks: .venv-notebooks/ready
	.venv-notebooks/$(SCRIPTS)/python docs/notebooks/run_notebooks.py

# Builds what a release publishes, and tries it with the core dependencies alone.
release-check: .venv/ready
	rm -rf dist .venv-release
	$(BIN)/python -m hatchling build -d dist
	tar -tzf dist/*.tar.gz
	$(BIN)/python -m zipfile -l dist/*.whl
	$(PYTHON) -m venv .venv-release
	.venv-release/$(SCRIPTS)/python -m pip install --quiet dist/*.whl
	.venv-release/$(SCRIPTS)/python tests/clean_install.py

.venv/ready: pyproject.toml
	@test -n "$(PYTHON)" || { echo "atomstream needs Python 3.11 or later; none was found."; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[all]' --group dev
	touch $@

.venv-floor/ready: pyproject.toml
	@test -n "$(PYTHON)" || { echo "atomstream needs Python 3.11 or later; none was found."; exit 1; }
	$(PYTHON) -m venv .venv-floor
	.venv-floor/$(SCRIPTS)/python -m pip install --quiet --upgrade pip uv
	.venv-floor/$(SCRIPTS)/uv pip compile --quiet --resolution lowest-direct --extra all pyproject.toml --output-file .venv-floor/oldest.txt
	.venv-floor/$(SCRIPTS)/uv pip install --quiet --python .venv-floor --constraint .venv-floor/oldest.txt --editable '.[all]' --group floor
	touch $@

.venv-next/ready: pyproject.toml
	@test -n "$(PYTHON)" || { echo "atomstream needs Python 3.11 or later; none was found."; exit 1; }
	$(PYTHON) -m venv .venv-next
	.venv-next/$(SCRIPTS)/python -m pip install --quiet --upgrade pip
	.venv-next/$(SCRIPTS)/python -m pip install --quiet --pre --editable '.[all]' --group floor
	touch $@

.venv-docs/ready: pyproject.toml
	@test -n "$(PYTHON)" || { echo "atomstream needs Python 3.11 or later; none was found."; exit 1; }
	$(PYTHON) -m venv .venv-docs
	.venv-docs/$(SCRIPTS)/python -m pip install --quiet --upgrade pip
	.venv-docs/$(SCRIPTS)/python -m pip install --quiet --editable '.[docs]'
	touch $@

.venv-notebooks/ready: pyproject.toml
	@test -n "$(PYTHON)" || { echo "atomstream needs Python 3.11 or later; none was found."; exit 1; }
	$(PYTHON) -m venv .venv-notebooks
	.venv-notebooks/$(SCRIPTS)/python -m pip install --quiet --upgrade pip
	.venv-notebooks/$(SCRIPTS)/python -m pip install --quiet --editable '.[all,cells]' --group notebooks
	touch $@

# The peers, some of them GPL, live in an environment of their own.
.venv-bench/ready: pyproject.toml benchmarks/requirements.txt
	@test -n "$(PYTHON)" || { echo "atomstream needs Python 3.11 or later; none was found."; exit 1; }
	$(PYTHON) -m venv .venv-bench
	.venv-bench/$(SCRIPTS)/python -m pip install --quiet --upgrade pip
	.venv-bench/$(SCRIPTS)/python -m pip install --quiet --editable ".[all,cells,cluster]" --requirement benchmarks/requirements.txt
	touch $@

# Its pins of other packages need an environment of its own.
.venv-esat/ready:
	@test -n "$(PYTHON)" || { echo "atomstream needs Python 3.11 or later; none was found."; exit 1; }
	$(PYTHON) -m venv .venv-esat
	.venv-esat/$(SCRIPTS)/python -m pip install --quiet esat
	touch $@

clean:
	rm -rf .venv .venv-bench .venv-docs .venv-esat .venv-floor .venv-next .venv-notebooks .venv-release demo dist docs/_build \
		docs/api docs/gallery docs/all-names.rst
