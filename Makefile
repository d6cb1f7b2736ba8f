.PHONY: demo test test-soak lint docs corpus judgements update-fixtures new-rule clean

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

docs: $(READY)  ## rewrite docs/rules from the rules
	$(BIN)/python scripts/make_docs.py

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
