"""Who waits for whom: the waiting of the edges between ranks, as `tinyprof waits` tells it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from .tables import Tables

#: The kind of waiting at each kind of edge that waits.
_KINDS = {
    "message": "late_sender",
    "message_to_any": "late_sender",
    "barrier": "barrier",
    "all_to_all": "all_to_all",
    "from_root": "late_root",
    "to_root": "early_root",
    "scan": "early_scan",
    "receiver": "late_receiver",
    "fence": "fence",
    "post": "late_post",
    "complete": "early_wait",
    "lock": "lock",
}
_NUMBERS = ["count", "waiting_ns", "compensated_ns", "transfer_ns"]
_KEYS = ["kind", "callpath", "for_callpath"]
_RANKS = ["rank", "for_rank"]


def of_edges(profile: Tables, by_rank: bool) -> pd.DataFrame:
    """Returns a row for each kind of waiting and pair of callpaths, and of ranks with `by_rank`; the longest first."""
    edges = profile.edges().reset_index()
    edges = edges[edges["kind"].isin(list(_KINDS))]
    rows = pd.concat([_at_receivers(edges), _at_senders(edges)], ignore_index=True)
    keys = _KEYS + (_RANKS if by_rank else [])
    found = rows.groupby(keys, dropna=False, as_index=False)[_NUMBERS].sum()
    found = found.astype(dict.fromkeys(_NUMBERS, "int64"))
    return found.sort_values(["waiting_ns", "transfer_ns"], ascending=False, kind="stable", ignore_index=True)


def _at_receivers(edges: pd.DataFrame) -> pd.DataFrame:
    rows = edges.rename(columns={"from": "for_callpath", "partner": "for_rank", "sum_ns": "waiting_ns"})
    return rows.assign(kind=rows["kind"].map(_KINDS))[[*_KEYS, *_RANKS, *_NUMBERS]]


def _at_senders(edges: pd.DataFrame) -> pd.DataFrame:
    """Returns the waiting of senders, which edges at their receivers tell."""
    late = edges[(edges["late_receiver_ns"] > 0) & (edges["partner"] >= 0)]
    ends = {"callpath": "for_callpath", "rank": "for_rank", "from": "callpath", "partner": "rank"}
    rows = late.rename(columns=ends).assign(kind="late_receiver", transfer_ns=0)
    waiting = rows["late_receiver_ns"]
    return rows.assign(waiting_ns=waiting, compensated_ns=waiting)[[*_KEYS, *_RANKS, *_NUMBERS]]
