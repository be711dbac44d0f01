# Two commands for everybody: `make demo` and `make test`. Both set up .venv from requirements.lock and leave the system alone.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: setup demo test lint types lock font pictures bench peers table chart clean

setup: $(READY)

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or later is needed; $(PYTHON) is older (use make PYTHON=python3.12)"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $(READY)

demo: $(READY)
	$(BIN)/contextkit compact tests/cases/demo/session.jsonl --model claude-opus-4-8 --window 60000 --out demo-out
	$(BIN)/glyphraster read demo-out/pages/page-*.png | cmp - demo-out/source.txt && echo "every page reads back to demo-out/source.txt, byte for byte"
	$(BIN)/contextkit restore demo-out | cmp - tests/cases/demo/session.jsonl && echo "contextkit restore demo-out gives the session back, byte for byte"

test: $(READY)
	$(BIN)/python -m pytest

lint: $(READY)
	$(BIN)/ruff check .

types: $(READY)
	$(BIN)/mypy

font: $(READY)
	for source in fonts/glyph*.glyphs; do $(BIN)/glyphraster font build $$source || exit 1; done

pictures: $(READY)
	$(BIN)/python docs/pictures.py

# Speed: each stage; every peer that is present (PEERS_DIR=...), for the chart; what is reached of what was asked.
bench: $(READY)
	$(BIN)/python -m pytest benchmarks -o addopts=--import-mode=importlib -o pythonpath=benchmarks --benchmark-columns=median,ops

peers: $(READY)
	$(BIN)/python benchmarks/peers.py --json docs/speed.json

table: $(READY)
	$(BIN)/python benchmarks/table.py

chart: $(READY)
	$(BIN)/python benchmarks/chart.py docs/speed.json docs/images/speed.png

lock:
	uv pip compile pyproject.toml --group dev --all-extras --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url --no-annotate -o requirements.lock

clean:
	rm -rf .venv demo-out build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
