#!/usr/bin/env bash
# Takes the pictures of the README: of a run of six ranks, of which every other one is late, and of a
# running job. Ranks sleep instead of computing, so that any machine will do, even a busy one. The
# pictures are in docs/images afterwards. Needs what scripts/browser.sh needs.
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

"$MPICC" -g -O1 -o "$place/waiting" crates/tinyprof-preload/tests/programs/waiting.c
"$bin/tinyprof" run -o mpi=messages -o events=ring -o report=off --out "$place/waiting" -- \
    "${MPIEXEC[@]}" -n 6 "$place/waiting" late_sender 40 150000 </dev/null
"$bin/tinyprof" html "$place/waiting.tprof" -o "$place/waiting.html"
"$bin/tinyprof" --color always why "$place/waiting.tprof" --width 100 >"$place/why.txt"
TINYPROF_PAGES=$place node crates/tinyprof-cli/web/tests/readme-pictures.js waiting "$place/why.txt" docs/images
bash scripts/live-pictures.sh --pictures 4
