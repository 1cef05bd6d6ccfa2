#!/usr/bin/env bash
# Stops all of a host's processes, lets them go on, and kills them, while the job is watched from h0
# of scripts/cluster.sh. Checks that the host is named each time, and nothing else is lost:
#
#     scripts/cluster/lost.sh COMMAND...    starts four ranks on h1 and h2
set -euo pipefail
mkdir -p lost && cd lost && rm -rf ./*

tinyprof run --out lost -- "$@" >result 2>&1 &
job=$!
tinyprof top --hosts h1,h2 --json >documents 2>told &
trap 'kill $job %2 2>/dev/null || true' EXIT

# until_said PATTERN: waits for a document, of those that come from now on.
until_said() {
    local from=$(($(wc -l <documents) + 1)) tenths
    for ((tenths = 0; tenths < 200; tenths++)); do
        if tail -n "+$from" documents | grep -qE "$1"; then return; fi
        sleep 0.1
    done
    echo "expected $1, found" && tail -n 1 documents | cut -c 1-1000 && cat told
    return 1
}

all='"missing":\{"count":0,.*"ranks":4,"ranks_seen":4'
until_said "$all"
# One host is stopped, with its agent: silent, and the other one's ranks wait for it.
ssh h2 'kill -STOP -1'
until_said '"missing":\{"count":1,"worst":\[\{"host":"h2","why":"silent for .*"ranks_seen":4'
ssh h2 'kill -CONT -1'
until_said "$all"
until_said '"still":\{"count":0,'

# One host dies, with its memory. The job comes to nothing; what the others measured is in theirs.
ssh h2 'kill -KILL -1' || true
until_said '"missing":\{"count":1,"worst":\[\{"host":"h2",.*"ranks":4,"ranks_seen":4'
wait $job && { echo "expected that the job fails" && exit 1; }
ssh h1 tinyprof recover --all -o h1 >recovered 2>&1 || { cat recovered && exit 1; }
python3 - <<'PYTHON'
import json, subprocess

report = subprocess.run(["tinyprof", "report", "h1.tprof", "--json"], check=True, capture_output=True)
paths = json.loads(report.stdout)["callpaths"]
sent = [path for path in paths if "MPI_Send" in path["name"]]
ranks = sum(path["ranks"] for path in sent)
count = sum(path["visits"] for path in sent)
with open("documents", encoding="utf-8") as file:
    seen = json.loads(file.readlines()[-1])["callpaths"]
told = sum(path["visits"] for path in seen if "MPI_Send" in path["name"])
assert ranks == 2 and count >= told > 0, f"expected {told} messages of two ranks, found {sent}"
print(f"lost: h2 stopped and killed, named both times; {count} messages of h1 recovered")
PYTHON
