"""Compares the waiting of the program `waiting late_sender` with what `tinyprof waits` says.

check_waits.py FILE RANKS MILLISECONDS NAME: each odd rank waits so long for the rank before it, in
MPI_Recv, and for nobody else. Ranks that share a processor come late by themselves, so half of it
is enough, and five times as much is too much.
"""

import json
import sys

path, ranks, milliseconds, name = sys.argv[1], *map(int, sys.argv[2:4]), sys.argv[4]
with open(path, encoding="utf-8") as file:
    document = json.load(file)
assert document["ranks"] == ranks, f"{name}: {document['ranks']} ranks of {ranks} are in the profile"
waits = {}
for row in document["waits"]:
    if row["kind"] == "late_sender":
        key = (row["ranks"], row["for_ranks"])
        waits[key] = waits.get(key, 0) + row["waiting_ns"] / 1e6
expected = {(str(rank), str(rank - 1)) for rank in range(1, ranks, 2)}
assert set(waits) >= expected, f"{name}: {waits}, expected {expected}"
for key, waited in waits.items():
    least, most = (milliseconds / 2, milliseconds * 5) if key in expected else (0, milliseconds / 4)
    assert least <= waited <= most, f"{name}: rank {key[0]} for {key[1]}: {waited:.1f} ms"
uncertainty = document["clock"]["offset_uncertainty_max_ns"]
shown = ", ".join(f"{rank} for {other} {ms:.1f} ms" for (rank, other), ms in sorted(waits.items()))
print(f"{name}: {shown}; clocks known to {uncertainty / 1e3:.0f} us")
