#!/usr/bin/env bash
# Watches a job on the hosts of scripts/cluster.sh from h0, records some time of it, holds it, stops
# a rank on h2, kills an agent, and checks what is said of it, and that the program does not notice:
#
#     scripts/cluster/watch.sh PROGRAM COMMAND...    of the command's ranks, two are on h1 and h2
#
# The command is profiled as watched.tprof. Under Slurm agents are started by srun, else by ssh.
set -euo pipefail
program=$1
shift
hosts=(--hosts h1,h2)
if [[ -n ${SLURM_JOB_ID:-} ]]; then hosts=(--job "$SLURM_JOB_ID"); fi

tinyprof run --out watched -o steer=hold -- "$@" &
job=$!
trap 'ssh h2 pkill -CONT -x "$program" || true; kill $job 2>/dev/null || true' EXIT

# until CONDITION: watches until it holds, and keeps the last document.
until_it_is() {
    timeout 20 tinyprof top "${hosts[@]}" --json --until "$1" >documents || { cat documents && return 1; }
    tail -1 documents >document
}

# said PATTERN: checks the last document.
said() {
    grep -qE "$1" document || { echo "expected $1, found" && tail -c 1000 document && return 1; }
}

until_it_is 'ranks_seen == 4'
said '"missing":\{"count":0,'
said '"ranks":4,"ranks_seen":4'
# Who waits for ranks of another host is known while they run.
timeout 30 tinyprof top "${hosts[@]}" --once --json >document
said '"why":"Ranks 0,2 spend .*; ranks 1,3 may wait '

# One profile of all ranks, of some time that nobody has asked for when the job began.
steered() {
    local expected=$1
    shift
    timeout 20 tinyprof ctl "$@" "${hosts[@]}" >told 2>&1 && grep -qE "$expected" told ||
        { echo "expected $expected, found" && cat told && return 1; }
}
rm -rf recorded.tprof recorded.pftrace
steered '^2 hosts: recorded 4 ranks from .*, in recorded.pftrace and recorded.tprof$' \
    record --for 500ms -o recorded.pftrace
tinyprof check recorded.tprof >/dev/null
tinyprof info recorded.tprof >told
grep -q 'it has 4 of its 4 ranks' told && grep -qE '^hosts +2 ' told && [[ -s recorded.pftrace ]] ||
    { cat told && exit 1; }
steered '^h[12]: .*: [12] of 2 held$' hold --for 500ms
steered '^h2: .*: obeys all commands' status

# A rank that is stopped is named first, before those that wait for it.
ssh h2 pkill -STOP -o -x "$program"
until_it_is 'still >= 4'
said '"still":\{"count":4,"worst":\[\{"host":"h2","is_stopped":true,'
ssh h2 pkill -CONT -x "$program"

# An agent that is killed costs its own host, and is named.
until_it_is 'missing > 0' &
watcher=$!
while kill -0 "$watcher" 2>/dev/null; do
    # Again, as the first one may be that of the watcher before, which is about to end.
    ssh h1 "pkill -KILL -f '[t]inyprof agent --hosts=h1'" || true
    sleep 0.2
done
wait "$watcher"
said '"missing":\{"count":1,"worst":\[\{"host":"h1",'

trap - EXIT
wait "$job"
