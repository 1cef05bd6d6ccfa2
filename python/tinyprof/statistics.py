"""Statistics over ranks, of frames of which each partition has some of the ranks."""

from __future__ import annotations

import dask.dataframe as dd
import numpy as np
import pandas as pd

from .partitions import PROFILE

#: Columns of times, by the names that reports give them.
_TIMES = {"inclusive": "sum_ns", "exclusive": "exclusive_ns"}
#: The number of partitions whose statistics are joined at once.
_SPLIT_EVERY = 16


def statistics_of(cells: dd.DataFrame) -> dd.DataFrame:
    """Returns the statistics of each callpath over the ranks in `cells`, in one partition.

    `cells` is the frame of `dataframe`, or some of its rows, of one profile or of several.
    """
    keys = [name for name in (PROFILE, "callpath") if name in cells.columns]
    used = cells[[*keys, "rank", "visits", *_TIMES.values()]]
    return used.reduction(
        _of_partition,
        aggregate=_finished,
        combine=_merged,
        meta=_finished(_of_partition(used._meta, keys), keys),
        split_every=_SPLIT_EVERY,
        chunk_kwargs={"keys": keys},
        combine_kwargs={"keys": keys},
        aggregate_kwargs={"keys": keys},
    )


def _of_partition(cells: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Returns the statistics of one partition that can be merged with those of others."""
    table = cells[[*keys, "visits"]].assign(ranks=np.uint64(1))
    for name, column in _TIMES.items():
        for what in ("sum", "min", "max"):
            table[f"{name}_{what}_ns"] = cells[column]
        table[f"{name}_max_rank"] = cells["rank"]
    return _merged(table, keys)


def _merged(parts: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    groups = parts.groupby(keys, sort=False)
    how = {"ranks": "sum", "visits": "sum"}
    for name in _TIMES:
        how |= {f"{name}_{what}_ns": what for what in ("sum", "min", "max")}
    table = groups.agg(how)
    group = groups.ngroup().to_numpy()
    for name in _TIMES:
        greatest = table[f"{name}_max_ns"].to_numpy()
        is_greatest = parts[f"{name}_max_ns"].to_numpy() == greatest[group]
        lowest = np.full(len(table), np.iinfo(np.int64).max)
        np.minimum.at(lowest, group[is_greatest], parts[f"{name}_max_rank"].to_numpy()[is_greatest])
        table[f"{name}_max_rank"] = lowest
    return table.reset_index()


def _finished(parts: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Returns the statistics of all ranks, in the order of the columns of a report."""
    merged = _merged(parts, keys)
    table = merged[[*keys, "ranks", "visits"]].copy()
    ranks = merged["ranks"]
    for name in _TIMES:
        total, greatest = merged[f"{name}_sum_ns"], merged[f"{name}_max_ns"]
        mean = total / ranks
        table[f"{name}_sum_ns"] = total
        table[f"{name}_min_ns"] = merged[f"{name}_min_ns"]
        table[f"{name}_mean_ns"] = mean
        table[f"{name}_max_ns"] = greatest
        table[f"{name}_max_rank"] = merged[f"{name}_max_rank"]
        table[f"{name}_imbalance"] = greatest / mean.where(mean > 0) - 1
        table[f"{name}_lost_ns"] = ranks * greatest - total
    return table
