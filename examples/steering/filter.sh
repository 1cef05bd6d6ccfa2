#!/usr/bin/env bash
# C: other regions and functions of MPI are recorded from now on, from the same flush point on all
# ranks, and all of them again later. What was recorded by one filter is a part of the run.
source "$(dirname "$0")/common.sh"
start steer=on interval=1000h ${LEVEL:+"mpi=$LEVEL"} -- "$@"
for patterns in "${FILTER:--MPI_I*}" '+*'; do
    sleep "${PAUSE:-1}"
    at_flush_point filter "$patterns"
done
report_parts
