#!/usr/bin/env bash
# Measures what a call of MPI costs more behind a wrapper, and writes the table into
# docs/overhead.md: directly, through a function, and through a wrapper, in turn in the same run.
#     scripts/behind.sh [RUNS]
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/preload.sh

runs=${1:-5}
page=docs/overhead.md
begin='<!-- begin: behind wrappers, written by make overhead -->'
end='<!-- end: behind wrappers -->'
require_place "$page" "$begin" "$end"

preload_build

# measure MPI RANKS LEVEL: adds a line "LEVEL NAME DIRECT FUNCTION WRAPPER MORE FROM TO" for each
# row of one run. Level `alone` is the program without TinyProf.
measure() {
    local preload=()
    if [[ $3 != alone ]]; then preload=("LD_PRELOAD=$library" "TINYPROF_MPI=$3"); fi
    (cd "$dir" && TINYPROF_OUT="$dir/profile" TINYPROF_REPORT=off "${MPI_EXEC[$1]}" -n "$2" \
        env ${preload[@]+"${preload[@]}"} "$dir/behind.$1" 2>/dev/null) |
        awk -v level="$3" 'NF == 7 && $7 + 0 == $7 { print level, $0 }' >>"$dir/$1.txt"
    rm -rf "$dir"/profile*
}

# table MPI: prints the median of all runs, by the median of what a wrapper takes more.
table() {
    echo '| ns | level | direct | through a function | behind a wrapper | the wrapper takes | quartiles |'
    echo '|---|---|---:|---:|---:|---:|---:|'
    sort -k 2,2 -k 1,1 -k 6,6g "$dir/$1.txt" | awk '
        { key = $2 " " $1; if (key != last) { show(); last = key; n = 0 } row[++n] = $0 }
        function show(of) {
            if (!n) return
            split(row[int((n + 1) / 2)], of, " ")
            printf "| `%s` | %s | %.1f | %.1f | %.1f | **%+.1f** | %+.1f to %+.1f |\n",
                of[2], of[1], of[3], of[4], of[5], of[6], of[7], of[8]
        }
        END { show() }'
}

commit=$(commit_of tinyprof crates/tinyprof-messages crates/tinyprof-pmpi crates/tinyprof-preload crates/tinyprof-segment benches/calls)
load_before=$(cut -d ' ' -f 1 /proc/loadavg 2>/dev/null || echo unknown)
{
    printf '%s\n\n' "$begin"
    printf -- '* Date: %s. Commit: %s.\n' "$(date -u +%Y-%m-%d)" "$commit"
    printf -- '* Machine: %s.\n' "$(machine)"
    printf -- '* Median of %s runs of 300 rounds; load average %s before the first.\n' "$runs" "$load_before"
    for mpi in "${MPI_FOUND[@]}"; do
        "${MPI_CC[$mpi]}" -O2 benches/calls/behind.c benches/calls/stubs.c -o "$dir/behind.$mpi"
        for ((run = 0; run < runs; run++)); do
            for ranks in 1 2; do
                for level in alone calls messages; do measure "$mpi" "$ranks" "$level"; done
            done
        done
        printf '\n%s:\n\n' "$mpi"
        table "$mpi"
    done
    printf '\n%s\n' "$end"
} >"$dir/result"

put_in_place "$page" "$begin" "$end" "$dir/result"
