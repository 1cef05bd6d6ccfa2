#!/usr/bin/env bash
# Runs the scripts of examples/steering on the hosts of scripts/cluster.sh from h0, or measures how
# soon commands are obeyed there:
#
#     scripts/cluster/steering.sh examples HOSTS COMMAND...    each of the use cases A to F
#     scripts/cluster/steering.sh times HOSTS RANKS COMMAND... off and on, five times
#
# COMMAND starts steered.c of the tests, and gets the seconds for which it runs as its last word.
set -euo pipefail
what=$1
export HOSTS=$2
shift 2
examples=$(readlink -f "$(dirname "$0")/../../examples/steering")
export TINYPROF_REPORT=off

# example SECONDS SCRIPT PATTERN...: the program comes to its result, and all of this is said. MPICH
# 4.0 over UCX may hang in MPI_Finalize on several hosts, also without us: then it is run again.
example() {
    local seconds=$1 script=$2 pattern attempt status
    shift 2
    for attempt in 1 2 3; do
        rm -rf steered.tprof steered-*.tprof steered*.pftrace
        status=0
        timeout -k 5 $((2 * seconds + 60)) bash "$examples/$script" "${command[@]}" "$seconds" >told 2>&1 || status=$?
        if ((status != 124)) || [[ " ${command[*]} " != *" -launcher "* ]] || ! grep -q ' steps, sums right' told; then
            break
        fi
        echo "$script: MPICH did not end, in attempt $attempt"
    done
    ((status == 0)) || { echo "$script fails ($status):" && cat told && return 1; }
    for pattern in ' steps, sums right' "$@"; do
        grep -qE "$pattern" told || { echo "$script: expected $pattern, found" && cat told && return 1; }
    done
    echo "$script: as expected, on $(tr , ' ' <<<"$HOSTS" | wc -w) hosts"
}

examples() {
    command=("$@")
    local ranks
    example 3 always_on.sh 'open steered.pftrace'
    TIME=1s example 10 record.sh 'recorded 4 ranks from '
    PAUSE=0.5 example 10 off.sh ': 1 of 1 off$' ': 1 of 1 on again$' 'off: measuring was switched off for '
    PAUSE=0.5 example 14 filter.sh 'began another part at flush point [0-9]+, filtered by ' 'command: filter '
    PAUSE=0.5 example 14 parts.sh 'began another part at flush point [0-9]+$'
    TIME=1s example 14 condition.sh 'holds, time 1$' 'recorded 4 ranks from '
    TIME=1s example 22 unattended.sh 'holds, time 1$' 'recorded 4 ranks from '
    PAUSE=1 example 10 phases.sh 'saved as steered-first.tprof'
    example 10 analysis.sh 'energy.py: about '
    ranks=$(tinyprof info steered.tprof | awk '$1 == "ranks" { print $2 }')
    ((ranks == 4)) || { echo "expected 4 ranks, found $ranks" && return 1; }
}

# Tells of each command, as the profile has it, how long after it the last rank has obeyed.
times() {
    local ranks=$1
    shift
    rm -rf timed*.tprof
    tinyprof run --out timed -o steer=on -- "$@" "${SECONDS_RUN:-60}" >result &
    local job=$!
    until (($(tinyprof ctl status --hosts "$HOSTS" 2>/dev/null | grep -cE '(^|: )rank ') >= ranks)); do
        kill -0 $job
        sleep 0.5
    done
    for _ in 1 2 3 4 5; do
        tinyprof ctl off --hosts "$HOSTS"
        sleep 0.5
        tinyprof ctl on --hosts "$HOSTS"
        sleep 0.5
    done
    wait $job
    grep -q 'sums right' result
    tinyprof report timed.tprof --json |
        python3 -c '
import json, sys
for one in json.load(sys.stdin)["commands"]["list"]:
    done, ranks, latest_ms = one["ranks_done"], one["ranks"], one["latest_ns"] / 1e6
    print(one["command"] + f": {done} of {ranks} ranks, the last after {latest_ms:.0f} ms")
'
}

"$what" "$@"
