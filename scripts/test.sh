#!/usr/bin/env bash
# Runs every check and test, the MPI part once under each MPI found. Stops at the first failure.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/rust.sh
source scripts/mpi.sh
source scripts/mpi4py.sh

# step HEADING COMMAND...: announces and times one command. Not for a function of several: inside
# `||` bash would not stop at the first that fails.
durations=()
step() {
    local heading=$1 start=$SECONDS status=0 word=ok
    shift
    printf '\n== %s\n' "$heading"
    "$@" </dev/null || status=$?
    if ((status)); then word="FAILED ($status)"; fi
    durations+=("$(printf '%4d s  %s: %s' $((SECONDS - start)) "$heading" "$word")")
    if ((status)); then exit "$status"; fi
}
trap 'if ((${#durations[@]})); then printf "\n"; printf "%s\n" "${durations[@]}"; fi' EXIT

rust_find
step "what a build needs" bash scripts/setup.sh
if ! cargo fmt --version >/dev/null 2>&1 || ! cargo clippy --version >/dev/null 2>&1; then
    step "rustfmt and clippy" rustup component add rustfmt clippy
fi
mpi_find
for mpi in "${MPI_FOUND[@]}"; do echo "$mpi: ${MPI_CC[$mpi]}, ${MPI_EXEC[$mpi]}"; done

# Test programs with regions leave profiles in their directory: here, not in the source tree.
TINYPROF_OUT=$(mktemp -d)/test
export TINYPROF_OUT

# Clippy and rustdoc check the MPI crates too, so they need an MPI. The tests without MPI run in the
# same directory, so that these three share their builds.
mpi_use "${MPI_FOUND[0]}"
step "format" cargo fmt --all --check
# Packages that are no members of the workspace, some of which are built by hand only.
for package in benches/peers benches/simgrid fuzz python tinyprof/tests/loom; do
    step "lock file of $package" cargo tree --locked --depth 0 --manifest-path "$package/Cargo.toml"
done
step "clippy" cargo clippy --locked --workspace --all-targets --features tinyprof/tracing-layer,tinyprof/alloc,tinyprof-faults/mpi -- -D warnings
step "documentation" env RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps --features tinyprof/tracing-layer,tinyprof/alloc
step "tests without MPI" cargo test --locked --features tinyprof/tracing-layer,tinyprof/alloc
step "fuzz targets, 60 s each" bash scripts/fuzz.sh 60
step "faults" bash scripts/faults.sh quick
step "protocol of the recorder, under loom" env RUSTFLAGS="--cfg loom" cargo test --locked --release --manifest-path tinyprof/tests/loom/Cargo.toml
step "format of the Python package's reader" cargo fmt --manifest-path python/Cargo.toml --check -- --config-path rustfmt.toml
step "Python" bash scripts/python.sh
step "pages in Chromium" bash scripts/browser.sh

# One test at a time: each starts several ranks that spin while they wait, and two such tests on few
# cores slow each other down far more than twofold.
export RUST_TEST_THREADS=${RUST_TEST_THREADS:-1}
mpi4py_find
for mpi in "${MPI_FOUND[@]}"; do
    mpi_use "$mpi"
    step "tests with $mpi" cargo test --locked -p tinyprof-mpi -p tinyprof-example-fft -p tinyprof-example-tc
    # By itself: with the packages above its library would be linked to this MPI.
    step "programs that are not rebuilt, with $mpi" cargo test --locked -p tinyprof-preload
    step "programs of MPI's rules, with $mpi" bash scripts/conformance.sh quick
done

# Programs as users have them, locked to another version of rsmpi, which is built anew for each.
mpi_use "${MPI_FOUND[0]}"
step "programs of users" cargo test --locked -p tinyprof-mpi --test outside -- --ignored
