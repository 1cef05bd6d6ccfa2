"""Writes what a profile holds as Caliper would, for Hatchet's own readers: the same nodes, ranks and times."""

from __future__ import annotations

import json
from pathlib import Path

import tinyprof


def write_json_split(profile: tinyprof.Profile, path: Path) -> None:
    """Json-split, as `cali-query` prints it."""
    nodes = []
    for callpath in profile.callpaths:
        node = {"label": callpath.name, "column": "path"}
        nodes.append(node if callpath.parent is None else {**node, "parent": callpath.parent})
    columns = ["path", "mpi.rank", "sum#time.duration", "inclusive#sum#time.duration"]
    data = [[row, rank, own, inclusive] for row, rank, own, inclusive in _cells(profile)]
    metadata = [{"is_value": column != "path"} for column in columns]
    path.write_text(json.dumps({"data": data, "columns": columns, "column_metadata": metadata, "nodes": nodes}))


def write_cali(profile: tinyprof.Profile, path: Path) -> None:
    """Caliper's own `.cali`, with metadata nodes for the attributes and a record for each callpath and rank."""
    first = 100
    records = []
    for number, (properties, kind, name) in enumerate(
        [(276, 3, "region"), (65, 5, "sum#time.duration"), (65, 5, "inclusive#sum#time.duration"), (65, 1, "mpi.rank")]
    ):
        node = 12 + 2 * number
        records.append(f"__rec=node,id={node - 1},attr=10,data={properties},parent={kind}")
        records.append(f"__rec=node,id={node},attr=8,data={name},parent={node - 1}")
    for callpath in profile.callpaths:
        parent = "" if callpath.parent is None else f",parent={first + callpath.parent}"
        records.append(f"__rec=node,id={first + callpath.row},attr=12,data={callpath.name}{parent}")
    for row, rank, own, inclusive in _cells(profile):
        records.append(f"__rec=ctx,ref={first + row},attr=14=16=18,data={own}={inclusive}={rank}")
    path.write_text("\n".join(records) + "\n")


def _cells(profile: tinyprof.Profile):
    """Row, rank, exclusive and inclusive time in seconds of each cell."""
    table = profile.dataframe(metrics=False)
    rows, ranks = table.index.codes
    exclusive, inclusive = (table[name].to_numpy() * 1e-9 for name in ("exclusive_ns", "sum_ns"))
    return zip(rows.tolist(), ranks.tolist(), exclusive.tolist(), inclusive.tolist())
