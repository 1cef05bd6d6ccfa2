#!/usr/bin/env bash
# B: measuring itself off and on while the job runs, at full speed between.
source "$(dirname "$0")/common.sh"
start steer=on ${LEVEL:+"mpi=$LEVEL"} -- "$@"
for ((switch = 0; switch < ${SWITCHES:-1}; switch++)); do
    tinyprof ctl off "${at[@]}"
    sleep "${PAUSE:-2}"
    tinyprof ctl on "${at[@]}"
    sleep "${PAUSE:-2}"
done
wait
tinyprof report "$job.tprof"
