#!/usr/bin/env bash
# Measures and simulates the flush of many ranks, and writes the tables and plots of
# docs/scaling.md.
#     scripts/scaling.sh [REPETITIONS]
# SCALING_NOTE is put under the heading of the page (such as: provisional, busy machine).
# SCALING_PARTS chooses the parts that are run again; rows of the other parts stay unchanged:
# figure6 strategies series boundaries cost virtual programs simgrid.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/rust.sh
source scripts/page.sh
source scripts/mpi.sh
rust_find

repetitions=${1:-7}
read -ra parts <<<"${SCALING_PARTS:-figure6 strategies series boundaries cost virtual programs simgrid}"
results=$PWD/benches/collective/results
mkdir -p "$results"

# Ranks share cores here, 64 of them.
mpi_use_yielding
simgrid_target=$MPI_TARGET_BASE/simgrid
cargo build --locked --release -p tinyprof-bench-collective
program=$CARGO_TARGET_DIR/release/collective

# Profiles of the simulations are many small files, which go to memory; measured ones go to the
# disk.
memory=/dev/shm
[[ -w $memory ]] || memory=${TMPDIR:-/tmp}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

commit=$(commit_of tinyprof crates/tinyprof-format crates/tinyprof-report crates/tinyprof-segment crates/tinyprof-settings crates/tinyprof-flush crates/tinyprof-job tinyprof-mpi benches/collective/src benches/simgrid/src)
{
    if [[ -n ${SCALING_NOTE:-} ]]; then printf '**%s**\n\n' "$SCALING_NOTE"; fi
    printf -- '* Date: %s. Commit: %s. Run anew: %s.\n' "$(date -u +%Y-%m-%d)" "$commit" "${parts[*]}"
    printf -- '* Machine: %s; load average %s at the start.\n' "$(machine)" "$(cut -d ' ' -f 1 /proc/loadavg)"
    printf -- '* %s, %s, %s%s.\n' "$(uname -sr)" "$(rustc --version)" \
        "$(mpi_version)" \
        "$(command -v smpirun >/dev/null && smpirun -version | head -n 1 | sed 's/^/, /')"
    printf -- '* %s repetitions, after one that is not counted; medians. More ranks than processors share them.\n' "$repetitions"
} >"$results/setup.md"

# part NAME FILE COMMAND...: replaces the old rows of a part when all new ones are complete.
part() {
    local name=$1 file=$2
    shift 2
    [[ " ${parts[*]} " == *" $name "* ]] || return 0
    printf 'scaling: %s\n' "$*" >&2
    "$@" >"$scratch/rows"
    mv "$scratch/rows" "$results/$file"
}

# The program that starts mpiexec adds its rows to a file; here they go to the standard output like
# all others.
measure() {
    rm -f "$scratch/measured"
    "$program" measure --mpiexec "${MPIEXEC[*]}" --repetitions "$repetitions" --rows "$scratch/measured" "$@"
    cat "$scratch/measured"
}
gathers() {
    local ranks uneven
    for ranks in 16 64; do
        for uneven in 1 16; do
            measure --ranks "$ranks" --aggregators default --series padded,counts,auto --uneven "$uneven"
        done
    done
}
# No more ranks than processors: a rank that waits for a processor is not part of the measurement.
boundaries() {
    local ranks interval
    for ranks in 1 2; do
        for interval in off 1000s; do
            TINYPROF_INTERVAL=$interval TINYPROF_OUT=$scratch/boundaries-$ranks-$interval TINYPROF_REPORT=off \
                "${MPIEXEC[@]}" -n "$ranks" "$program" boundaries
        done
    done
}
virtual() {
    "$program" virtual --scratch "$memory"
    "$program" virtual --scratch "$memory" --case differ --ranks 1024,32768
}
# Virtual ranks like those of real runs: 16 ranks of the paper's second and third application, with
# a file of each 16th rank, as calls of MPI are recorded, and messages.
programs() {
    local level name
    cargo build --locked --release -p tinyprof-example-tc -p tinyprof-example-multires
    for level in calls messages; do
        for name in tc multires; do
            (cd "$scratch" && TINYPROF_MPI=$level TINYPROF_OUT=$scratch/$name-$level TINYPROF_REPORT=off \
                "${MPIEXEC[@]}" -n 16 "$CARGO_TARGET_DIR/release/$name" ${like[$name]} >&2)
            "$program" virtual --scratch "$memory" --like "$scratch/$name-$level.tprof" \
                --named "$name, $level" --ranks 1024,4096,32768
        done
    done
}
declare -A like=(
    [tc]='--generate random --vertices 30000 --edges 40000'
    [multires]='--size 4 --patch 2 --aggregators 1 --steps 3'
)
simulate() {
    local ranks
    for ranks in 1024 2048 4096 8192 16384 32768; do simgrid "$ranks" 0; done
}
simulate_aggregators() {
    local ranks aggregators
    for ranks in 512 4096; do
        for ((aggregators = ranks; aggregators > 0; aggregators /= 2)); do simgrid "$ranks" "$aggregators"; done
    done
}
simgrid() { TMPDIR=$memory benches/simgrid/run.sh "$simgrid_target/release/libtinyprof_bench_simgrid.so" "$@"; }

part figure6 figure6.jsonl measure --ranks 16,32,64 --aggregators powers
part strategies strategies.jsonl measure --ranks 1,4,16,64 --aggregators strategies
part series series.jsonl gathers
part boundaries boundaries.jsonl boundaries
part cost cost.jsonl "$program" cost --repetitions "$repetitions"
part virtual virtual.jsonl virtual
part programs programs.jsonl programs
if [[ " ${parts[*]} " == *" simgrid "* ]]; then
    if command -v smpicc >/dev/null; then
        CARGO_TARGET_DIR=$simgrid_target cargo build --locked --release --manifest-path benches/simgrid/Cargo.toml
        part simgrid simgrid.jsonl simulate
        part simgrid simgrid-aggregators.jsonl simulate_aggregators
    else
        echo "scaling: no smpicc (Debian: libsimgrid-dev): the simulated rows stay as they are" >&2
    fi
fi

"$program" page --results "$results" --page docs/scaling.md --plots docs/scaling
echo "scaling: docs/scaling.md and docs/scaling/ are written"
