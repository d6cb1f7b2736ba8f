.PHONY: demo test test-soak coverage lint docs site bench-corpus bench bench-quick corpus judgements update-fixtures new-rule clean

PYTHON ?= python3
VENV ?= .venv
EXTRAS ?= dev
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# One more than there are processors: tests also wait, for processes that are to hang or to end.
AT_ONCE = --numprocesses $(shell $(PYTHON) -c "import os; print(min(4, (os.cpu_count() or 1) + 1))") --dist worksteal

# Tests start thousands of processes, each of which would compile forklint again.
unexport PYTHONDONTWRITEBYTECODE

$(READY): pyproject.toml constraints-dev.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[$(EXTRAS)]' --constraint constraints-dev.txt
	touch $(READY)

demo: $(READY)  ## find, fix, train, commit and verify the example
	$(BIN)/python scripts/demo.py

test: $(READY)  ## run the tests, and name the slowest
	$(BIN)/python -m pytest -q $(AT_ONCE) --durations 10 $(TEST_OPTIONS)

test-soak: $(READY)  ## run tests that are slow or need the network: PART=fuzz (PART=list lists parts), MINUTES=5, SEED=1, AGAIN=1
	$(BIN)/python -m scripts.soak $(PART) $(if $(MINUTES),--minutes $(MINUTES)) $(if $(SEED),--seed $(SEED)) $(if $(AGAIN),--again)

coverage: $(READY)  ## run the tests and report which lines and branches they reach; TEST_OPTIONS chooses tests
	$(BIN)/python -m coverage erase
	$(BIN)/python -m coverage run -m pytest -q $(AT_ONCE) $(TEST_OPTIONS) || echo 'some tests failed; what the others reach:'
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report

lint: $(READY)  ## run mypy, ruff, and forklint on itself
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/forklint .

docs: $(READY)  ## write the generated parts of the documentation
	$(BIN)/python scripts/make_docs.py

site: $(READY)  ## build the documentation site in build/site; a broken link is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

BENCH := $(VENV)/.bench

$(BENCH): $(READY)
	$(BIN)/python -m pip install --quiet --editable '.[bench]' --constraint constraints-dev.txt
	touch $(BENCH)

bench-corpus: $(READY)  ## fetch the packages of bench/corpus.toml
	$(BIN)/python scripts/corpus.py --fetch

bench: $(BENCH) bench-corpus  ## compare the speed of forklint and its peers; write bench/results.json, docs/speed.md and its plot
	$(BIN)/python -m bench.run $(BENCH_OPTIONS)

bench-quick: $(READY) bench-corpus  ## the same with a tenth of the files, in two minutes; write nothing
	$(BIN)/python -m bench.run --quick $(BENCH_OPTIONS)

corpus: $(READY)  ## fetch the packages of bench/corpus.toml, lint them, count the findings
	$(BIN)/python scripts/corpus.py || test $$? = 3

judgements: $(READY)  ## write the tables of docs/corpus.md from bench/judgements.toml
	$(BIN)/python scripts/judgements.py

update-fixtures: $(READY)  ## write the expected results of fixes
	$(BIN)/python scripts/update_fixtures.py

new-rule: $(READY)  ## create the files of a new rule: make new-rule NAME=FKL302_rng_in_init
	$(BIN)/python scripts/new_rule.py '$(NAME)'

clean:
	rm -rf .venv build dist *.egg-info
