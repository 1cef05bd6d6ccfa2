#!/usr/bin/env bash
# Kills what watches a job, time after time: agents on any host, the root of their tree, clients,
# whichever of them chance names. Checks that the program comes to its result, with the exit code
# and the profile that it has unwatched:
#
#     scripts/cluster/kills.sh TIMES HOSTS PROGRAM COMMAND...    on h0 of scripts/cluster.sh
#
# The program is steered.c of the tests. The command starts it, and gets the seconds for which it runs
# as its last word; HOSTS are those of its ranks, with commas between. Prints the seed, with which
# RANDOM_SEED repeats the choices.
set -euo pipefail
times=$1 hosts=$2 program=$3
shift 3
RANDOM=${RANDOM_SEED:=$$}
echo "seed $RANDOM_SEED"

status=0
{ tinyprof run --out killed -o steer=hold -- "$@" "${SECONDS_RUN:-$((times * 4))}" >result || status=$?; echo "$status" >code; } &
job=$!
ours='^[^ ]*tinyprof (agent|top|ctl) '
clients=("top --json" "ctl hold --for 300ms" "ctl status" "ctl record --for 200ms -o recorded.pftrace")
is_running() { kill -0 "$job" 2>/dev/null && [[ ! -e code ]]; }
rm -f code

declare -A killed=()
done_times=0
until pgrep -x "$program" >/dev/null; do sleep 0.05; done
while ((done_times < times)) && is_running; do
    # shellcheck disable=SC2086 # a command of several words
    timeout 4 tinyprof ${clients[RANDOM % ${#clients[@]}]} --hosts "$hosts" >said 2>&1 &
    # Long enough for some that all agents are there, for others that none is.
    sleep "0.$((RANDOM % 9))$((RANDOM % 9))"
    mapfile -t found < <(pgrep -f "$ours" || true)
    if ((${#found[@]})); then
        victim=${found[RANDOM % ${#found[@]}]}
        what=$(ps -o args= -p "$victim" | sed -E 's/^[^ ]* (agent|[a-z]+ ?[a-z]*).*/\1/') || true
        if kill -KILL "$victim" 2>/dev/null; then
            killed[$what]=$((${killed[$what]:-0} + 1))
            done_times=$((done_times + 1))
        fi
    fi
    { wait $! || true; } 2>/dev/null
    rm -rf recorded.*
done
is_running || { echo "the program ended after $done_times of $times kills: let it run longer" && exit 1; }
# MPICH 4.0 over UCX may hang in MPI_Finalize on several hosts, also without us: its result and its
# profile are there by then, and the exit code is not compared.
has_ended=yes
if [[ " $* " == *" -launcher "* ]]; then
    until grep -q 'sums right' result || [[ -e code ]]; do sleep 1; done
    for ((seconds = 0; seconds < 60; seconds++)); do
        [[ ! -e code ]] || break
        sleep 1
    done
    if [[ ! -e code ]]; then has_ended='' && echo "MPICH did not end" && pkill -TERM -f '^[^ ]*mpiexec[^ ]* -launcher '; fi
fi
wait "$job"
for what in "${!killed[@]}"; do echo "killed: ${killed[$what]} $what"; done

[[ -z $has_ended || $(<code) == 0 ]] || { echo "expected exit code 0, found $(<code)" && exit 1; }
grep -q 'sums right' result || { echo "expected its result, found" && cat result && exit 1; }
tinyprof check killed.tprof >/dev/null
# Each step has one MPI_Allreduce on each rank.
steps=$(grep -oE '^[0-9]+' result)
tinyprof report killed.tprof --json |
    python3 -c '
import json, sys
report, steps = json.load(sys.stdin), int(sys.argv[1])
ranks = report["ranks"]
visits = sum(path["visits"] for path in report["callpaths"] if "MPI_Allreduce" in path["name"])
expected = ranks * steps
sys.exit(0 if visits == expected else f"expected {expected} visits of MPI_Allreduce, found {visits}")
' "$steps"
# A process whose client or root is gone ends by itself.
for ((tenths = 0; tenths < 200; tenths++)); do
    pgrep -f "$ours" >left || break
    sleep 0.1
done
[[ ! -s left ]] || { echo "still there after 20 s:" && ps -o pid,stat,etimes,args -p "$(paste -sd, left)" && exit 1; }
echo "$done_times kills, $steps steps: result, ${has_ended:+exit code }and profile as unwatched"
