#!/usr/bin/env bash
# F: analyses of others, beside the job. The first ends with the job, the second before it.
here=$(dirname "$0")
source "$here/common.sh"
start steer=on -- "$@"
timeout "${TIME:-3}" tinyprof plug --job "$job" "$here/energy.py" --every 1 || (($? == 124))
tinyprof plug --job "$job" "$here/stragglers.py" --times 2
wait
