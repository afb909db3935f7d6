# Each target does its own set-up: a virtual environment in $(VENV), made once and again when the pins change.
VENV ?= .venv
PYTHON ?= python3
BIN := $(VENV)/bin
# Real evaluation data for the tests that want it; they skip with a reason where the folder is absent.
export RECAPTURE_DATA ?= $(realpath ../shared/data)

# The texts the masked language models of weights/ were trained on: train.txt.xz and heldout.tsv.
CORPUS ?= $(realpath ../shared/corpus)
WEIGHTS := weights/src/recapture_weights/recapture-minilm.safetensors

.PHONY: demo quick quick-studies test coverage attack kill oldest wheels bench lint docs screenshots results weights train samples clean

$(VENV)/.ready: pyproject.toml weights/pyproject.toml studies/pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt \
	  -e ".[models,offline,parquet,bench,ray,dev]" -e ./weights -e ./studies
	touch $@

demo: $(VENV)/.ready  ## which of three small systems is closest to people, and a page about it
	mkdir -p build
	$(BIN)/recapture compare --offline \
	  --reference examples/demo/human.txt \
	  --candidate examples/demo/good.txt \
	  --candidate examples/demo/collapsed.txt \
	  --candidate examples/demo/scrambled.txt \
	  --report build/demo.html

# Tests run in one process per core, so each computes on one: more threads than cores only wait for each other.
quick quick-studies test coverage: export OMP_NUM_THREADS = 1
# Compiled files are kept: else every worker, and every program that a test starts, compiles the package anew.
unexport PYTHONDONTWRITEBYTECODE

quick: $(VENV)/.ready  ## the inner loop, in about a minute on two cores
	$(BIN)/python -m pytest -q -n auto --dist worksteal -m "not slow" tests

quick-studies: $(VENV)/.ready  ## the same for the studies
	$(BIN)/python -m pytest -q -n auto --dist worksteal -m "not slow" studies

test: lint  ## everything that must hold
	$(BIN)/python -m pytest -n auto --dist worksteal

# Slow tests show that numbers are right, on lines that quick ones reach; the few that reach others are marked traced.
coverage: $(VENV)/.ready  ## how much of the code the tests reach, branches included: by quick tests and some slow ones
	$(BIN)/python -m pytest -q -n auto --dist worksteal -m "not slow or traced" \
	  --cov --cov-report=term --cov-report=json:.coverage.json
	$(BIN)/python .ci/branch_coverage.py .coverage.json

attack: $(VENV)/.ready  ## an hour of random attacks on readers, stores, models, options; MINUTES=5 for fewer
	$(BIN)/python tests/attack/run.py --minutes $(or $(MINUTES),60)

oldest:  ## the quick tests with the oldest declared versions, on Python 3.10 where there is one
	PYTHON=$(PYTHON) .ci/oldest

# Seeded: the same kills fall at the same moments, as far as a machine repeats itself. KILLS=1000 for a night.
kill: $(VENV)/.ready  ## kill -9 commands at random moments; their reruns must write what undisturbed runs write
	$(BIN)/python tests/attack/kill.py --kills $(or $(KILLS),100) --seed $(or $(SEED),0)

wheels:  ## a wheel of each distribution, tried in an empty environment
	PYTHON=$(PYTHON) .ci/wheels

lint: $(VENV)/.ready
	$(BIN)/ruff check src studies tests benchmarks docs training weights
	$(BIN)/ruff format --check src studies tests benchmarks docs training weights
	$(BIN)/mypy

bench: $(VENV)/.ready  ## timings against peers, on this machine
	$(BIN)/python -m benchmarks

docs: $(VENV)/.ready  ## redraw the pictures
	$(BIN)/python docs/draw_spheres.py

screenshots: $(VENV)/.ready  ## pictures of a page for README and docs, by Chromium
	$(BIN)/python docs/draw_screenshots.py

# About an hour on 2 cores where the scores of wmt17, webnlg and summarisation are kept; else hours, or DEVICE=cuda.
results: $(VENV)/.ready  ## rebuild docs/evidence and docs/results.md from the data in RECAPTURE_DATA
	$(BIN)/recapture reproduce all --offline $(if $(DEVICE),--device $(DEVICE)) $(if $(SAMPLES),--samples $(SAMPLES)) --output docs/evidence --page docs/results.md

weights: $(VENV)/.ready  ## held-out perplexity and top-1 of the models in weights/, source by source (about 8 minutes)
	$(BIN)/python -m training.evaluate $(WEIGHTS) --heldout $(CORPUS)/heldout.tsv

train: $(VENV)/.ready  ## train them anew from $(CORPUS); wants a GPU
	for run in ship head; do $(BIN)/python -m training.train training/configs/$$run.json --corpus $(CORPUS)/train.txt.xz \
	  --heldout $(CORPUS)/heldout.tsv --output training-output/$$run || exit 1; done
	$(BIN)/python -m training.pack training-output/ship/masked-lm.safetensors training-output/head/masked-lm.safetensors \
	  $(WEIGHTS) --heldout $(CORPUS)/heldout.tsv

samples: $(VENV)/.ready  ## a language model's texts by temperature and top-p, for the study sampling, from $(CORPUS); wants a GPU
	$(BIN)/python -m training.causal --corpus $(CORPUS) --scenes $(RECAPTURE_DATA)/abstract48s/contexts.jsonl.gz --output lm_samples

clean:
	rm -rf $(VENV) .venv-oldest .venv-oldest-models build dist src/*.egg-info weights/build weights/dist \
	  weights/src/*.egg-info studies/build studies/src/*.egg-info .coverage* .mypy_cache .ruff_cache .pytest_cache .hypothesis
