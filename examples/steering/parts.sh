#!/usr/bin/env bash
# C and E: the run in parts that begin at the same flush point on all ranks. Each is a profile of its
# own, and together they are the run.
source "$(dirname "$0")/common.sh"
start steer=on interval=1000h ${LEVEL:+"mpi=$LEVEL"} -- "$@"
for ((part = 0; part < ${PARTS:-2}; part++)); do
    sleep "${PAUSE:-1}"
    # Ranks that are still in MPI_Init count no flush points.
    until tinyprof ctl reset --job "$job"; do
        kill -0 $!
        sleep 0.2
    done
done
wait
for part in "$job"-part-*.tprof; do
    tinyprof report "$part"
done
