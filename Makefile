.PHONY: demo test test-soak lint docs site bench-corpus bench bench-quick corpus judgements update-fixtures new-rule clean

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
AT_ONCE := --numprocesses auto --maxprocesses 4 --dist loadfile

$(READY): pyproject.toml constraints-dev.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]' --constraint constraints-dev.txt
	touch $(READY)

demo: $(READY)  ## find, mend, train, commit and prove the example
	$(BIN)/python scripts/demo.py

test: $(READY)  ## run the tests
	$(BIN)/python -m pytest -q $(AT_ONCE)

test-soak: $(READY)  ## run what is long or needs the network
	$(BIN)/python -m pytest -q -m soak

lint: $(READY)  ## types, style, and forklint on itself
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/forklint .

docs: $(READY)  ## rewrite docs/rules, and what forklint prints in docs/hazards
	$(BIN)/python scripts/make_docs.py

site: $(READY)  ## build the documentation as a site in build/site; a broken link ends it
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

BENCH := .venv/.bench

$(BENCH): $(READY)
	$(BIN)/python -m pip install --quiet --editable '.[bench]' --constraint constraints-dev.txt
	touch $(BENCH)

bench-corpus: $(READY)  ## fetch the packages of bench/corpus.toml
	$(BIN)/python scripts/corpus.py --fetch

bench: $(BENCH) bench-corpus  ## measure forklint beside its peers; write bench/results.json, docs/speed.md and its plot
	$(BIN)/python -m bench.run $(BENCH_OPTIONS)

bench-quick: $(READY) bench-corpus  ## the same with a tenth of the files, in two minutes; write nothing
	$(BIN)/python -m bench.run --quick $(BENCH_OPTIONS)

corpus: $(READY)  ## fetch the packages of bench/corpus.toml, lint them, count the findings
	$(BIN)/python scripts/corpus.py || test $$? = 3

judgements: $(READY)  ## rewrite the tables of docs/corpus.md from bench/judgements.toml
	$(BIN)/python scripts/judgements.py

update-fixtures: $(READY)  ## rewrite the expected outcomes of fixes
	$(BIN)/python scripts/update_fixtures.py

new-rule: $(READY)  ## begin a rule: make new-rule NAME=FKL302_rng_in_init
	$(BIN)/python scripts/new_rule.py '$(NAME)'

clean:
	rm -rf .venv build dist *.egg-info
