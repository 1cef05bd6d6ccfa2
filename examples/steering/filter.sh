#!/usr/bin/env bash
# C: other regions and functions of MPI are recorded from now on, from the same flush point on all
# ranks, and all of them again later. What was recorded by one filter is a part of the run.
source "$(dirname "$0")/common.sh"
start steer=on interval=1000h ${LEVEL:+"mpi=$LEVEL"} -- "$@"
for patterns in "${FILTER:--MPI_I*}" '+*'; do
    sleep "${PAUSE:-1}"
    # Ranks that are still in MPI_Init count no flush points.
    until tinyprof ctl filter "$patterns" --job "$job"; do
        kill -0 $!
        sleep 0.2
    done
done
wait
for part in "$job"-part-*.tprof; do
    tinyprof report "$part"
done
