# The commands of this repository. The work is done by scripts/, which also run without make.

SHELL := /usr/bin/env bash
.DEFAULT_GOAL := help
.PHONY: help demo test install check browser pictures python bench overhead scaling evaluation format-performance fmt clean

help: ## Print this list
	@echo "TinyProf. Two commands do everything on a machine with Rust:"
	@awk -F ':.*## ' '/^(demo|test):.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile
	@echo "And for work on the code:"
	@awk -F ':.*## ' '/^(install|check|browser|pictures|python|bench|overhead|scaling|evaluation|format-performance|fmt|clean|help):.*## / { printf "  make %-18s %s\n", $$1, $$2 }' Makefile
	@echo "MPICC=mpicc.mpich make demo (or test) uses that MPI and no other."

demo: ## Install what is missing, run a verified FFT on 4 ranks, print its profile
	@bash scripts/demo.sh

test: ## Install what is missing, run every check and test, under each MPI found
	@bash scripts/test.sh

install: ## Install the command, and the library for programs that are not rebuilt
	@bash scripts/install.sh

check: ## Format, lints and unit tests, in two minutes once everything is built
	@bash scripts/check.sh

python: ## Build and test the Python package, in an environment of its own
	@bash scripts/python.sh

browser: ## Write pages of profiles of all kinds, and click through them in Chromium
	@bash scripts/browser.sh

pictures: ## Compare pictures of all views at all sizes with those that were kept; KEEP=1 keeps the new ones
	@bash scripts/browser.sh --matrix $(if $(KEEP),--keep)

bench: ## Measure what a region costs, beside a bare pair of timestamp reads
	@source scripts/rust.sh && rust_find && cargo bench -p tinyprof-benches

overhead: ## Measure TinyProf beside other profilers, and write the tables in docs/overhead.md
	@bash scripts/overhead.sh
	@bash scripts/calls.sh
	@bash scripts/behind.sh

scaling: ## Measure and simulate the flush of many ranks, and write the tables and plots in docs/scaling.md
	@bash scripts/scaling.sh

evaluation: ## Repeat the evaluations of the papers, and write the tables and plots in docs/evaluation.md and docs/evaluation-messages.md (an hour, can be resumed)
	@bash scripts/evaluation.sh
	@bash scripts/evaluation-messages.sh

format-performance: ## Measure loading and sizes of profiles, and write the tables in docs/format-performance.md
	@bash scripts/format-performance.sh

fmt: ## Format the code
	@source scripts/rust.sh && rust_find && cargo fmt --all

clean: ## Remove everything that was built
	@source scripts/rust.sh && rust_find && cargo clean
