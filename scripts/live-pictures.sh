#!/usr/bin/env bash
# Takes pictures of `tinyprof live`: of jobs of 4 and 64 ranks under the first MPI found, and of
# made-up interim profiles of 4,096. They are in target/browser/screenshots afterwards, with faults
# of the layout and of the rules of axe-core on standard output. Needs what scripts/browser.sh and
# the tests of tinyprof-preload build. With --pictures that of 4 ranks becomes the one of the README.
#     scripts/live-pictures.sh [--pictures] [4|64|4096 ...]
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/rust.sh
source scripts/mpi.sh
rust_find
mpi_find
mpi_use "${MPI_FOUND[0]}"

bin=${CARGO_TARGET_DIR:-$PWD/target}/debug
export TINYPROF_PAGES=$PWD/target/browser
mkdir -p "$TINYPROF_PAGES/screenshots"
place=$(mktemp -d)
running=()
is_of_readme=0
if [[ ${1:-} == --pictures ]]; then
    is_of_readme=1
    shift
fi
cleanup() {
    for process in "${running[@]}"; do kill "$process" 2>/dev/null || true; done
    wait
    rm -rf "$place"
}
trap cleanup EXIT

picture() { # name directory
    "$bin/tinyprof" live "$2" >"$place/address" 2>/dev/null &
    running+=($!)
    until [[ -s $place/address ]]; do sleep 0.1; done
    node crates/tinyprof-cli/web/tests/live-pictures.js "$(head -n 1 "$place/address")" "$1"
    : >"$place/address"
}

(($# > 0)) || set -- 4 64 4096
for ranks in "$@"; do
    if ((ranks > 64)); then
        mkdir "$place/interim"
        "$bin/examples/story" "$place/interim/heat-interim-0001" "$ranks" 100 20
        "$bin/examples/story" "$place/interim/heat-interim-0002" "$ranks" 100 30
        picture "$ranks" "$place/interim"
        continue
    fi
    "$MPICC" -g -O1 -o "$place/waiting" crates/tinyprof-preload/tests/programs/waiting.c
    mkdir -p "$place/$ranks"
    (
        cd "$place/$ranks"
        export TINYPROF_SEGMENT_DIR=$place/$ranks TINYPROF_REPORT=off
        exec "$bin/tinyprof" run -o mpi=messages --out "waiting-$ranks" -- \
            "${MPIEXEC[@]}" -n "$ranks" "$place/waiting" late_sender 100000 20000
    ) >/dev/null 2>&1 &
    running+=($!)
    until compgen -G "$place/$ranks/*" >/dev/null; do sleep 0.2; done
    picture "$ranks" "$place/$ranks"
    kill "${running[-2]}" 2>/dev/null || true
done
if ((is_of_readme)); then cp "$TINYPROF_PAGES/screenshots/live-4-laptop-light.png" docs/images/live.png; fi
