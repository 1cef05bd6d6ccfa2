#!/usr/bin/env python3
"""Names ranks that stay the slowest of a callpath. To be started by tinyprof plug.

    tinyprof plug examples/steering/stragglers.py [--times 5]

A rank is a straggler if it is the slowest of a callpath in TIMES documents in a row, has at least
5 % of the time of the run there, and does it visibly worse than the rank after it.
"""

import argparse
import json
import sys

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--times", type=int, default=5, metavar="N", help="documents in a row")
times = parser.parse_args().times

streaks = {}  # callpath -> (rank, number of documents)
told = set()
for line in sys.stdin:
    document = json.loads(line)
    for row in document["callpaths"]:
        slowest = row["slowest"]
        # Waiting is a consequence: whoever waits in a call of MPI is no straggler.
        if len(slowest) < 2 or row["name"].startswith("MPI_") or row["share"] < 0.05:
            continue
        (first, second) = slowest[:2]
        if first["inclusive_ns"] < 1.2 * second["inclusive_ns"]:
            streaks.pop(row["callpath"], None)
            continue
        rank, number = streaks.get(row["callpath"], (None, 0))
        number = number + 1 if rank == first["rank"] else 1
        streaks[row["callpath"]] = (first["rank"], number)
        if number >= times and (row["callpath"], first["rank"]) not in told:
            told.add((row["callpath"], first["rank"]))
            ratio = first["inclusive_ns"] / max(second["inclusive_ns"], 1)
            finding = (
                f"rank {first['rank']} on {first['host']} is the straggler of {row['callpath']}: "
                f"{ratio:.1f} times the time of rank {second['rank']}, which is next"
            )
            print(json.dumps({"finding": finding, "rank": first["rank"]}), flush=True)
