#!/usr/bin/env bash
# D, without a client: tinyprof run watches the condition for as long as the program runs. When ranks
# have been in MPI for too long, what was before is saved, and what comes then is recorded.
source "$(dirname "$0")/common.sh"
tinyprof run --out "$job" -o steer=on \
    -o "on=${CONDITION:-efficiency < 0.9}: notify,save,record for ${TIME:-2s}" -- "$@"
