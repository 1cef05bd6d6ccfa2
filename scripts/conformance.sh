#!/usr/bin/env bash
# Runs programs of MPI's rules with the preloaded library and without it, and compares what they do:
# the programs in crates/tinyprof-preload/tests/conformance/programs. Under each MPI found, or only under
# that of MPICC.
#
# quick (a part of `make test`): jobs of many cases at all levels, jobs of one case at `calls` and at
# `messages` with TINYPROF_ORDER=enforce. full: all jobs at all levels, several times, as some
# failures depend on chance. Then the names of programs; all by default.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/rust.sh
source scripts/mpi.sh

size=${1:-quick}
shift || true
times=1
case $size in
quick) ;;
full)
    export CONFORMANCE_FULL=1
    times=${CONFORMANCE_TIMES:-5}
    ;;
*)
    echo "expected quick or full, found $size" >&2
    exit 2
    ;;
esac
CONFORMANCE_ONLY=$(IFS=, && echo "$*")
export CONFORMANCE_ONLY

rust_find
mpi_find
if ((${#MPI_FOUND[@]} == 0)); then
    echo "no MPI was found, scripts/setup.sh installs one" >&2
    exit 1
fi
for mpi in "${MPI_FOUND[@]}"; do
    mpi_use "$mpi"
    rust_select -p tinyprof-preload
    for ((time = 1; time <= times; time++)); do
        echo "$mpi: $(mpi_version)"
        cargo test "${SELECTED[@]}" --test mpi_conformance -- --ignored --nocapture
    done
done
