#!/usr/bin/env bash
# C and E: the run in parts that begin at the same flush point on all ranks. Each is a profile of its
# own, and together they are the run.
source "$(dirname "$0")/common.sh"
start steer=on interval=1000h ${LEVEL:+"mpi=$LEVEL"} -- "$@"
for ((part = 0; part < ${PARTS:-2}; part++)); do
    sleep "${PAUSE:-1}"
    at_flush_point reset
done
report_parts
