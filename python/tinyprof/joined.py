"""Dask frames of parts that need something of all others: keys of metrics, and causes of waiting."""

from __future__ import annotations

from functools import reduce
from itertools import groupby

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd

from . import causes
from .frames import arrays
from .partitions import META, PROFILE, Part

#: Kind, begin and end of activities, by their numbers.
Activities = dict[int, tuple[int, int, int]]
#: When the rank at which a path ends did so; ranks, activities and times of the path.
_Path = tuple[int, np.ndarray, np.ndarray, np.ndarray]


def metric_keys(parts: list[Part]) -> list[str]:
    """Reads the keys of the metrics of all parts, in the order of the columns of pandas' frame."""
    found = dask.compute(*[dask.delayed(_metric_keys)(part) for part in parts])
    of_profiles: dict[str, set[tuple[int, str]]] = {}
    for part, keys in zip(parts, found):
        of_profiles.setdefault(part.profile, set()).update(keys)
    in_order = [key for keys in of_profiles.values() for _, key in sorted(keys)]
    return list(dict.fromkeys(in_order))


def _metric_keys(part: Part) -> set[tuple[int, str]]:
    reader = part.open()._reader
    return {(row, key) for row in reader.rows_with_metrics() for key in reader.metrics(row)}


def delay_costs(parts: list[Part], columns: list[str]) -> dd.DataFrame:
    """Returns the causes of waiting, in a partition for each part."""
    made = [
        dask.delayed(_costs)(part, activities, columns)
        for group in _by_profile(parts)
        for activities in [_all_activities(group)]
        for part in group
    ]
    return dd.from_delayed(made, meta=META["delay_costs"][columns], prefix="tinyprof-delay_costs", verify_meta=False)


def critical_path(parts: list[Part], columns: list[str], rank: int | None) -> dd.DataFrame:
    """Returns the critical path, in a partition for each profile."""
    made = []
    for group in _by_profile(parts):
        paths = [dask.delayed(_path)(part, rank) for part in group]
        made.append(dask.delayed(_named)(group[0], _all_activities(group), paths, columns))
    return dd.from_delayed(made, meta=META["critical_path"][columns], prefix="tinyprof-critical_path", verify_meta=False)


def _by_profile(parts: list[Part]) -> list[list[Part]]:
    return [list(group) for _, group in groupby(parts, key=lambda part: part.directory)]


def _all_activities(parts: list[Part]) -> dask.delayed.Delayed:
    """What any rank has described: of the cause of a rank's waiting that may be another one."""
    return dask.delayed(_merged)([dask.delayed(_activities)(part) for part in parts])


def _activities(part: Part) -> Activities:
    return part.open()._reader.causes()[0]


def _merged(found: list[Activities]) -> Activities:
    return reduce(lambda all_of_them, more: all_of_them | more, found, {})


def _costs(part: Part, activities: Activities, columns: list[str]) -> pd.DataFrame:
    tables = part.open()
    _, *rest = tables._reader.causes()
    table = causes.costs((activities, *rest), tables.callpaths, tables._ranks.stop).reset_index()
    return _of_profile(table, part)[columns]


def _path(part: Part, rank: int | None) -> _Path:
    """Returns the path that ends at a rank, or at the one of the part that ended last."""
    found = part.open()._reader.causes()
    ended = causes.facts(found)["ended_ns"]
    if rank is not None:
        ended = ended[ended.index == rank]
    # A part without such a rank has no path to offer.
    last, ended_ns = (-1, -1) if ended.empty else (int(ended.idxmax()), int(ended.max()))
    columns = arrays(found[3])
    is_of_rank = columns["rank"] == last
    cause_rank, activity, ns = (columns[name][is_of_rank] for name in ("cause_rank", "activity", "ns"))
    return ended_ns, cause_rank, activity, ns


def _named(part: Part, activities: Activities, paths: list[_Path], columns: list[str]) -> pd.DataFrame:
    # Of several, the first, as in the frame of pandas.
    _, cause_rank, activity, ns = max(paths, key=lambda path: path[0])
    cause = causes.named(activities, part.open().callpaths, cause_rank, activity)
    table = pd.DataFrame({"rank": cause.pop("cause_rank"), **cause, "ns": ns})
    return _of_profile(table, part)[columns]


def _of_profile(table: pd.DataFrame, part: Part) -> pd.DataFrame:
    table.insert(0, PROFILE, np.full(len(table), part.profile, object))
    return table
