#!/usr/bin/env bash
# The checks that answer in two minutes once everything has been built: format, lints, unit tests, and that the house is
# as ARCHITECTURE.md says. All of it without MPI: `make test` is the rest.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/rust.sh
rust_find

cargo fmt --all --check
# One selection of packages and features, so that nothing is built twice.
rust_select --features "$FEATURES"
cargo clippy "${SELECTED[@]}" --all-targets -- -D warnings
cargo test "${SELECTED[@]}" --quiet --lib --bins --test rules --test workspace
