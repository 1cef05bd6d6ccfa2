#!/usr/bin/env bash
# Runs the recorder under tools that detect errors that tests miss: loom, ThreadSanitizer, Miri.
# Stops at the first failure. The last two need a nightly toolchain:
#     rustup toolchain install nightly --profile minimal -c rust-src -c miri
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/rust.sh
rust_find

# Objects built for these tools are of no use to any other build.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}/sanitize
host=$(rustc -vV | sed -n 's/^host: //p')

printf '\n== loom: every order of the protocol between one writer and a reader\n'
RUSTFLAGS="--cfg loom" cargo test --locked --release --manifest-path tinyprof/tests/loom/Cargo.toml

# ThreadSanitizer does not support fences: it detects non-atomic accesses, but not wrong orderings.
printf '\n== ThreadSanitizer: the unit tests of the recorder\n'
RUSTFLAGS=-Zsanitizer=thread cargo +nightly test --locked -Zbuild-std --target "$host" -p tinyprof --lib -- record::

# Miri does not link, so there is no section of sites; the feature is switched off for this reason.
# It does not map files or read the processor's counter, either. It is some thousand times slower
# than the processor.
printf '\n== Miri: the unit tests that need no file and do not run long\n'
MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-permissive-provenance" cargo +nightly miri test --locked -p tinyprof \
    --no-default-features --lib -- observer::every record::arena::handover record::thread record::site \
    record::segment:: clock::tests::a_counter
