#!/usr/bin/env bash
# Runs the bench of regions and prints each median beside the baseline of the same run.
#     benches/ratios.sh [RUNS]
set -euo pipefail
cd "$(dirname "$0")/.."

results="${CARGO_TARGET_DIR:-target}/criterion/region"

median_ns() {
    grep -o '"median":{[^{}]*{[^{}]*},"point_estimate":[0-9.eE+-]*' "$1" | sed 's/.*"point_estimate"://'
}

for run in $(seq "${1:-2}"); do
    cargo bench -q -p tinyprof-benches >/dev/null
    baseline="$(median_ns "$results/baseline/new/estimates.json")"
    echo "run $run"
    for bench in baseline baseline_again nesting_1 nesting_5 chain_of_5 siblings_100 two_parents root loop_total loop_each; do
        median_ns "$results/$bench/new/estimates.json" |
            awk -v name="$bench" -v base="$baseline" '{ printf "%-15s %7.2f ns  %5.2fx\n", name, $1, $1 / base }'
    done
done
