#!/usr/bin/env bash
# Measures what watching costs each program under examples/, at each level, and the tables of the
# papers on messages beside theirs, and writes the tables of docs/evaluation-messages.md.
#     scripts/evaluation-messages.sh [--fresh]
# Rows of the papers' tables are kept part by part, as those of evaluation.sh: --fresh measures them
# again. For a trial: EVALUATION_TABLES ("programs papers"), EVALUATION_ROUNDS (7) and
# EVALUATION_PROGRAMS ("fire pi") of the first table, and of the papers' EVALUATION_REPETITIONS (5),
# EVALUATION_PAPERS (compensation,widths,graphs,fire,stages,events,shares), EVALUATION_SMALL=1 for
# sizes without significance, and EVALUATION_NOTE.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/rust.sh
source scripts/mpi.sh
source scripts/page.sh
rust_find
mpi_use_yielding

tables=${EVALUATION_TABLES:-programs papers}
rounds=${EVALUATION_ROUNDS:-7}
page=docs/evaluation-messages.md
begin='<!-- begin: programs, written by make evaluation -->'
end='<!-- end: programs -->'
require_place "$page" "$begin" "$end"

# The programs with their arguments: one to three seconds on two ranks.
declare -A arguments=(
    [fft]='--size 4194304 --runs 6'
    [fire]='--points 200000 --steps 40 --weather 400'
    [matmul]='--rows 400 --repeat 6'
    [multigrid]='--size 7'
    [multires]='--size 6 --patch 4 --steps 3'
    [pi]='--error 0.0001'
    [sort]='--keys 8000000 --repeat 10'
    [tc]='--generate random --vertices 3000 --edges 5000'
    [wave]='--points 1000000 --steps 600'
    [wavefront]='--steps 200'
)
read -ra programs <<<"${EVALUATION_PROGRAMS:-fft fire matmul multigrid multires pi sort tc wave wavefront}"

packages=()
for program in "${!arguments[@]}"; do packages+=(-p "tinyprof-example-$program"); done
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
# Cargo gives both builds the same name.
for build in off on; do
    features=()
    if [[ $build == off ]]; then features=(--no-default-features); fi
    cargo build --locked --release "${packages[@]}" ${features[@]+"${features[@]}"}
    mkdir "$dir/$build"
    for program in "${!arguments[@]}"; do
        cp "$CARGO_TARGET_DIR/release/$program" "$dir/$build/"
    done
done
cargo build --locked --release -p tinyprof-cli -p tinyprof-bench-evaluation
tinyprof=$CARGO_TARGET_DIR/release/tinyprof

# The settings of each column. `off` is built without TinyProf, and runs twice in each round: what
# the two differ by is what no difference can be told from.
columns=(off again calls messages samples events)
declare -A settings=(
    [off]='' [again]='' [calls]='TINYPROF_MPI=calls' [messages]='TINYPROF_MPI=messages'
    [samples]='TINYPROF_MPI=messages TINYPROF_SAMPLE=100'
    [events]='TINYPROF_MPI=messages TINYPROF_EVENTS=ring'
)

# run PROGRAM COLUMN: adds a line "PROGRAM COLUMN ROUND SECONDS", and of `messages` one with the
# percent of the time that the profile counts as TinyProf's own.
run() {
    local build=on started ended
    case $2 in off | again) build=off ;; esac
    started=$(date +%s%N)
    (cd "$dir" && env ${settings[$2]} TINYPROF_OUT="$dir/profile" TINYPROF_REPORT=off \
        "${MPIEXEC[@]}" -n 2 "$dir/$build/$1" ${arguments[$1]} >"$dir/out" 2>&1) || {
        cat "$dir/out" >&2
        echo "evaluation-messages.sh: $1 has failed at $2" >&2
        exit 1
    }
    ended=$(date +%s%N)
    awk -v program="$1" -v column="$2" -v round="$round" -v ns=$((ended - started)) \
        'BEGIN { printf "%s %s %d %.4f\n", program, column, round, ns / 1e9 }' >>"$dir/times"
    if [[ $2 == messages ]]; then
        "$tinyprof" report --json "$dir/profile.tprof" 2>/dev/null | tr -d ' \n' |
            sed -n 's/.*"overhead":{[^}]*"share":\([0-9.e-]*\).*/\1/p' |
            awk -v program="$1" '{ printf "%s counted 0 %.6f\n", program, 100 * $1 }' >>"$dir/times"
    fi
    rm -rf "$dir"/profile* "$dir"/multires-data
}

