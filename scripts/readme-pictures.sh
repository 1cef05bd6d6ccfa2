#!/usr/bin/env bash
# Takes the pictures of the README: of a run of examples/c/wave.c on 4 ranks, one of which computes
# longer, as it is without a rebuild, and of a running job. They are in docs/images afterwards.
# Needs what scripts/browser.sh needs.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/rust.sh
source scripts/mpi.sh

rust_find
mpi_use_yielding
rust_build -p tinyprof-cli -p tinyprof-preload -p tinyprof-format --bins --lib --examples
bin=${CARGO_TARGET_DIR:-$PWD/target}/debug
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

"$MPICC" -g -O1 -o "$place/wave" examples/c/wave.c -lm
"$bin/tinyprof" run -o mpi=messages -o events=ring -o sample=100 -o report=off --out "$place/wave" -- \
    "${MPIEXEC[@]}" -n 4 "$place/wave" 2 </dev/null
"$bin/tinyprof" html "$place/wave.tprof" -o "$place/wave.html"
"$bin/tinyprof" --color always why "$place/wave.tprof" --width 100 >"$place/why.txt"
TINYPROF_PAGES=$place node crates/tinyprof-cli/web/tests/readme-pictures.js wave "$place/why.txt" docs/images
bash scripts/live-pictures.sh --pictures 4
