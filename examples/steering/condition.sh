#!/usr/bin/env bash
# D: on a condition. When ranks have been in MPI for too long, what was before is saved, and what
# comes then is recorded.
source "$(dirname "$0")/common.sh"
start steer=on -- "$@"
tinyprof ctl on "${CONDITION:-efficiency < 0.9}" --do notify,save,record --for "${TIME:-2s}" "${at[@]}" \
    -o "$job-condition"
wait
