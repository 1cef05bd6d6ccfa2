"""Frames of events: visits and messages that were kept one by one."""

from __future__ import annotations

import numpy as np
import pandas as pd

from .callpath import Callpath
from .frames import Native, arrays

#: Visits, cells with what became of events, and messages.
Events = tuple[Native, Native, Native]

#: Names by the numbers that are stored.
_POLICIES = np.array(["window", "ring", "thin"], object)
_CLASSES = np.array(["root", "call", "around_calls", "computation", "message"], object)


def visits(events: Events, callpaths: list[Callpath]) -> pd.DataFrame:
    """Returns the frame of `Profile.events`."""
    columns = arrays(events[0])
    origin = columns.pop("origin_ns")
    begin = columns.pop("begin_ns")
    return pd.DataFrame(
        {
            "rank": columns["rank"],
            "thread": columns["thread"],
            "path": _paths(columns["callpath"], callpaths),
            "depth": columns["depth"],
            "begin_ns": begin,
            "duration_ns": columns["duration_ns"],
            "monotonic_ns": origin + begin,
        }
    )


def messages(events: Events, callpaths: list[Callpath]) -> pd.DataFrame:
    """Returns the frame of `Profile.message_events`."""
    columns = arrays(events[2])
    partner = columns["rank"].astype(np.int64) + columns["partner"]
    # Of a world of 2^31 ranks at most; others are outside of it.
    ends = {"partner": np.where(partner < 0, -1, partner)}
    return pd.DataFrame(
        {
            "rank": columns["rank"],
            "thread": columns["thread"],
            "path": _paths(columns["callpath"], callpaths),
            "at_ns": columns["at_ns"],
            "received": columns["received"].astype(bool),
            **ends,
            "communicator": columns["communicator"],
            "tag": columns["tag"],
            "number": columns["number"],
            "bytes": columns["bytes"],
            "monotonic_ns": columns["origin_ns"] + columns["at_ns"],
        }
    )


def _paths(callpath_ids: np.ndarray, callpaths: list[Callpath]) -> np.ndarray:
    """Returns the paths of callpaths; None for those that were lost."""
    paths = {callpath.id: callpath.path for callpath in callpaths}
    ids, positions = np.unique(callpath_ids, return_inverse=True)
    names = np.array([paths.get(int(number)) for number in ids] or [None], object)
    return names[positions] if len(ids) else names[:0]


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