# The tables of the papers. `measured` is the code whose change makes another measurement.
papers() {
    local results=$PWD/benches/evaluation/results evaluation=$CARGO_TARGET_DIR/release/evaluation
    local measured=(tinyprof tinyprof-macros tinyprof-mpi crates/tinyprof-{messages,pmpi,segment,flush,job,events,why,structure} examples/*/src benches/evaluation/src/messages) commit changes arguments
    commit=$(git log -1 --format=%h -- "${measured[@]}" 2>/dev/null || true)
    changes=$(git diff HEAD -- "${measured[@]}" 2>/dev/null || true)
    if [[ -n $changes ]]; then commit+="-with-changes-$(cksum <<<"$changes" | cut -d ' ' -f 1)"; fi
    arguments=(--results "$results" --mpiexec "${MPIEXEC[*]}" --on "$dir/on" --off "$dir/off")
    arguments+=(--tinyprof "$tinyprof" --commit "${commit:-unknown}" --date "$(date -u +%Y-%m-%d)")
    arguments+=(--machine "$(machine)" --system "$(uname -sr), $(rustc --version)" --mpi "$(mpi_version)")
    arguments+=(--repetitions "${EVALUATION_REPETITIONS:-5}" --note "${EVALUATION_NOTE:-}")
    if [[ -n ${EVALUATION_PAPERS:-} ]]; then arguments+=(--parts "$EVALUATION_PAPERS"); fi
    if [[ -n ${EVALUATION_SMALL:-} ]]; then arguments+=(--small); fi
    # The page is also made from the results before a part failed.
    local status=0
    "$evaluation" messages "${arguments[@]}" "$@" || status=$?
    "$evaluation" messages-page --results "$results" --page "$page"
    return "$status"
}
if [[ " $tables " == *" papers "* ]]; then papers "$@"; fi
if [[ " $tables " != *" programs "* ]]; then exit; fi

load_before=$(cut -d ' ' -f 1 /proc/loadavg 2>/dev/null || echo unknown)
for program in "${programs[@]}"; do
    for ((round = 1; round <= rounds; round++)); do
        echo "evaluation-messages.sh: $program, round $round of $rounds" >&2
        # Each round begins with another column.
        for ((at = 0; at < ${#columns[@]}; at++)); do
            run "$program" "${columns[(at + round) % ${#columns[@]}]}"
        done
    done
done

# The median over rounds, and in parentheses the second least and second most.
table() {
    sort -k1,1 -s "$dir/times" | awk -v rounds="$rounds" '
        function ordered(values, n,    i, j, value) {
            for (i = 2; i <= n; i++) {
                value = values[i]
                for (j = i - 1; j >= 1 && values[j] > value; j--) values[j + 1] = values[j]
                values[j + 1] = value
            }
        }
        function cell(program, column,    i, n, values) {
            for (i = 1; i <= rounds; i++)
                values[i] = 100 * (time[program, column, i] / time[program, "off", i] - 1)
            ordered(values, rounds)
            return sprintf("%+.1f (%+.1f to %+.1f)", values[int((rounds + 1) / 2)],
                values[rounds > 2 ? 2 : 1], values[rounds > 2 ? rounds - 1 : rounds])
        }
        !seen[$1]++ { names[++count] = $1 }
        $2 == "counted" { counted[$1, ++counts[$1]] = $4; next }
        { time[$1, $2, $3] = $4 }
        END {
            print "| program | off, s | off again, % | `calls`, % | `messages`, % | with samples, % | with events, % | counted at `messages`, % |"
            print "|---|---:|---:|---:|---:|---:|---:|---:|"
            for (p = 1; p <= count; p++) {
                name = names[p]
                for (i = 1; i <= rounds; i++) { off[i] = time[name, "off", i] }
                ordered(off, rounds)
                for (i = 1; i <= counts[name]; i++) { own[i] = counted[name, i] }
                ordered(own, counts[name])
                printf "| `%s` | %.2f | %s | %s | %s | %s | %s | %.2f |\n", name,
                    off[int((rounds + 1) / 2)], cell(name, "again"), cell(name, "calls"),
                    cell(name, "messages"), cell(name, "samples"), cell(name, "events"),
                    own[int((counts[name] + 1) / 2)]
            }
        }'
}

commit=$(commit_of tinyprof tinyprof-mpi crates/tinyprof-messages crates/tinyprof-pmpi crates/tinyprof-segment examples)
{
    printf '%s\n\n' "$begin"
    printf -- '* Date: %s. Commit: %s.\n' "$(date -u +%Y-%m-%d)" "$commit"
    printf -- '* Machine: %s.\n* %s.\n' "$(machine)" "$(mpi_version)"
    printf -- '* 2 ranks, %s rounds, load average %s before the first.\n\n' "$rounds" "$load_before"
    table
    printf '\n| program | arguments |\n|---|---|\n'
    for program in "${programs[@]}"; do printf '| `%s` | `%s` |\n' "$program" "${arguments[$program]}"; done
    printf '\n%s\n' "$end"
} >"$dir/result"
put_in_place "$page" "$begin" "$end" "$dir/result"
