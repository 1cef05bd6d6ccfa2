#!/usr/bin/env bash
# B: on demand. Two seconds in full detail, in the middle of a run at full speed.
source "$(dirname "$0")/common.sh"
start steer=on -- "$@"
tinyprof ctl record --for "${TIME:-2s}" "${at[@]}" -o "$job-recorded.pftrace"
tinyprof ctl status "${at[@]}"
wait
