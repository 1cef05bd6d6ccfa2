"""Frames of the causes of waiting."""

from __future__ import annotations

import numpy as np
import pandas as pd

from .callpath import Callpath
from .frames import Native, arrays, index_of

#: The facts of a rank, in the order in which they are stored.
FACTS = (
    "ended_ns",
    "other_direct_ns",
    "other_direct_count",
    "other_propagated_ns",
    "other_propagated_count",
    "unread",
    "late",
    "forgotten",
    "short_ns",
    "unfollowed_ns",
)

#: Activities by number, facts, costs, and parts of paths.
Causes = tuple[dict[int, tuple[int, int, int]], Native, Native, Native]

#: Kinds of activities, by their numbers.
_KINDS = {1: "exclusive", 2: "gap", 3: "call"}
#: Activities without a callpath, by their numbers.
_NAMES = {0: "other", 2**40 - 1: "no_processor"}
#: Ranks are stored with this added; the two below are no ranks.
_RANKS = 2


def costs(causes: Causes, callpaths: list[Callpath], ranks: int) -> pd.DataFrame:
    """Returns the frame of `Profile.delay_costs`."""
    activities, _, native, _ = causes
    columns = arrays(native)
    rank = columns.pop("rank")
    rows = columns.pop("callpath").astype(np.int64) - 1
    cause = named(activities, callpaths, columns.pop("cause_rank"), columns.pop("activity"))
    is_known = rows >= 0
    table = pd.DataFrame({**cause, **columns})[is_known]
    return table.set_index(index_of(callpaths, ranks, rows[is_known], rank[is_known]))


def path(causes: Causes, callpaths: list[Callpath], rank: int | None) -> pd.DataFrame:
    """Returns the frame of `Profile.critical_path`."""
    activities, _, _, native = causes
    columns = arrays(native)
    if rank is None:
        ended = facts(causes)["ended_ns"]
        rank = -1 if ended.empty else int(ended.idxmax())
    is_of_rank = columns.pop("rank") == rank
    cause_rank, activity, ns = (columns[name][is_of_rank] for name in ("cause_rank", "activity", "ns"))
    cause = named(activities, callpaths, cause_rank, activity)
    return pd.DataFrame({"rank": cause.pop("cause_rank"), **cause, "ns": ns})


def facts(causes: Causes) -> pd.DataFrame:
    """Returns the frame of `Profile.cause_facts`."""
    columns = arrays(causes[1])
    index = pd.Index(columns.pop("rank"), name="rank")
    return pd.DataFrame({name: columns[str(fact)] for fact, name in enumerate(FACTS)}, index=index)


def named(
    activities: dict[int, tuple[int, int, int]],
    callpaths: list[Callpath],
    stored_rank: np.ndarray,
    activity: np.ndarray,
) -> dict[str, np.ndarray]:
    """Returns ranks, kinds and paths of causes."""
    paths = [None, *(callpath.path for callpath in callpaths)]
    rank = stored_rank.astype(np.int64) - _RANKS
    names = np.empty((3, len(rank)), object)
    for at, (of, number) in enumerate(zip(rank.tolist(), activity.tolist(), strict=True)):
        kind, begin, end = activities.get(number, (0, 0, 0))
        if of < 0:
            names[0, at] = "unexplained" if of == -_RANKS else "other"
        else:
            names[0, at] = _NAMES.get(number) or _KINDS.get(kind, "unknown")
        names[1, at], names[2, at] = paths[begin], paths[end]
    return {"cause_rank": np.maximum(rank, -1), "cause": names[0], "from": names[1], "to": names[2]}
