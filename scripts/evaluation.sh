#!/usr/bin/env bash
# Repeats the evaluation of the paper, and writes the tables and plots of docs/evaluation.md.
#     scripts/evaluation.sh [--fresh]
# Each part's rows are kept when it is complete. A restarted run continues where the last one
# stopped, unless the code has changed since, or --fresh is given. For a trial: EVALUATION_PARTS
# (fft-20,weak,...), EVALUATION_REPETITIONS (7), EVALUATION_MINUTES of the run that is always on
# (10), EVALUATION_SMALL=1 for sizes without significance, and EVALUATION_NOTE, which is put on the
# page until a run without it.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/rust.sh
source scripts/page.sh
source scripts/mpi.sh
rust_find

# Ranks share cores in some parts.
mpi_use_yielding

results=$PWD/benches/evaluation/results
programs=$CARGO_TARGET_DIR/evaluation
mkdir -p "$programs/on" "$programs/off"
# Cargo gives both builds the same name.
build_examples() {
    cargo build --locked --release -p tinyprof-example-fft -p tinyprof-example-tc "${@:2}"
    cp "$CARGO_TARGET_DIR/release/fft" "$CARGO_TARGET_DIR/release/tc" "$programs/$1/"
}
echo "evaluation: builds the programs" >&2
build_examples off --no-default-features
build_examples on
cargo build --locked --release -p tinyprof-bench-evaluation
program=$CARGO_TARGET_DIR/release/evaluation

# The last commit of the code that is measured, with a checksum of uncommitted changes: a run with
# other changes is another measurement.
measured=(tinyprof tinyprof-macros crates/tinyprof-format crates/tinyprof-report crates/tinyprof-segment crates/tinyprof-settings crates/tinyprof-flush crates/tinyprof-job tinyprof-mpi examples/fft/src examples/tc/src benches/evaluation/src Cargo.lock)
commit=$(git log -1 --format=%h -- "${measured[@]}" 2>/dev/null || true)
changes=$(git diff HEAD -- "${measured[@]}" 2>/dev/null || true)
if [[ -n $changes ]]; then commit+="-with-changes-$(cksum <<<"$changes" | cut -d ' ' -f 1)"; fi

arguments=(--results "$results" --mpiexec "${MPIEXEC[*]}" --on "$programs/on" --off "$programs/off")
arguments+=(--commit "${commit:-unknown}" --date "$(date -u +%Y-%m-%d)" --machine "$(machine)")
arguments+=(--system "$(uname -sr), $(rustc --version)")
arguments+=(--mpi "$(mpi_version)")
arguments+=(--repetitions "${EVALUATION_REPETITIONS:-7}" --note "${EVALUATION_NOTE:-}")
arguments+=(--always-on-s "$(awk -v minutes="${EVALUATION_MINUTES:-10}" 'BEGIN { printf "%d", minutes * 60 }')")
shared=${TINYPROF_SHARED_DATA:-../shared/data}
if [[ -d $shared ]]; then arguments+=(--shared-data "$shared"); fi
if [[ -n ${EVALUATION_PARTS:-} ]]; then arguments+=(--parts "$EVALUATION_PARTS"); fi
if [[ -n ${EVALUATION_SMALL:-} ]]; then arguments+=(--small); fi

# The program measures the cost of a visit with visits of its own; their profile is not used.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export TINYPROF_OUT=$scratch/calibration TINYPROF_REPORT=off

# The page is also made from the results before a part failed.
status=0
"$program" run "${arguments[@]}" "$@" || status=$?
simulated=benches/collective/results/simgrid.jsonl
"$program" page --results "$results" --page docs/evaluation.md --plots docs/evaluation --simulated "$simulated" \
    --simulated-commit "$(git log -1 --format=%h -- "$simulated" 2>/dev/null || echo unknown)"
echo "evaluation: docs/evaluation.md and docs/evaluation/ are written" >&2
exit "$status"
