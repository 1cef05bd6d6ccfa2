#!/usr/bin/env bash
# Runs programs of MPI's rules with the preloaded library and without it, and compares what they do:
# the programs in crates/tinyprof-preload/tests/conformance/programs. Under each MPI found, or only under
# that of MPICC.
#
# quick (a part of `make test`): jobs of many cases at all levels, jobs of one case at `calls` and at
# `messages` with TINYPROF_ORDER=enforce. full: all jobs at all levels, several times, as some
# failures depend on chance. steered: as quick, while all ranks are held, recorded and released
# without end. Then the names of programs; all by default.
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
steered)
    export CONFORMANCE_STEER=hold
    TMPDIR=$(mktemp -d)
    export TMPDIR
    ;;
*)
    echo "expected quick, full or steered, found $size" >&2
    exit 2
    ;;
esac
CONFORMANCE_ONLY=$(IFS=, && echo "$*")
export CONFORMANCE_ONLY

# steer: gives commands to all jobs, one after the other, until it is ended.
steer() {
    local tinyprof=$CARGO_TARGET_DIR/debug/tinyprof number=0 segment process directory
    while :; do
        for segment in "$TMPDIR"/*/segments/*.segment "$TMPDIR"/.tmp*/segments/*.segment; do
            [[ -e $segment ]] || continue
            process=${segment##*/} directory=${segment%/*}
            local job=(--job "${process%%-*}" "$directory")
            case $((number++ % 3)) in
            0) "$tinyprof" ctl hold --for 30ms "${job[@]}" ;;
            1) "$tinyprof" ctl record --for 50ms -o "$TMPDIR/recorded-$number" "${job[@]}" ;;
            2) "$tinyprof" ctl release "${job[@]}" ;;
            esac || true # A job that has ended meanwhile.
        done
        sleep 0.02
    done
}

rust_find
mpi_find
if ((${#MPI_FOUND[@]} == 0)); then
    echo "no MPI was found, scripts/setup.sh installs one" >&2
    exit 1
fi
for mpi in "${MPI_FOUND[@]}"; do
    mpi_use "$mpi"
    if [[ $size == steered ]]; then rust_build -p tinyprof-cli; fi
    rust_select -p tinyprof-preload
    for ((time = 1; time <= times; time++)); do
        echo "$mpi: $(mpi_version)"
        if [[ $size == steered ]]; then
            steer >"$TMPDIR/said" 2>&1 &
            steering=$!
            trap 'kill "$steering" 2>/dev/null || true; rm -rf "$TMPDIR"' EXIT
        fi
        cargo test "${SELECTED[@]}" --test mpi_conformance -- --ignored --nocapture
        if [[ $size == steered ]]; then
            kill "$steering"
            wait "$steering" || true
            sed -E 's/.*: ([0-9]+ of [0-9]+ (held|released)|recorded [0-9]+ ranks?).*/\1/; t; s/.*//' "$TMPDIR/said" | sort | uniq -c
        fi
    done
done
