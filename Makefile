# `make` runs the pipeline, `make test` tests it; both set up their own environment first. `make help` lists all.

PYTHON ?= python3
CORES ?= all
VENV := .venv
READY := $(VENV)/.ready
BIN := $(CURDIR)/$(VENV)/bin
# exec: a shell in between would not pass on that make is stopped.
RUN = exec $(BIN)/python -m pipeline run --cores $(CORES)

.DEFAULT_GOAL := run
.PHONY: run test test-slurm lint format figures report gallery smoke docs lock schemas clean help

run: $(READY)  ## Recompute every figure, table and claim at the default scale (results/)
	@$(RUN) $(ARGS)

test: $(READY) lint  ## Lint, unit tests and the whole pipeline at smoke scale
	@echo "== tests, with the whole pipeline at smoke scale"
	@$(BIN)/python -m pytest -n $(if $(filter all,$(CORES)),auto,$(CORES)) --dist loadfile -m "not slurm" \
		--cov --cov-report= $(ARGS)
	@echo "== tests have run $$($(BIN)/python -m coverage report --format=total) % of the lines of src, besides what the pipeline runs"

test-slurm: $(READY)  ## Test the cluster profiles on a private SLURM (Debian: slurmctld slurmd slurm-client munge)
	@echo "== tests of the cluster profiles on a private SLURM"
	@$(BIN)/python -m pytest -m slurm tests/test_slurm.py $(ARGS)

lint: $(READY)  ## Style, formatting, types, Snakemake's own lint
	@echo "== lint"
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/snakefmt --check Snakefile workflow 2> $(VENV)/lint.log || { cat $(VENV)/lint.log; exit 1; }
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/snakemake --lint --quiet all 2> $(VENV)/lint.log || { cat $(VENV)/lint.log; exit 1; }

format: $(READY)  ## Bring all code into its standard form
	@$(BIN)/ruff check --fix --quiet .
	@$(BIN)/ruff format --quiet .
	@$(BIN)/snakefmt Snakefile workflow 2> /dev/null

figures: $(READY)  ## Redraw what is out of date of the figures, and what they need
	@$(RUN) figures $(ARGS)

report: $(READY)  ## Write results/report.html, one page with the scorecard and every figure, and what it needs
	@$(RUN) results/report.html $(ARGS)

gallery: $(READY)  ## Write docs/gallery, small pictures of all figures with their claims, and what it needs
	@$(RUN) gallery $(ARGS)

smoke: $(READY)  ## Run the whole pipeline at smoke scale (results/smoke)
	@$(RUN) --config scale=smoke $(ARGS)

docs: $(READY)  ## Write the pages made from code and config, and all of docs/ as HTML (results/site)
	@$(BIN)/python -m pipeline pages --output docs
	@$(BIN)/python -m mkdocs build --strict --quiet

lock: $(READY)  ## Resolve pyproject.toml into requirements.lock and environment.yml (ARGS=--upgrade for newer versions)
	$(BIN)/uv pip compile pyproject.toml --extra dev --extra cluster --extra docs --quiet --universal $(ARGS) \
		--python-version 3.11 --fork-strategy fewest --generate-hashes --no-header --no-annotate \
		--no-emit-index-url --no-emit-find-links --output-file requirements.lock
	@sed -n '1,/- pip:/p' environment.yml > environment.new
	@sed -nE "s/^([a-z0-9].*==[^\\]*[^ \\])( \\\\)?$$/      - \1/p" requirements.lock >> environment.new
	@mv environment.new environment.yml

schemas: $(READY)  ## Write the JSON schemas of the config files anew
	@$(BIN)/python -m pipeline schema --output workflow/schemas

clean:  ## Remove the environment, all results and all caches
	rm -rf $(VENV) .coverage .snakemake .mypy_cache .ruff_cache .pytest_cache .hypothesis src/*.egg-info
	find results -mindepth 1 ! -name .gitkeep -delete
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

help:  ## Show this list
	@awk -F':.*## ' '/^[a-z-]+:.*##/ {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "  Add CORES=2 to use fewer cores, ARGS='...' to hand arguments to snakemake or pytest."

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Python 3.11 or newer is needed; name one: make PYTHON=python3.12")'
	@echo "== setting up $(VENV) from requirements.lock (a few minutes, once)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@
