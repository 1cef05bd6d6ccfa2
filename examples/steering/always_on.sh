#!/usr/bin/env bash
# A: always on. The whole run is there, visit by visit, at falling resolution, in 1 MiB a thread.
source "$(dirname "$0")/common.sh"
tinyprof run --out "$job" -o events=thin -o events-memory=1MiB -- "$@"
tinyprof export --to perfetto "$job.tprof" -o "$job.pftrace"
echo "open $job.pftrace in https://ui.perfetto.dev, or: tinyprof timeline $job.tprof"
