#!/usr/bin/env bash
# The recorder under tools that see what tests do not: loom, ThreadSanitizer, Miri. Stops at the first failure.
# The last two need a nightly toolchain: rustup toolchain install nightly --profile minimal -c rust-src -c miri
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/rust.sh
rust_find

# Objects made for these tools are of no use to any other build.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}/sanitize
host=$(rustc -vV | sed -n 's/^host: //p')

printf '\n== loom: every order of the protocol between one writer and a reader\n'
cargo test --locked --release --manifest-path tinyprof/tests/loom/Cargo.toml

# It knows no fences: it sees accesses that are not atomic, not wrong orderings.
printf '\n== ThreadSanitizer: the unit tests of the recorder\n'
RUSTFLAGS=-Zsanitizer=thread cargo +nightly test --locked -Zbuild-std --target "$host" -p tinyprof --lib -- record::

# Miri links nothing, so that it has no section of sites, which is what the feature is switched off for; nor does it map
# files or read the processor's counter. It is some thousand times slower than the processor.
printf '\n== Miri: the unit tests that need no file and do not run long\n'
MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-permissive-provenance" cargo +nightly miri test --locked -p tinyprof \
    --no-default-features --lib -- observer::every record::arena::handover record::thread record::site \
    record::segment:: clock::tests::a_counter
