#!/usr/bin/env bash
# Compares what is said of waiting to what programs have stamped themselves, and what is said of
# senders to what messages say: the programs in crates/tinyprof-preload/tests/programs/truth, and payload.c.
# Under each MPI found, or only under that of MPICC. Prints the truth and what is said of each pattern.
#
# Of these `make test` runs the random programs alone: the others compare times, and want a machine
# to themselves. quick: each pattern on as few ranks as it needs, 20 random programs. full: on 2 to 4
# ranks and without shared memory, too, and 500 random programs; takes ten minutes for each MPI.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/rust.sh
source scripts/mpi.sh

size=${1:-quick}
tests=()
case $size in
quick) tests=(--skip five_hundred --skip more_ranks) ;;
full) tests=() ;;
*)
    echo "expected quick or full, found $size" >&2
    exit 2
    ;;
esac

rust_find
mpi_find
if ((${#MPI_FOUND[@]} == 0)); then
    echo "no MPI was found, scripts/setup.sh installs one" >&2
    exit 1
fi
export RUST_TEST_THREADS=1
for mpi in "${MPI_FOUND[@]}"; do
    mpi_use "$mpi"
    echo "$mpi: $(mpi_version)"
    cargo test --locked -p tinyprof-preload --test mpi -- --nocapture --include-ignored "${tests[@]}" truth::
done
