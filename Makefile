# Needs Python 3.11 to 3.13 and make. Each target sets up what it needs (.ci/environment.py) and is quick the second time.
SHELL := /bin/sh
SETUP := $(if $(PYTHON),PYTHON="$(PYTHON)",) python3 .ci/environment.py
VENV := .venv/bin
LABEL_STUDIO := $(or $(SOFTIRR_LABEL_STUDIO),$(CURDIR)/.venv-labelstudio/bin/label-studio)
ARGS ?=
# pip leaves modules uncompiled (.ci/environment_venv.py): Python keeps what it compiled, for the next process.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test test-all test-random lint docs bench audit podman size mutants clean python

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

python:
	@command -v python3 >/dev/null || { echo "Python 3.11, 3.12 or 3.13 is needed, and no python3 was found. On Debian or Ubuntu: apt-get install python3 python3-venv"; exit 2; }

demo: python  ## a Label Studio with an example project, scored; ARGS=--check runs it headless and verifies it
	@$(SETUP) run labelstudio
	@SOFTIRR_LABEL_STUDIO="$(LABEL_STUDIO)" $(VENV)/softirr-ls demo $(ARGS)

# Tests of one server share a process, and the others run beside it (tests/conftest.py).
PYTEST := SOFTIRR_LABEL_STUDIO="$(LABEL_STUDIO)" $(VENV)/python -m pytest -n $(or $(JOBS),auto) --dist loadgroup

test: python  ## the fast tests; ARGS are passed to pytest
	@$(SETUP) dev javascript system
	@$(PYTEST) -m "not slow" $(ARGS)

test-random: python  ## the property tests with new random examples; a failure prints how to repeat it
	@$(SETUP) dev
	@$(PYTEST) -m hypothesis --hypothesis-profile=random $(ARGS)

test-all: python  ## every test, with a real Label Studio and a browser
	@$(SETUP) dev labelstudio javascript system
	@$(PYTEST) $(ARGS)

lint: python  ## style, ruff and mypy; ESLint, tsc and prettier where Node.js is installed
	@$(SETUP) dev javascript
	@$(VENV)/python .ci/style.py
	@$(VENV)/python .ci/commit_message.py --since 3f1427a8
	@$(VENV)/ruff check .
	@$(VENV)/ruff format --check .
	@$(VENV)/mypy
	@if [ -e node_modules/.made ]; then npm run --silent lint; fi

docs: python  ## the documentation, into site/; warnings are errors
	@$(SETUP) dev
	@NO_MKDOCS_2_WARNING=1 $(VENV)/mkdocs build --strict --quiet

audit: python  ## look up known vulnerabilities of the pinned versions
	@$(SETUP) dev
	@$(VENV)/python .ci/audit.py

podman: python  ## build docker-compose.yml and run it, from up to an audited edit (root, and the packages it names; long)
	@$(SETUP) dev
	@$(VENV)/python tests/podman/check.py $(ARGS)

bench: python  ## the benchmarks; ARGS picks one, for example ARGS=coefficients
	@$(SETUP) dev
	@$(VENV)/python -m lab.bench $(ARGS)

size: python  ## how large the code is: code lines by package, circles of imports, long files and long lines
	@python3 .ci/size.py $(ARGS)

mutants: python  ## mutation testing of the science, 50 mutants of each package (an hour); ARGS="--sample 20 policy" for fewer
	@$(SETUP) dev
	@nice $(VENV)/python .ci/mutants.py $(ARGS)

clean:  ## remove the environments, the demo and what tools leave behind
	rm -rf .venv .venv-labelstudio node_modules .demo build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis test-results
