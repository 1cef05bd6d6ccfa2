#!/usr/bin/env bash
# Measures the cost of a call of MPI with TinyProf, beside the program alone, a bare hop, and other
# profilers of MPI, and writes the tables into docs/overhead.md.
#     scripts/calls.sh [ROUNDS]
# Others are named by the libraries that their users preload, one for each MPI:
#     TINYPROF_PEERS_MPICH="mpiP=/path/libmpiP.so" TINYPROF_PEERS_OPENMPI=... scripts/calls.sh
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/preload.sh

rounds=${1:-7}
page=docs/overhead.md
begin='<!-- begin: calls, written by make overhead -->'
end='<!-- end: calls -->'
require_place "$page" "$begin" "$end"

preload_build

# measure MPI LAUNCHER RANKS NAME LIBRARY [LEVEL]: adds a line "NAME ROW NANOSECONDS" for each
# number.
measure() {
    local preload=()
    if [[ -n $5 ]]; then preload=("LD_PRELOAD=$5"); fi
    (cd "$dir" && TINYPROF_OUT="$dir/profile" TINYPROF_REPORT=off TINYPROF_MPI="${6:-calls}" \
        "$2" -n "$3" env ${preload[@]+"${preload[@]}"} "$dir/calls.$1" 30 2>/dev/null) |
        awk -v name="$4" 'NF == 2 && $2 + 0 > 0 { print name, $1, $2 }' >>"$dir/$1.txt"
    rm -rf "$dir"/profile*
}

# table MPI: prints the least of all rounds, in the order of the first.
table() {
    awk '
        !(($1, $2) in least) || $3 < least[$1, $2] { least[$1, $2] = $3 }
        !seen_name[$1]++ { names[++n] = $1 }
        !seen_row[$2]++ { rows[++r] = $2 }
        END {
            line = "| ns |"; rule = "|---|"
            for (i = 1; i <= n; i++) { line = line " " names[i] " |"; rule = rule "---:|" }
            print line; print rule
            for (j = 1; j <= r; j++) {
                line = "| `" rows[j] "` |"; alone = least["alone", rows[j]]
                for (i = 1; i <= n; i++) {
                    value = least[names[i], rows[j]]
                    if (value == "") line = line " |"
                    else if (i == 1) line = line sprintf(" %.1f |", value)
                    else line = line sprintf(" %.1f, %.2fx |", value, value / alone)
                }
                print line
            }
        }' "$dir/$1.txt"
}

commit=$(commit_of tinyprof crates/tinyprof-messages crates/tinyprof-pmpi crates/tinyprof-preload crates/tinyprof-segment benches/calls)
load_before=$(cut -d ' ' -f 1 /proc/loadavg 2>/dev/null || echo unknown)
{
    printf '%s\n\n' "$begin"
    printf -- '* Date: %s. Commit: %s.\n' "$(date -u +%Y-%m-%d)" "$commit"
    printf -- '* Machine: %s.\n' "$(machine)"
    printf -- '* Least of %s rounds; load average %s before the first.\n' "$rounds" "$load_before"
    for mpi in "${MPI_FOUND[@]}"; do
        "${MPI_CC[$mpi]}" -O2 benches/calls/calls.c -o "$dir/calls.$mpi"
        "${MPI_CC[$mpi]}" -O2 -shared -fPIC benches/calls/hop.c -o "$dir/hop.$mpi.so"
        peers="TINYPROF_PEERS_${mpi^^}"
        for ((round = 0; round < rounds; round++)); do
            for ranks in 1 2; do
                measure "$mpi" "${MPI_EXEC[$mpi]}" "$ranks" alone ""
                measure "$mpi" "${MPI_EXEC[$mpi]}" "$ranks" hop "$dir/hop.$mpi.so"
                measure "$mpi" "${MPI_EXEC[$mpi]}" "$ranks" TinyProf "$library"
                measure "$mpi" "${MPI_EXEC[$mpi]}" "$ranks" "level_messages" "$library" messages
                for peer in ${!peers:-}; do
                    measure "$mpi" "${MPI_EXEC[$mpi]}" "$ranks" "${peer%%=*}" "${peer#*=}"
                done
            done
        done
        printf '\n%s:\n\n' "$mpi"
        table "$mpi"
    done
    printf '\n%s\n' "$end"
} >"$dir/result"

put_in_place "$page" "$begin" "$end" "$dir/result"
