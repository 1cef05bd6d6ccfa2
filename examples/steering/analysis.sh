#!/usr/bin/env bash
# F: analyses of others, beside the job. One ends with the job, the other is stopped before.
here=$(dirname "$0")
source "$here/common.sh"
start steer=on -- "$@"
tinyprof plug "${at[@]}" "$here/stragglers.py" --times 2 &
timeout "${TIME:-3}" tinyprof plug "${at[@]}" "$here/energy.py" --every 1 || (($? == 124))
wait
