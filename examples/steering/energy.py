#!/usr/bin/env python3
"""Estimates the energy of a running job by callpath. To be started by tinyprof plug.

    tinyprof plug examples/steering/energy.py --watts 4.5 --every 10

WATTS is what a busy core takes. It counts the time of each callpath without those below it, on all
ranks: a rank that waits in MPI is taken to be as busy as one that computes, as most MPIs poll.
"""

import argparse
import json
import sys

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--watts", type=float, default=4.5, help="power of a busy core")
parser.add_argument("--every", type=int, default=10, metavar="N", help="documents between lines")
arguments = parser.parse_args()

for number, line in enumerate(sys.stdin, 1):
    document = json.loads(line)
    if number % arguments.every and not document["has_ended"]:
        continue
    joules = {row["callpath"]: row["exclusive_ns"] / 1e9 * arguments.watts for row in document["callpaths"]}
    total = sum(joules.values())
    if total == 0:
        continue
    in_mpi = [row["callpath"] for row in document["callpaths"] if row["name"].startswith("MPI_")]
    waiting = sum(joules[path] for path in in_mpi)
    place = max(joules, key=joules.get)
    finding = (
        f"about {total:.0f} J so far at {arguments.watts} W a core, {waiting / total:.0%} of it in "
        f"MPI; most in {place}: {joules[place]:.0f} J"
    )
    print(json.dumps({"finding": finding, "joules": joules}), flush=True)
