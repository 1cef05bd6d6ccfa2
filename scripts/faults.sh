#!/usr/bin/env bash
# Runs programs under every fault that the profiler promises to survive, and reports broken
# promises: docs/reliability.md.
#     scripts/faults.sh [quick|full] [PART...]
#     scripts/faults.sh table
# Parts: syscalls delays allocations limits kills jobs mutations; none: all. A quick run takes a
# sample of each but the last two, in less than a minute. Results also go to target/faults.jsonl
# (FAULTS_RESULTS), from which `table` makes the table of the document. FAULTS_SCRATCH is the
# directory in which programs run: in memory, unless a disk is to be tested.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/rust.sh
source scripts/mpi.sh
rust_find

size=${1:-quick}
shift || true
results=${FAULTS_RESULTS:-$PWD/target/faults.jsonl}
case $size in
quick) parts=(syscalls delays allocations limits kills) flags=(--quick) ;;
full) parts=(syscalls delays allocations limits kills jobs mutations) flags=() ;;
table)
    rust_build -p tinyprof-faults
    "${CARGO_TARGET_DIR:-target}/debug/faults" --table "$results"
    exit
    ;;
*)
    echo "usage: scripts/faults.sh [quick|full|table] [syscalls|delays|allocations|limits|kills|jobs|mutations...]" >&2
    exit 2
    ;;
esac
if (($#)); then parts=("$@"); fi

mkdir -p "$(dirname "$results")"
rm -f "$results"
status=0
embedded=() jobs= mutations=
for part in "${parts[@]}"; do
    case $part in
    jobs) jobs=1 ;;
    mutations) mutations=1 ;;
    *) embedded+=("$part") ;;
    esac
done

if ((${#embedded[@]})); then
    rust_build -p tinyprof-faults -p tinyprof-cli
    "${CARGO_TARGET_DIR:-target}/debug/faults" "${embedded[@]}" "${flags[@]}" --results "$results" || status=$?
fi
if [[ $mutations ]]; then
    # The last lines of its output are results.
    bash scripts/fuzz.sh mutate 1000000 | tee >(grep '^{' >>"$results") || status=$?
fi
if [[ $jobs ]]; then
    mpi_find
    for mpi in "${MPI_FOUND[@]}"; do
        mpi_use "$mpi"
        rust_build -p tinyprof-faults -p tinyprof-cli --features tinyprof-faults/mpi
        "$CARGO_TARGET_DIR/debug/faults" jobs "${flags[@]}" --results "$results" || status=$?
    done
fi
exit "$status"
