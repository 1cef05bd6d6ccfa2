"""Frames of events: visits that were kept one by one."""

from __future__ import annotations

import numpy as np
import pandas as pd

from .callpath import Callpath
from .frames import Native, arrays

#: Visits, and cells with what became of them.
Events = tuple[Native, Native]

#: Names by the numbers that are stored.
_POLICIES = np.array(["window", "ring", "thin"], object)
_CLASSES = np.array(["root", "call", "around_calls", "computation"], object)


def visits(events: Events, callpaths: list[Callpath]) -> pd.DataFrame:
    """Returns the frame of `Profile.events`."""
    columns = arrays(events[0])
    paths = {callpath.id: callpath.path for callpath in callpaths}
    ids, positions = np.unique(columns.pop("callpath"), return_inverse=True)
    names = np.array([paths.get(int(number)) for number in ids] or [None], object)
    origin = columns.pop("origin_ns")
    begin = columns.pop("begin_ns")
    return pd.DataFrame(
        {
            "rank": columns["rank"],
            "thread": columns["thread"],
            "path": names[positions] if len(ids) else names[:0],
            "depth": columns["depth"],
            "begin_ns": begin,
            "duration_ns": columns["duration_ns"],
            "monotonic_ns": origin + begin,
        }
    )


def losses(events: Events) -> pd.DataFrame:
    """Returns the frame of `Profile.event_losses`."""
    columns = arrays(events[1])
    policy, of_class = columns.pop("policy"), columns.pop("class")
    return pd.DataFrame(
        {
            "rank": columns.pop("rank"),
            "thread": columns.pop("thread"),
            "policy": _POLICIES[policy.astype(np.int64)],
            "class": _CLASSES[of_class.astype(np.int64)],
            **columns,
        }
    )
