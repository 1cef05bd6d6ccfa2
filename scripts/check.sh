#!/usr/bin/env bash
# The checks that answer in two minutes once everything has been built: format, lints, unit tests, and that the house is
# as ARCHITECTURE.md says. All of it without MPI: `make test` is the rest.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/rust.sh
rust_find

cargo fmt --all --check
cargo clippy --locked --all-targets --features tinyprof/tracing-layer,tinyprof/alloc -- -D warnings
cargo test --locked --quiet --lib --bins --features tinyprof/tracing-layer,tinyprof/alloc
cargo test --locked --quiet -p tinyprof-architecture
