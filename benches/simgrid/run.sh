#!/usr/bin/env bash
# Runs the phases on simulated ranks, 64 per node, and prints one row for each number of ranks.
#     benches/simgrid/run.sh LIBRARY RANKS [AGGREGATORS] [CALLPATHS] [EXECUTIONS]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
library=$1 ranks=$2 aggregators=${3:-0} callpaths=${4:-39} executions=${5:-20}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for ((node = 0; node * 64 < ranks; node++)); do
    for ((core = 0; core < 64; core++)); do echo "node-$node"; done
done >"$scratch/hosts"

# Without privatize all ranks share the library's globals, on which its mailboxes rely. The library's
# own collectives and the host's computing time are not used. The overhead is 1 us at each end of a
# message.
start=$(date +%s%N)
smpirun -np "$ranks" -platform "$here/platform.xml" -hostfile "$scratch/hosts" -no-privatize \
    --cfg=contexts/guard-size:0 --cfg=contexts/stack-size:128 \
    --cfg=smpi/simulate-computation:no --cfg=network/crosstraffic:0 --cfg=smpi/host-speed:1Gf \
    --cfg=smpi/os:0:1e-6:0 --cfg=smpi/or:0:1e-6:0 --log=root.thres:error \
    "$library" "$aggregators" "$callpaths" "$executions" "$scratch" |
    while read -r row; do
        # Only this script knows how long the simulation took.
        echo "${row/'"wall_ns":0'/'"wall_ns":'$(($(date +%s%N) - start))}"
    done
