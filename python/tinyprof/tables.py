"""The frames of the ranks of a profile, or of those of some of its parts."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from . import causes, commands, events, frames
from ._native import Reader
from .callpath import Callpath, from_rows
from .errors import near
from .cells import Cells
from .manifest import CLOCK_FACTS, LOSSES, PROCESSOR_FACTS


class Tables:
    """The values of neighbouring ranks, decoded on demand."""

    def __init__(self, path: Path, reader: Reader, ranks: range) -> None:
        """Takes the reader of some parts of the profile in the directory `path`, and their ranks."""
        self.path = path
        self._reader = reader
        self._ranks = ranks

    def __repr__(self) -> str:
        return f"<{len(self._ranks)} ranks of {str(self.path)!r} from {self._ranks.start} on>"

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
        return self._by_rank(table)

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
        return self._by_rank(pd.DataFrame(table))

    def _by_rank(self, table: pd.DataFrame) -> pd.DataFrame:
        first_rank = self._ranks.start
        return table.set_axis(pd.RangeIndex(first_rank, first_rank + len(table), name="rank"))

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
        raise KeyError(f"there is no callpath {path!r} in {self.path}; Profile.callpaths lists all{near(path, self._rows_by_path)}")

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
        cells = Cells(self._reader, rows, self._ranks, all_columns=True)
        table = frames.of_cells(self.callpaths, self._ranks.stop, cells)
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
        found = self._reader.metrics(self.row(path))
        if key not in found:
            known = ", ".join(map(repr, found)) or "none"
            raise KeyError(f"{path!r} has no metric {key!r}: it has {known}{near(key, found)}")
        return frames.of_series(found[key][1], "")

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
        return frames.of_messages(self.callpaths, self._ranks.stop, found)

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
        return frames.of_edges(self.callpaths, self._ranks.stop, found)

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
        return causes.costs(self._reader.causes(), self.callpaths, self._ranks.stop)

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

    def commands(self) -> pd.DataFrame:
        """Returns the commands that ranks were given with `tinyprof ctl`, by rank and date.

        Columns: `rank`, `command` (`record`, `hold`, ...), `done` (else it was refused, or the rank
        had not come to it), `by`, `date_ns` (since 1970-01-01 UTC, equal on all ranks), `at_ns`
        (since the start of the rank), `late_ns` (by how much later the rank obeyed; missing if it
        had not come), `lasted_ns` (missing if it was not over, or has begun nothing), `threads`,
        `argument` (the patterns of `filter` and `metrics`; else missing).
        """
        return commands.frame(self._reader.commands())

    def time_off(self) -> pd.DataFrame:
        """Returns for how long measuring was switched off, for each rank that was given commands.

        Columns: `rank`, `commands_without_room` (which are not in `commands`), `off_ns`.
        """
        return commands.off(self._reader.commands())

    def _metric_columns(self) -> pd.DataFrame:
        found = {row: self._reader.metrics(row) for row in self._reader.rows_with_metrics()}
        return frames.of_metrics(self.callpaths, self._ranks.stop, found)
