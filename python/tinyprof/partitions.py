"""Partitions of Dask DataFrames: the parts of profiles, and the frames that are made of one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from . import causes, frames
from ._native import Reader
from .manifest import CLOCK_FACTS, LOSSES, PROCESSOR_FACTS, Listed, Manifest
from .tables import Tables


@dataclass(frozen=True)
class Part:
    """What a process needs to read one part of a profile; the manifest is not read again."""

    profile: str
    """The profile, as the caller has named it."""
    directory: Path
    dictionary: Listed
    rows: int
    file: tuple[Listed, int, int]
    """File, first rank, ranks."""
    first_rank: int
    """The rank with which the part has to begin."""
    limit_bytes: int

    def open(self) -> Tables:
        """Reads the dictionary and the part, and verifies both."""
        reader = Reader(self.directory, self.dictionary, self.rows, [self.file], self.limit_bytes, self.first_rank)
        return Tables(self.directory, reader, range(self.first_rank, self.first_rank + self.file[2]))


def parts_of(profile: str, directory: Path, manifest: Manifest, limit_bytes: int) -> Iterator[Part]:
    """Yields the parts of a profile. Opens none of them."""
    first_rank = 0
    for file in manifest.parts:
        yield Part(profile, directory, manifest.callpaths, manifest.rows, file, first_rank, limit_bytes)
        first_rank += file[2]


def frame(
    part: Part, name: str, arguments: tuple[str | int | tuple[str, ...], ...], columns: list[str] | None = None
) -> pd.DataFrame:
    """Returns a frame of one part, with the index as columns.

    `name` and `arguments` are those of a call or a property of `Tables`, but for the keys of metrics
    of `dataframe`. Dask passes the `columns` that the caller uses, if they are not all.
    """
    tables = part.open()
    if name == "dataframe":
        # Every partition has all columns, whoever has recorded the metrics.
        table = tables.dataframe(metrics=bool(arguments))
        added = meta_of(name, arguments).columns[len(META[name].columns) :]
        table = table.reindex(columns=[*table.columns[: len(_CELL_VALUES)], *added])
        table = table.astype(dict.fromkeys(added, float))
    else:
        found = getattr(tables, name)
        table = found(*arguments) if callable(found) else found
    if table.index.names != [None]:
        table = table.reset_index()
    wanted = list(meta_of(name, arguments).columns) if columns is None else columns
    if PROFILE in wanted:
        table.insert(0, PROFILE, np.full(len(table), part.profile, object))
    return table[wanted]


#: The column with the name of the profile, in frames of several.
PROFILE = "profile"

_CELL = {PROFILE: "O", "callpath": "O", "rank": "i8"}
_EXECUTION = {PROFILE: "O", "rank": "u4", "execution": "u4"}
_EDGE_KEYS = ("rank", "kind", "partner", "from")
_EVENT = {PROFILE: "O", "rank": "u4", "thread": "u8"}


def _numbers(*names: str) -> dict[str, str]:
    return dict.fromkeys(names, "u8")


def _meta(columns: dict[str, str | pd.CategoricalDtype]) -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series([], dtype=kind) for name, kind in columns.items()})


_CELL_VALUES = {
    **_numbers("visits", "sum_ns", "exclusive_ns", "min_ns", "max_ns"),
    **{"mean_ns": "f8", "standard_error_ns": "f8"},
}
_CAUSE = {"cause": "O", "from": "O", "to": "O"}

#: The columns of each frame with their types, as empty frames: those of the calls of `Profile`
#: after `reset_index`, with the profile before them.
META = {
    "dataframe": _meta({**_CELL, **_CELL_VALUES}),
    "executions": _meta(
        {
            **_EXECUTION,
            **_numbers("executions", "visits", "sum_ns", "exclusive_ns", "min_ns", "max_ns"),
            **{"sum_squares_ns2": "f8", "sum_variance_ns2": "f8"},
        }
    ),
    "series": _meta({**_EXECUTION, **_numbers("visit", "visits", "sum_ns", "min_ns", "max_ns")}),
    "messages": _meta(
        {
            **_CELL,
            "kind": pd.CategoricalDtype(list(frames.KINDS)),
            **{"partner": "i8", "size_class": "u4", "count": "u8", "bytes": "u8"},
        }
    ),
    "edges": _meta(
        {
            **_CELL,
            "kind": pd.CategoricalDtype(list(frames.EDGE_KINDS)),
            **{"partner": "i8", "from": "O"},
            **{name: kind for name, kind in frames.EDGE_TYPES.items() if name not in _EDGE_KEYS},
        }
    ),
    "events": _meta(
        {**_EVENT, "path": "O", **_numbers("depth", "begin_ns", "duration_ns", "monotonic_ns")}
    ),
    "message_events": _meta(
        {
            **_EVENT,
            **{"path": "O", "at_ns": "u8", "received": "?", "partner": "i8", "communicator": "u8", "tag": "i8"},
            **_numbers("number", "bytes", "monotonic_ns"),
        }
    ),
    "event_losses": _meta(
        {
            **_EVENT,
            **{"policy": "O", "class": "O"},
            **_numbers("depth", "kept", "lost", "lost_first_ns", "lost_last_ns"),
        }
    ),
    "delay_costs": _meta(
        {
            **{**_CELL, "cause_rank": "i8", **_CAUSE},
            **_numbers("direct_ns", "direct_count", "propagated_ns", "propagated_count"),
        }
    ),
    "critical_path": _meta({PROFILE: "O", "rank": "i8", **_CAUSE, "ns": "u8"}),
    "cause_facts": _meta({PROFILE: "O", "rank": "u4", **_numbers(*causes.FACTS)}),
    "ranks": _meta(
        {
            **{PROFILE: "O", "rank": "i8", "host": "O"},
            **_numbers("process_id", "threads", "peak_memory_bytes", *LOSSES),
        }
    ),
    "clocks": _meta({PROFILE: "O", "rank": "i8", **_numbers(*CLOCK_FACTS)}),
    "processors": _meta({PROFILE: "O", "rank": "i8", **_numbers(*PROCESSOR_FACTS)}),
}


def meta_of(name: str, arguments: tuple[str | int | tuple[str, ...], ...]) -> pd.DataFrame:
    """Returns the columns of a frame with these arguments: of `dataframe`, those of metrics, too."""
    if name != "dataframe" or not arguments:
        return META[name]
    (keys,) = arguments
    assert isinstance(keys, tuple)
    added = [column for key in keys for column in (f"metric {key}", f"metric {key} values")]
    return META[name].assign(**{column: pd.Series([], dtype="f8") for column in added})
