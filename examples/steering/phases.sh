#!/usr/bin/env bash
# E: several profiles of one run, while it goes on, and what changed between them.
source "$(dirname "$0")/common.sh"
start steer=on -- "$@"
tinyprof save "${at[@]}" -o "$job-first"
sleep "${PAUSE:-2}"
tinyprof save "${at[@]}" -o "$job-second"
tinyprof diff "$job-first.tprof" "$job-second.tprof"
wait
