#!/usr/bin/env bash
# Measures what samples cost a program that computes, and writes the table into docs/samples.md: in
# pairs of runs without and with samples, each first in every other pair.
#     scripts/samples.sh [PAIRS]
# On an idle machine 40 pairs, which take ten minutes, show a few hundredths of a percent.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/preload.sh

pairs=${1:-40}
page=docs/samples.md
begin='<!-- begin: cost, written by scripts/samples.sh -->'
end='<!-- end: cost -->'
require_place "$page" "$begin" "$end"

preload_build
# The numbers of one MPI are those of the other: the program computes.
mpi=${MPI_FOUND[0]:?no MPI was found, scripts/setup.sh installs one}
"${MPI_CC[$mpi]}" -O2 benches/calls/computes.c -o "$dir/computes"

# The work of 2 s on this machine, in millions of steps.
millions=$("${MPI_EXEC[$mpi]}" -n 1 "$dir/computes" 500 1 | awk '{ print int(500 * 2e9 / $1) }')

# run SAMPLES PARTS: prints processor time and time of one run, in ns.
run() {
    (cd "$dir" && TINYPROF_OUT="$dir/profile" TINYPROF_REPORT=off TINYPROF_SAMPLE="$1" \
        "${MPI_EXEC[$mpi]}" -n 1 env LD_PRELOAD="$library" "$dir/computes" "$millions" "$2")
    rm -rf "$dir"/profile*
}

# row NAME RATE PARTS: prints a row of the table: by how many percent the second run of a pair takes
# longer, with the standard error.
row() {
    local pair off on
    for ((pair = 0; pair < pairs; pair++)); do
        if ((pair % 2)); then on=$(run "$2" "$3") off=$(run off "$3"); else off=$(run off "$3") on=$(run "$2" "$3"); fi
        echo "$off $on"
    done | awk -v name="$1" -v rate="$2" '
        function add(which, before, after, more) {
            more = 100 * (after / before - 1)
            sum[which] += more; squares[which] += more * more; all[which, ++count[which]] = more
        }
        function shown(which, n, mean, error, i, j, swap) {
            n = count[which]; mean = sum[which] / n
            error = sqrt((squares[which] / n - mean * mean) / (n > 1 ? n - 1 : 1))
            for (i = 2; i <= n; i++)
                for (j = i; j > 1 && all[which, j] < all[which, j - 1]; j--) {
                    swap = all[which, j]; all[which, j] = all[which, j - 1]; all[which, j - 1] = swap
                }
            return sprintf("%+.2f %% +- %.2f %%, %+.2f %%", mean, error,
                (all[which, int((n + 1) / 2)] + all[which, int(n / 2) + 1]) / 2)
        }
        { add(1, $1, $3); add(2, $2, $4); seconds += $1 / 1e9 }
        END { printf "| %s | %s | %d of %.1f s | %s | %s |\n", name, rate, NR, seconds / NR, shown(1), shown(2) }'
}

commit=$(commit_of tinyprof crates/tinyprof-pmpi crates/tinyprof-preload crates/tinyprof-segment benches/calls)
load_before=$(cut -d ' ' -f 1 /proc/loadavg 2>/dev/null || echo unknown)
{
    printf '%s\n\n' "$begin"
    printf -- '* Date: %s. Commit: %s. MPI: %s.\n' "$(date -u +%Y-%m-%d)" "$commit" "$mpi"
    printf -- '* Machine: %s.\n' "$(machine)"
    printf -- '* Load average %s before the first run.\n\n' "$load_before"
    echo '| program | samples per second | pairs | processor time: mean, median | time: mean, median |'
    echo '|---|---|---|---:|---:|'
    row 'computes' 100 1
    row 'computes, a call of MPI every 100 us' 100 20000
    row 'computes' 1000 1
    row 'computes, without samples in both runs' off 1
    printf '\n%s\n' "$end"
} >"$dir/result"

put_in_place "$page" "$begin" "$end" "$dir/result"
