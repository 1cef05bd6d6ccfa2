"""A profile, as returned by `read`."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from . import causes, events, frames, graphframe, reports
from ._native import Reader
from .callpath import Callpath, from_rows
from .cells import Cells
from .manifest import CLOCK_FACTS, LOSSES, PROCESSOR_FACTS, Manifest

if TYPE_CHECKING:
    from hatchet import GraphFrame

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


class Profile:
    """The values of all ranks of one run, decoded on demand."""

    def __init__(self, path: Path, limit_bytes: int) -> None:
        """Opens a profile. Use `read` instead."""
        self.path = path
        self.limit_bytes = limit_bytes
        self.manifest = Manifest(path)
        manifest = self.manifest
        self._reader = Reader(path, manifest.callpaths, manifest.rows, manifest.parts, limit_bytes)

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
        over its callpaths; with `line`, samples are told apart by line.
        `metric` sorts by `inclusive`, `exclusive`, `visits` or the key of a metric. `all` folds
        nothing. Raises `KeyError` if there is no such metric.

        >>> profile.report().splitlines()[0]
        'format-1.1: 3 ranks on 2 hosts, 2 roots of at most 8 executions, 8 callpaths, 231 ms per rank'
        """
        return reports.text(self._source, by, metric, width, all)

    def report_json(self, *, by: str = "callpath", metric: str | None = None) -> dict[str, Any]:
        """Returns the object that `tinyprof report --json` prints; docs/schema.json describes it.

        Raises `KeyError` if there is no such metric.

        >>> profile.report_json()["callpaths"][0]["path"]
        'main'
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

    def efficiency(self) -> dict[str, float | None] | None:
        """Returns how well the ranks were used, as in `report_json`.

        The keys: `parallel`, `load_balance`, `communication`, `serialisation` and `transfer` of
        POP, and `io_share`; docs/efficiency.md explains them. `None` if no region declares what it does,
        or for a number that the profile does not have the data for.

        >>> round(profile.efficiency()["load_balance"], 3)
        0.975
        """
        return copy.copy(self._report["efficiency"])

    @property
    def _source(self) -> tuple[Path, str, int]:
        return self.path, reports.name_of(self.path), self.limit_bytes

    @cached_property
    def _report(self) -> dict[str, Any]:
        return reports.data(self._source, "callpath", None)

    @cached_property
    def callpaths(self) -> list[Callpath]:
        """Every callpath of the run, callers before their callees."""
        return from_rows(self._reader.callpaths())

    @cached_property
    def ranks(self) -> pd.DataFrame:
        """The facts of each rank: host, process id, threads, peak memory in bytes, and losses."""
        hosts, columns, losses = self._reader.facts()[:3]
        of_ranks = [host for host, count in hosts for _ in range(count)]
        table = pd.DataFrame({"host": pd.Series(of_ranks, dtype=object), **frames.arrays(columns)})
        for name, column in zip(LOSSES, losses):
            table[name] = frames.arrays(column)["number"]
        return table.rename_axis("rank")

    @cached_property
    def clocks(self) -> pd.DataFrame:
        """The facts of each rank's clock: by how much measuring has delayed it, and how sure that is.

        All are 0 if the level of the run was not `messages`. Columns: `companions` (messages and
        collective operations of which the time of the partner is known), `own_intrusion_ns` and
        `intrusion_ns` (the delay by the rank itself, and in all), `uncertainty_ns`, `ideal_ns` (useful
        time along the longest chain of causes), `offset_uncertainty_ns`, `companions_missing`,
        `companions_unclear`, `contradictions`, `inversions`, `unfollowed_ns` (time in MPI calls whose
        partners are not followed), `propagated_uncertainty_ns` (the part of `uncertainty_ns` that
        came through others), `companions_left` (of messages that nobody was seen to receive).
        """
        return self._facts(CLOCK_FACTS, 3)

    @cached_property
    def processors(self) -> pd.DataFrame:
        """The processor time of each rank, and the time for which it was kept waiting for a processor.

        Columns: `wall_ns` (since measurement began; 0 if nothing is known) and `cpu_ns` (processor
        time of the process meanwhile); of the threads that entered a region or called MPI,
        `threads_ns` (the time for which they were followed, added up; 0 if nothing is known of
        them), `threads_cpu_ns`, `delay_ns` (ready to run, but without a processor: the run-queue
        delay), `thread_cpu_max_ns` (of the thread that had most) and `threads_unread`;
        of all threads at the end, `threads_at_work` (those with at least a hundredth of the
        processor time of the busiest) and `processors_allowed` (that they may use); 0: unknown.
        """
        return self._facts(PROCESSOR_FACTS, 4)

    def _facts(self, names: tuple[str, ...], at: int) -> pd.DataFrame:
        columns = self._reader.facts()[at]
        table = {name: frames.arrays(column)["number"] for name, column in zip(names, columns)}
        return pd.DataFrame(table).rename_axis("rank")

    @property
    def metadata(self) -> dict[str, Any]:
        """The facts of the run under Adiak's keys.

        Examples: `user`, `launchdate` (s since 1970), `executable`, `jobsize`.
        """
        return self.manifest.metadata

    @property
    def precision(self) -> str:
        """The precision of times: `exact` or `8bit`.

        Exact times are as measured. 8-bit times are rounded; each is off by at most 0.4 %.
        """
        return self.manifest.precision

    @property
    def losses(self) -> dict[str, int]:
        """The counts of dropped, folded and open data, over all ranks. All zero in a usual run."""
        return self.manifest.losses

    def row(self, path: str | int | Callpath) -> int:
        """Returns the row of a callpath, given by its path, its row, or as a `Callpath`.

        Raises `KeyError` if there is none, or if several callpaths have this path. In the second
        case, the message lists their rows, to be used instead of the path.
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
        """Returns a frame with a row for each callpath and rank that visited it.

        Values are over all executions. Columns:

        * `visits`
        * `sum_ns` (inclusive), `exclusive_ns` (without the callees on the same rank)
        * `min_ns`, `max_ns`, `mean_ns` of a visit (inclusive)
        * `standard_error_ns` of the sum, 0 if every visit was timed
        * for each key of a varying metric, `metric KEY` (sum of the values) and `metric KEY values`
          (number of values)
        """
        rows = list(range(len(self.callpaths)))
        cells = Cells(self._reader, rows, self.manifest.ranks, all_columns=True)
        table = frames.of_cells(self.callpaths, self.manifest.ranks, cells)
        if not metrics or not self._reader.rows_with_metrics():
            return table
        return table.join(self._metric_columns())

    def executions(self, path: str | int | Callpath) -> pd.DataFrame:
        """Returns a frame with a row for each rank and execution that visited a callpath.

        Columns: `executions`, the number of executions that the row covers (more than 1 if a long
        run was folded); `visits`, `sum_ns`, `exclusive_ns`, `min_ns`, `max_ns`, `sum_squares_ns2`,
        `sum_variance_ns2`.
        """
        row = self.row(path)
        table = frames.of_summaries(self._reader.times(row)[0], "_ns")
        children = [c.row for c in self.callpaths if c.parent == row]
        below = [frames.of_summaries(self._reader.times(child)[0], "_ns") for child in children]
        return frames.with_exclusive(table, below)

    def series(self, path: str | int | Callpath) -> pd.DataFrame:
        """Returns the values of a callpath of mode `each`, rank by rank in the order of visits.

        Columns: `visits` (more than 1 if a long series was folded), `sum_ns`, `min_ns`, `max_ns`.
        Times are inclusive. For exclusive times, use `executions`: a profile does not record which
        visits of the callees belong to which visit of a callpath.
        """
        return frames.of_series(self._reader.times(self.row(path))[1], "_ns")

    def series_arrays(self, path: str | int | Callpath) -> dict[int, np.ndarray]:
        """Returns the series of a callpath as one array of `sum_ns` for each rank.

        Executions and numbers of visits are left out.
        """
        return frames.by_rank(self._reader.times(self.row(path))[1])

    def metrics(self, path: str | int | Callpath) -> dict[str, pd.DataFrame]:
        """Returns the varying metrics of a callpath, by key.

        Each frame has a row for each rank and execution, in the metric's own unit.
        """
        found = self._reader.metrics(self.row(path))
        return {key: frames.of_summaries(summaries, "") for key, (summaries, _) in found.items()}

    def metric_series(self, path: str | int | Callpath, key: str) -> pd.DataFrame:
        """Returns the series of one metric of a callpath.

        Raises `KeyError` if the callpath has no metric under this key.
        """
        return frames.of_series(self._reader.metrics(self.row(path))[key][1], "")

    def messages(self, path: str | int | Callpath | None = None) -> pd.DataFrame:
        """Returns a frame with a row for each callpath, rank, kind, partner and size of messages.

        Without `path`, it has the messages of all callpaths. Columns:

        * `kind`: `message_out`, `message_in`, `collective_out`, `collective_in`, `one_sided_out`,
          `one_sided_in`, `file_out`, `file_in`
        * `partner`: for `message_*` and `one_sided_*`, a rank of the world, or -1 if it is outside of
          the world or not recorded; for `collective_*` the number of ranks; for `file_*` 0
        * `size_class`: the number of binary digits of a transfer's bytes
        * `count` (transfers) and `bytes` (of all of them together)
        """
        rows = self._reader.rows_with_messages() if path is None else [self.row(path)]
        found = {row: self._reader.messages(row) for row in rows}
        return frames.of_messages(self.callpaths, self.manifest.ranks, found)

    def edges(self, path: str | int | Callpath | None = None) -> pd.DataFrame:
        """Returns a frame with a row for each edge that ends at a callpath on a rank.

        Without `path`, it has the edges to all callpaths. Columns:

        * `kind`: `flow` (from the call before), `completion` (from the call that made the request), or
          one of those that wait for another rank: `message`, `message_to_any`, `barrier`,
          `all_to_all`, `from_root`, `to_root`, `scan`, `receiver`, `fence`, `post`, `complete`, `lock`
        * `partner`: the rank of the world that the edge comes from, or -1 if it is not known
        * `from`: the path of the callpath that the edge comes from, or `None` if it is not known
        * `count` and `bytes`
        * `sum_ns`, `min_ns`, `max_ns`, `sum_squares_ns2`: the waiting; for `flow` the time between the
          calls, for `completion` the time since the request
        * `compensated_ns` (the waiting without measurement), `transfer_ns` (the time after the partner
          had come), `wrong_order_ns`, `late_receiver_ns`
        * `order`: the position of the first instance among all edges of the rank
        """
        rows = self._reader.rows_with_edges() if path is None else [self.row(path)]
        found = {row: self._reader.edges(row) for row in rows}
        return frames.of_edges(self.callpaths, self.manifest.ranks, found)

    def delay_costs(self) -> pd.DataFrame:
        """Returns a frame with a row for each callpath, rank that waited there, and cause.

        It is empty below level `messages`. Columns:

        * `cause_rank`: the rank that was late, or -1 if nothing explains the waiting
        * `cause`: `gap` (between two calls), `call` (without its waiting), `exclusive` (the time of a
          callpath), `no_processor` (it could have run, but others did on its processor), `other`
          (activities too small to be kept apart), `unknown` (no rank has described it) or
          `unexplained`
        * `from` and `to`: of a gap the paths of the calls before and after it, where `None` is the
          begin, or the end; else `to` is the path of the callpath
        * `direct_ns`, `direct_count`: waiting for the rank itself, which took longer
        * `propagated_ns`, `propagated_count`: waiting for ranks that had waited for it

        Of causes that were too small to be kept, the sums are in `cause_facts`.
        """
        return causes.costs(self._reader.causes(), self.callpaths, self.manifest.ranks)

    def critical_path(self, rank: int | None = None) -> pd.DataFrame:
        """Returns the chain of activities that the run time follows from, the longest part first.

        It is the path that ends at the rank that ended last, or at `rank`. Columns: `rank`, `cause`,
        `from` and `to` as in `delay_costs`, and `ns`, whose sum is the time since the ranks began.
        """
        return causes.path(self._reader.causes(), self.callpaths, rank)

    def cause_facts(self) -> pd.DataFrame:
        """Returns sums and losses of the causes of waiting: a row for each rank that knows any."""
        return causes.facts(self._reader.causes())

    def events(self) -> pd.DataFrame:
        """Returns the visits that were kept one by one, in the order of their begins on each thread.

        Columns: `rank`, `thread`, `path` (`None` if the callpath was lost), `depth` (roots have 1),
        `begin_ns` (since the start of the rank) and `duration_ns`, and `monotonic_ns`, the begin on
        the clock of the rank's host. Empty unless the program ran with `TINYPROF_EVENTS`.
        """
        return events.visits(self._reader.events(), self.callpaths)

    def message_events(self) -> pd.DataFrame:
        """Returns the ends of messages that were kept one by one, in their order on each thread.

        Columns: `rank`, `thread`, `path` of the call, `at_ns` (when the call began, for a message
        sent, or ended, for one received; since the start of the rank), `received` (else it was
        sent), `partner` (the rank at the other end; -1: outside of the world), `communicator`,
        `tag`, `number`, `bytes`, and `monotonic_ns`, the time on the clock of the rank's host. Both
        ends of a message have the same `communicator`, `tag` and `number`, and each has the rank of
        the other as its `partner`; no other message has. An end whose other end is missing was
        lost there, or not followed. Empty unless the program ran with `TINYPROF_EVENTS`, at level
        `messages`.
        """
        return events.messages(self._reader.events(), self.callpaths)

    def event_losses(self) -> pd.DataFrame:
        """Returns how many events were kept, and lost as memory was full: by thread, class and depth.

        Columns: `rank`, `thread`, `policy`, `class` (`root`, `call`, `around_calls`,
        `computation`, `message`), `depth`, `kept`, `lost`, and the begin of the first and the end
        of the last event lost, `lost_first_ns` and `lost_last_ns`.
        """
        return events.losses(self._reader.events())

    def _metric_columns(self) -> pd.DataFrame:
        found = {row: self._reader.metrics(row) for row in self._reader.rows_with_metrics()}
        return frames.of_metrics(self.callpaths, self.manifest.ranks, found)

    def to_hatchet(self, *, columns: tuple[str, ...] = ("visits",)) -> GraphFrame:
        """Returns a Hatchet `GraphFrame` with an index of node and rank.

        Every rank has a row for every node, with zeros if it did not visit the node, as in the
        frames of Hatchet's own readers. `time` (exclusive) and `time (inc)` are in seconds, as
        usual in Hatchet. `columns` are columns of `dataframe` to be added. Needs the package
        `llnl-hatchet`, or UMD's `hatchet`.
        """
        return graphframe.build(self.callpaths, self.manifest, self._reader, columns)
