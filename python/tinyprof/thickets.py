"""Builds a Thicket of many runs."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .cells import Cells
from .graphframe import graph_of
from .manifest import Run
from .reports import name_of

if TYPE_CHECKING:
    from thicket import Thicket

    from .profile import Profile

_SECONDS_PER_NS = 1e-9


def to_thicket(profiles: Iterable[Profile]) -> Thicket:
    """Returns a Thicket of several runs, with a row for each node and run.

    The metadata of the runs are included under Adiak's keys, with `name` and `date` besides.
    Columns, over the ranks that visited a callpath: `ranks` and `visits`; `time` (exclusive) and
    `time (inc)`, the sums over the ranks in seconds; and `Min time/rank`, `Avg time/rank` and
    `Max time/rank` of both. For the values of each rank, use `Profile.to_hatchet`. Needs the
    package `llnl-thicket`.
    """
    from hatchet import GraphFrame
    from thicket import Thicket

    thickets = []
    for profile in profiles:
        graph, nodes = graph_of(profile.callpaths)
        table = statistics(profile)
        index = np.empty(len(nodes), object)
        index[:] = nodes
        table.index = pd.Index(index, name="node")
        inclusive = [name for name in table.columns if name.endswith("(inc)")]
        exclusive = [name for name in table.columns if name not in inclusive and name != "name"]
        frame = GraphFrame(graph, table.sort_index(), exclusive, inclusive, metadata=metadata(profile))
        thickets.append(Thicket.thicketize_graphframe(frame, str(profile.path.absolute())))
    if not thickets:
        raise ValueError("a Thicket needs at least one profile")
    if len(thickets) == 1:
        return thickets[0]
    return Thicket.concat_thickets(thickets, disable_tqdm=True)


def statistics(profile: Profile) -> pd.DataFrame:
    """Returns a frame with a row for each callpath, over the ranks that visited it.

    Times are in seconds.
    """
    rows = list(range(len(profile.callpaths)))
    cells = Cells(profile._reader, rows, range(profile.manifest.ranks))
    groups = pd.Series(cells.callpath_codes)
    table = pd.DataFrame({"name": [callpath.name for callpath in profile.callpaths], "ranks": cells.counts})
    table["visits"] = _sums(cells.column("visits"), cells)
    for unit, name in (("", "exclusive_ns"), (" (inc)", "sum_ns")):
        by_callpath = pd.Series(cells.column(name)).groupby(groups)
        table[f"time{unit}"] = _sums(cells.column(name), cells) * _SECONDS_PER_NS
        for label, values in (("Min", by_callpath.min()), ("Max", by_callpath.max())):
            table[f"{label} time/rank{unit}"] = values.reindex(rows) * _SECONDS_PER_NS
        table[f"Avg time/rank{unit}"] = table[f"time{unit}"] / table["ranks"].where(table["ranks"] > 0)
    return table


def _sums(values: np.ndarray, cells: Cells) -> np.ndarray:
    """Returns the sum of each callpath's cells, 0 if no rank visited it."""
    ends = np.cumsum(cells.counts)
    before = np.concatenate(([0], np.cumsum(values, dtype=np.uint64))).astype(np.uint64)
    return before[ends] - before[ends - cells.counts]


def metadata(profile: Run) -> dict[str, Any]:
    """Returns the metadata under Adiak's keys, in the form that Thicket needs.

    Each key has one value, and lists are text. Besides Adiak's keys: `name` (the profile's
    directory), `date` (when the run was started, in ISO 8601; `None` if unknown), `ranks`, `complete`,
    `precision`, and `losses.` with the kind of each loss.
    """
    facts = {key: " ".join(map(str, value)) if isinstance(value, list) else value for key, value in profile.metadata.items()}
    losses = {f"losses.{name}": number for name, number in profile.losses.items()}
    own = {
        "name": name_of(profile.path),
        "date": _date(profile.metadata.get("launchdate")),
        "ranks": profile.manifest.ranks,
        "complete": profile.manifest.complete,
        "precision": profile.precision,
    }
    return {**own, **facts, **losses}


def _date(launched: Any) -> str | None:
    """Returns a number of seconds since 1970 as a date of ISO 8601; `None` if it is 0 or none."""
    try:
        return datetime.fromtimestamp(launched, timezone.utc).isoformat() if launched else None
    except (TypeError, ValueError, OverflowError, OSError):
        return None
