#!/usr/bin/env bash
# Runs a program of C under the preloaded library with every setting on some of its ranks alone, at
# every level, under each MPI found: it ends, with its own results, and one line at most.
#     scripts/settings.sh [quick|full]
# A quick run, which is a part of `make test`, takes some of the combinations; a full one takes all
# of them, in a quarter of an hour. The settings are those of the table in tinyprof-settings.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/rust.sh
source scripts/mpi.sh
rust_find
mpi_find

case ${1:-quick} in
quick) flags=(settings_that_differ) ;;
full) flags=(all_settings_that_differ --ignored) ;;
*)
    echo "usage: scripts/settings.sh [quick|full]" >&2
    exit 2
    ;;
esac
for mpi in "${MPI_FOUND[@]}"; do
    mpi_use "$mpi"
    cargo test --locked -p tinyprof-preload -- "${flags[@]}" --nocapture
done
