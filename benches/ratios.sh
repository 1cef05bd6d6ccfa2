#!/usr/bin/env bash
# Runs the benches and prints each median beside the baseline of the same run and group.
#     benches/ratios.sh [RUNS]
set -euo pipefail
cd "$(dirname "$0")/.."

results="${CARGO_TARGET_DIR:-target}/criterion"

median_ns() {
    grep -o '"median":{[^{}]*{[^{}]*},"point_estimate":[0-9.eE+-]*' "$1" | sed 's/.*"point_estimate"://'
}

for run in $(seq "${1:-2}"); do
    rm -rf "${results:?}"/{region,budget,tracing,tracing_noop,flush_point}
    cargo bench -q -p tinyprof-benches >/dev/null
    for group in region budget tracing tracing_noop flush_point; do
        echo "run $run, $group"
        baseline="$(median_ns "$results/$group/baseline/new/estimates.json")"
        for bench in "$results/$group"/*/new/estimates.json; do
            name="${bench%/new/estimates.json}"
            median_ns "$bench" |
                awk -v name="${name##*/}" -v base="$baseline" '{ printf "%-17s %7.2f ns  %5.2fx\n", name, $1, $1 / base }'
        done
    done
done
