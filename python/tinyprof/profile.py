"""A profile: what `read` gives."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from . import frames, graphframe
from ._native import Reader
from .callpath import Callpath, from_rows
from .cells import Cells
from .manifest import LOSSES, Manifest

if TYPE_CHECKING:
    from hatchet import GraphFrame

#: The memory, in bytes, that one call may take for the data that it reads, unless the caller sets
#: another limit.
LIMIT_BYTES = 1 << 30


def read(path: str | os.PathLike[str], *, limit_bytes: int = LIMIT_BYTES) -> Profile:
    """The profile in the directory `path`.

    All files are read and all checksums verified. `limit_bytes` is how much memory this and each later call may take
    for decoded values: a hostile profile of few bytes could else claim any amount.

    Raises `UnfinishedError` where there is no manifest, `NewerVersionError` where this package is too old, and
    `DamagedError`, which names file and offset, where bytes are damaged. A profile that needs more than `limit_bytes` is
    a `TooLargeError`, here and in later calls: that is no damage.
    """
    return Profile(Path(path), limit_bytes)


class Profile:
    """All ranks' values of one run. Values are decoded when they are asked for."""

    def __init__(self, path: Path, limit_bytes: int) -> None:
        """Use `read`."""
        self.path = path
        self.manifest = Manifest(path)
        manifest = self.manifest
        self._reader = Reader(path, manifest.callpaths, manifest.rows, manifest.parts, limit_bytes)

    def __repr__(self) -> str:
        return f"<tinyprof.Profile {str(self.path)!r}: {self.manifest.ranks} ranks, {self.manifest.rows} callpaths>"

    @cached_property
    def callpaths(self) -> list[Callpath]:
        """Every callpath of the run, parents before their children."""
        return from_rows(self._reader.callpaths())

    @cached_property
    def ranks(self) -> pd.DataFrame:
        """What each rank says of itself: host, process id, threads, peak of memory in bytes, and losses."""
        hosts, columns, losses = self._reader.facts()
        of_ranks = [host for host, count in hosts for _ in range(count)]
        table = pd.DataFrame({"host": pd.Series(of_ranks, dtype=object), **frames.arrays(columns)})
        for name, column in zip(LOSSES, losses):
            table[name] = frames.arrays(column)["loss"]
        return table.rename_axis("rank")

    @property
    def metadata(self) -> dict[str, Any]:
        """Facts of the run under Adiak's keys: `user`, `launchdate` (s since 1970), `executable`, `jobsize`, ..."""
        return self.manifest.metadata

    @property
    def precision(self) -> str:
        """How exact times are: `exact`, as they were measured, or `8bit`, rounded: each is off by at most 0.4 %."""
        return self.manifest.precision

    @property
    def losses(self) -> dict[str, int]:
        """Everything that was dropped, folded or left open, over all ranks. All zero in a usual run."""
        return self.manifest.losses

    def row(self, path: str | int | Callpath) -> int:
        """The row of a callpath, which is named by its path, its row, or itself.

        Raises `KeyError` where there is none; where several have the same path, it says by which rows to name them.
        """
        if isinstance(path, Callpath):
            return path.row
        if isinstance(path, (int, np.integer)):
            if 0 <= path < len(self.callpaths):
                return int(path)
            raise KeyError(f"there is no row {path}: {self!r}")
        rows = self._rows_by_path.get(path, [])
        if len(rows) == 1:
            return rows[0]
        if rows:
            raise KeyError(f"{path!r} is the path of several callpaths: name one by its row, of {rows}")
        raise KeyError(f"there is no callpath {path!r}; Profile.callpaths lists all")

    @cached_property
    def _rows_by_path(self) -> dict[str, list[int]]:
        rows: dict[str, list[int]] = {}
        for callpath in self.callpaths:
            rows.setdefault(callpath.path, []).append(callpath.row)
        return rows

    def dataframe(self, *, metrics: bool = True) -> pd.DataFrame:
        """A row for each callpath and rank that visited it, over all executions.

        Columns: `visits`; `sum_ns` (inclusive), `exclusive_ns` (without the callpath's children on the same rank);
        `min_ns`, `max_ns`, `mean_ns` of a visit (inclusive); `standard_error_ns` of the sum, 0 where every visit was
        timed; and for each key of a varying metric `metric KEY` (its sum) and `metric KEY values` (their number).
        """
        rows = list(range(len(self.callpaths)))
        cells = Cells(self._reader, rows, self.manifest.ranks, all_columns=True)
        table = frames.of_cells(self.callpaths, self.manifest.ranks, cells)
        if not metrics or not self._reader.rows_with_metrics():
            return table
        return table.join(self._metric_columns())

    def executions(self, path: str | int | Callpath) -> pd.DataFrame:
        """A row for each rank and execution that visited a callpath.

        Columns: `executions`, how many executions the row covers (more than 1 where a long run was folded); `visits`,
        `sum_ns`, `exclusive_ns`, `min_ns`, `max_ns`, `sum_squares_ns2`, `sum_variance_ns2`.
        """
        row = self.row(path)
        table = frames.of_summaries(self._reader.times(row)[0], "_ns")
        children = [c.row for c in self.callpaths if c.parent == row]
        below = [frames.of_summaries(self._reader.times(child)[0], "_ns") for child in children]
        return frames.with_exclusive(table, below)

    def series(self, path: str | int | Callpath) -> pd.DataFrame:
        """The values of a callpath of mode `each`, rank by rank in the order of visits.

        Columns: `visits` (more than 1 where a long series was folded), `sum_ns`, `min_ns`, `max_ns`; inclusive. Which
        visits of its children belong to which visit of a callpath is not recorded: exclusive times are those of
        `executions`.
        """
        return frames.of_series(self._reader.times(self.row(path))[1], "_ns")

    def series_arrays(self, path: str | int | Callpath) -> dict[int, np.ndarray]:
        """The same as one array of `sum_ns` for each rank, without execution and visits."""
        return frames.by_rank(self._reader.times(self.row(path))[1])

    def metrics(self, path: str | int | Callpath) -> dict[str, pd.DataFrame]:
        """The varying metrics of a callpath, by key: a row for each rank and execution, in the metric's own unit."""
        found = self._reader.metrics(self.row(path))
        return {key: frames.of_summaries(summaries, "") for key, (summaries, _) in found.items()}

    def metric_series(self, path: str | int | Callpath, key: str) -> pd.DataFrame:
        """The series of one metric of a callpath; `KeyError` where it has none under this key."""
        return frames.of_series(self._reader.metrics(self.row(path))[key][1], "")

    def _metric_columns(self) -> pd.DataFrame:
        found = {row: self._reader.metrics(row) for row in self._reader.rows_with_metrics()}
        return frames.of_metrics(self.callpaths, self.manifest.ranks, found)

    def to_hatchet(self, *, columns: tuple[str, ...] = ("visits",)) -> GraphFrame:
        """A Hatchet `GraphFrame` with an index of node and rank.

        Every rank has a row for every node, of zeros where it was not there, as Hatchet's own readers make them.
        `time` (exclusive) and `time (inc)` are in seconds, as is Hatchet's custom. `columns` are columns of
        `dataframe` that are wanted besides. Needs the package `llnl-hatchet`, or `hatchet`, which is UMD's.
        """
        return graphframe.build(self.callpaths, self.manifest, self._reader, columns)
