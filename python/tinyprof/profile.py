"""A profile, as returned by `read`."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from . import frames, graphframe, plots, reports, waits
from ._native import Reader
from .manifest import Manifest, Run
from .tables import Tables

if TYPE_CHECKING:
    from hatchet import GraphFrame
    from matplotlib.axes import Axes

#: The memory, in bytes, that one call may take for the data that it reads, unless the caller sets
#: another limit.
LIMIT_BYTES = 1 << 30


def read(path: str | os.PathLike[str], *, limit_bytes: int = LIMIT_BYTES) -> Profile:
    """Returns the profile in the directory `path`.

    All files are read and all checksums verified. `limit_bytes` is the most memory that this and
    each later call may use for decoded values. Without a limit, a hostile profile of few bytes
    could claim any amount.

    Raises `NotFoundError`, which is a `FileNotFoundError`, if there is nothing at `path`,
    `UnfinishedError` if there is no manifest, `NewerVersionError` if this package is too old
    for the profile, and `DamagedError`, with file and offset, if bytes are damaged. This and later
    calls raise `TooLargeError` if they need more than `limit_bytes`; that is no sign of damage.
    """
    return Profile(Path(path), limit_bytes)


class Profile(Tables, Run):
    """The values of all ranks of one run, decoded on demand."""

    def __init__(self, path: Path, limit_bytes: int) -> None:
        """Opens a profile. Use `read` instead."""
        self.limit_bytes = limit_bytes
        self.manifest = Manifest(path)
        manifest = self.manifest
        reader = Reader(path, manifest.callpaths, manifest.rows, manifest.parts, limit_bytes)
        super().__init__(path, reader, range(manifest.ranks))

    def __repr__(self) -> str:
        return f"<tinyprof.Profile {str(self.path)!r}: {self.manifest.ranks} ranks, {self.manifest.rows} callpaths>"

    def _repr_html_(self) -> str:
        """Returns the facts, the hints and the hottest callpaths, for notebooks."""
        return reports.table(self._report)

    def report(
        self, *, by: str = "callpath", metric: str | None = None, all: bool = False, width: int = reports.WIDTH
    ) -> reports.Text:
        """Returns the text of `tinyprof report`, in `width` columns.

        `by` is `callpath`, `region` (or `function`) or `line`: with `region`, each region is summed
        over its callpaths; with `line`, samples are told apart by line. Or it is `site`, `loop`, `call`
        (functions of MPI) or `peer` (ranks as partners of others).
        `metric` sorts callpaths and regions by `inclusive`, `exclusive`, `visits` or the key of a
        metric. `all` folds nothing. Raises `KeyError` if there is no such metric.

        >>> profile.report().splitlines()[0]
        'format-1.1: 3 ranks on 2 hosts, up to 8 executions, 8 callpaths, 231 ms per rank'
        """
        return reports.text(self._source, by, metric, width, all)

    def report_json(self, *, by: str = "callpath", metric: str | None = None) -> dict[str, Any]:
        """Returns the object that `tinyprof report --json` prints; docs/schema.json describes it.

        With `by` as in `report`: groups (`site`, `loop`, `call`, `peer`) are in `rows`. Raises
        `KeyError` if there is no such metric.

        >>> profile.report_json()["callpaths"][0]["path"]
        'main'
        >>> profile.report_json(by="call")["by"]
        'call'
        """
        return reports.data(self._source, by, metric)

    def hints(self) -> list[dict[str, Any]]:
        """Returns the notable findings, the costliest first, as in `report_json`.

        Some of the keys: `headline` (what was found) and `evidence`; where it is: `path`,
        `callpath` (its row), `rank` and `iteration`, all of which may be `None`; `advice` (what to do
        next); `lost_ns`, summed over the ranks.

        >>> [hint["advice"] for hint in profile.hints()]
        []
        """
        return copy.deepcopy(self._report["hints"])

    def why(self, rules: Iterable[str | os.PathLike[str]] = ()) -> dict[str, Any]:
        """Returns why the run takes as long as it does: the object that `tinyprof why --json` prints.

        The keys: `verdict` (one sentence), `findings` (the costliest first, each with its `ranks`,
        `place`, `chain` and `advice`) and `waiting`; docs/why.md explains them. `rules` are files of
        rules (docs/rules.md), beside those in the user's directory and the built-in ones. A rule that
        is wrong is left out, with a warning.

        >>> profile.why()["findings"]
        []
        """
        return reports.why(self._source, [Path(file) for file in rules])

    def waits(self, *, by_rank: bool = False) -> pd.DataFrame:
        """Returns who waits for whom, the longest first: the rows of `tinyprof waits`.

        Columns: `kind` (such as `late_sender`), `callpath` (that waits), `for_callpath` (that it waits
        for, or `None`), with `by_rank` also `rank` and `for_rank` (-1 if it is not known); `count`,
        `waiting_ns`, `compensated_ns` (the waiting without measurement) and `transfer_ns`. Empty below
        level `messages`.

        >>> list(profile.waits()["kind"])
        []
        """
        return waits.of_edges(self, by_rank)

    def classes(self, *, structure_only: bool = False) -> dict[str, Any]:
        """Returns the phases, and which ranks do the same: the object of `tinyprof classes --json`.

        `phases` has for each phase its `name`, `kind`, `ranks`, `inner` phases and `classes`, each with
        its `ranks`, `calls`, `in_calls_ns`, `computing_ns` and `differs`; docs/structure.md explains
        them. With `structure_only`, ranks of a class may take different times. A profile below level
        `messages` has no phases, which is told by a warning.
        """
        return reports.classes(self._source, not structure_only)

    def heatmap(self, column: str = "exclusive_ns", *, callpaths: int = 20, axes: Axes | None = None) -> Axes:
        """Draws a column of `dataframe` as callpaths x ranks, of the callpaths with the most of it.

        Draws on `axes`, or a new figure, and returns them. Needs the package `matplotlib`. Raises
        `KeyError` if there is no such column.
        """
        return plots.heatmap(self, column, callpaths, axes)

    def timeline(self, *, ranks: Iterable[int] | None = None, axes: Axes | None = None) -> Axes:
        """Draws the events as a lane for each rank, or for each of `ranks`: the first thread of each.

        Draws on `axes`, or a new figure, and returns them. Needs the package `matplotlib`. Raises
        `ValueError` if the profile has no events.
        """
        return plots.timeline(self, ranks, axes)

    def efficiency(self) -> dict[str, float | None] | None:
        """Returns how well the ranks were used, as in `report_json`.

        The keys: `parallel`, `load_balance`, `communication`, `serialisation` and `transfer` of
        POP, and `io_share`; docs/efficiency.md explains them. `None` if no region declares what it does,
        or for a number that the profile does not have the data for.

        >>> round(profile.efficiency()["load_balance"], 3)
        0.975
        """
        return copy.copy(self._report["efficiency"])

    def threads(self) -> pd.DataFrame:
        """Returns a frame with a row for each callpath in which several threads of a rank worked.

        It is empty if each rank has one. Columns: `path`; `threads` (of a rank, on average); `busy`
        (at a time); `longest_ns` and `longest_rank` (of the thread that took longest);
        `imbalance` (by how much that is above the mean, 0.5 if half as long again);
        `largest_visit_ns`. At a place that was sampled all but `busy` are missing. docs/samples.md
        explains them.

        >>> len(profile.threads())
        0
        """
        return frames.of_threads(self._report["callpaths"])

    @property
    def _source(self) -> tuple[Path, str, int]:
        return self.path, reports.name_of(self.path), self.limit_bytes

    @cached_property
    def _report(self) -> dict[str, Any]:
        return reports.data(self._source, "callpath", None)

    def to_hatchet(self, *, columns: tuple[str, ...] = ("visits",)) -> GraphFrame:
        """Returns a Hatchet `GraphFrame` with an index of node and rank.

        Every rank has a row for every node, with zeros if it did not visit the node, as in the
        frames of Hatchet's own readers. `time` (exclusive) and `time (inc)` are in seconds, as
        usual in Hatchet. `columns` are columns of `dataframe` to be added. Needs the package
        `llnl-hatchet`, or UMD's `hatchet`.
        """
        return graphframe.build(self.callpaths, self.manifest, self._reader, columns)
