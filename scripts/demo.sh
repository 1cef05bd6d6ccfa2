#!/usr/bin/env bash
# From nothing to a profile: sets up, builds, runs the FFT on 4 ranks with verification, prints its
# report.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/rust.sh
source scripts/mpi.sh

rust_find
bash scripts/setup.sh
mpi_find
mpi_use "${MPI_FOUND[0]}"

echo "== build, with $MPICC"
# The report needs no exporters and no screen. They take longer to build than all else here. Beside
# the command lies the library for programs that are not rebuilt.
cargo build --locked --profile demo -p tinyprof-example-fft -p tinyprof-cli -p tinyprof-preload \
    --no-default-features --features tinyprof-example-fft/enable

run=("${MPIEXEC[@]}" -n 4 "$CARGO_TARGET_DIR/demo/fft" --verify --runs 20)
echo
echo "== TINYPROF_OUT=target/demo/fft ${run[*]}"
rm -rf target/demo
mkdir -p target/demo
# The table at the end of the run is off, because the report below is equal to it and shows its
# source.
TINYPROF_OUT=target/demo/fft TINYPROF_REPORT=off "${run[@]}" </dev/null

echo
echo "== tinyprof report target/demo/fft.tprof"
"$CARGO_TARGET_DIR/demo/tinyprof" report target/demo/fft.tprof

# A program in C that knows nothing of TinyProf.
"$MPICC" -O2 -g -o target/demo/wave examples/c/wave.c -lm
run=("${MPIEXEC[@]}" -n 4 target/demo/wave)
echo
echo "== tinyprof run --out target/demo/wave -- ${run[*]}"
"$CARGO_TARGET_DIR/demo/tinyprof" run --out target/demo/wave -- "${run[@]}" </dev/null
