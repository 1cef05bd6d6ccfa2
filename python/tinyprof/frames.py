"""Builds pandas frames from columns."""

from __future__ import annotations

from typing import Any, Iterable

import numpy as np
import pandas as pd

from .callpath import Callpath

#: What the reader gives: by name, the letter of a numpy type and the bytes.
Native = dict[str, tuple[str, bytearray]]


def arrays(native: Native) -> dict[str, np.ndarray]:
    """Returns the columns as arrays that share the reader's memory."""
    return {name: np.frombuffer(data, letter) for name, (letter, data) in native.items()}


def index_of(callpaths: list[Callpath], ranks: int, rows: np.ndarray, rank: np.ndarray) -> pd.MultiIndex:
    """Returns an index of callpath and rank.

    It is made of levels and codes, so the text of a path is processed once, not once per rank.
    """
    paths = [callpath.path for callpath in callpaths]
    if len(set(paths)) < len(paths):
        # Levels must be unique, so callpaths of different regions with the same names get their row
        # after the path.
        seen = pd.Series(paths).duplicated(keep=False)
        paths = [f"{path} [row {row}]" if twice else path for row, (path, twice) in enumerate(zip(paths, seen))]
    levels = [pd.Index(paths, dtype=object), pd.RangeIndex(ranks)]
    return pd.MultiIndex(levels, [rows, rank], names=["callpath", "rank"], verify_integrity=False)


def of_cells(callpaths: list[Callpath], ranks: int, cells) -> pd.DataFrame:
    """Returns the frame of `Profile.dataframe` without metrics."""
    names = ("visits", "sum_ns", "exclusive_ns", "min_ns", "max_ns", "mean_ns", "standard_error_ns")
    index = index_of(callpaths, ranks, cells.callpath_codes, cells.rank_codes)
    return pd.DataFrame({name: cells.column(name) for name in names}, index=index, copy=False)


def of_summaries(native: Native, unit: str) -> pd.DataFrame:
    """Returns a frame with a row for each rank and execution.

    `unit` is the suffix of the column names.
    """
    columns = arrays(native)
    index = pd.MultiIndex.from_arrays([columns["rank"], columns["execution"]], names=["rank", "execution"])
    table = {"executions": columns["executions"], "visits": columns["visits"]}
    table |= {f"{name}{unit}": columns[name] for name in ("sum", "min", "max")}
    table[f"sum_squares{unit and '_ns2'}"] = columns["sum_squares"]
    if unit:
        table["sum_variance_ns2"] = columns["sum_variance"]
    return pd.DataFrame(table, index=index)


def with_exclusive(table: pd.DataFrame, below: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Adds exclusive times to the summaries of a callpath; `below` are those of its callees.

    If a long run was folded, a child's summary is counted in the parent's summary that contains its
    first execution.
    """
    place = _place(table)
    children_ns = np.zeros(len(table), np.uint64)
    for child in below:
        at = np.searchsorted(place, _place(child), side="right") - 1
        ranks = child.index.get_level_values("rank").to_numpy()
        known = at >= 0
        known[known] = table.index.get_level_values("rank").to_numpy()[at[known]] == ranks[known]
        np.add.at(children_ns, at[known], child["sum_ns"].to_numpy()[known])
    sums_ns = table["sum_ns"].to_numpy()
    exclusive_ns = np.where(children_ns < sums_ns, sums_ns - children_ns, np.uint64(0))
    table.insert(table.columns.get_loc("sum_ns") + 1, "exclusive_ns", exclusive_ns)
    return table


def _place(table: pd.DataFrame) -> np.ndarray:
    rank, execution = (table.index.get_level_values(name).to_numpy() for name in ("rank", "execution"))
    return rank.astype(np.uint64) << np.uint64(32) | execution.astype(np.uint64)


def of_series(native: Native, unit: str) -> pd.DataFrame:
    """Returns a frame with a row for each element of a series.

    `visit` is the number of visits (or values) before the element in its rank's series.
    """
    columns = arrays(native)
    rank, visits = columns["rank"], columns["visits"]
    before = np.cumsum(visits) - visits
    if len(rank):
        firsts = np.flatnonzero(np.concatenate(([True], rank[1:] != rank[:-1])))
        before = before - np.repeat(before[firsts], np.diff(np.append(firsts, len(rank))))
    index = pd.MultiIndex.from_arrays(
        [rank, columns["execution"], before], names=["rank", "execution", "visit"]
    )
    table = {"visits": visits} | {f"{name}{unit}": columns[name] for name in ("sum", "min", "max")}
    return pd.DataFrame(table, index=index)


def by_rank(native: Native) -> dict[int, np.ndarray]:
    """Returns the sums of a series as one array for each rank."""
    columns = arrays(native)
    ranks, firsts = np.unique(columns["rank"], return_index=True)
    return dict(zip(ranks.tolist(), np.split(columns["sum"], firsts[1:]) if len(ranks) else []))


#: Kinds of messages, by their numbers.
KINDS = (
    "message_out",
    "message_in",
    "collective_out",
    "collective_in",
    "one_sided_out",
    "one_sided_in",
    "file_out",
    "file_in",
)

#: The stored partner where it is outside of the world, or not recorded.
_ANY_PARTNER = 2**31 - 1


def of_messages(callpaths: list[Callpath], ranks: int, found: dict[int, Native]) -> pd.DataFrame:
    """Returns the frame of `Profile.messages`."""
    types = {"rank": "u4", "kind": "u4", "partner": "i4", "size_class": "u4", "count": "u8", "bytes": "u8"}
    rows, columns = _sorted(types, found, ("kind", "partner", "size_class"))
    rank, kind = columns.pop("rank"), columns["kind"]
    is_relative = np.isin(kind, (0, 1, 4, 5))
    columns["partner"] = np.where(is_relative, _absolute(columns["partner"], rank), columns["partner"])
    columns["kind"] = pd.Categorical.from_codes(kind.astype(np.int8), list(KINDS))
    return pd.DataFrame(columns, index=index_of(callpaths, ranks, rows, rank))


#: Kinds of edges, by their numbers.
EDGE_KINDS = (
    "flow",
    "completion",
    "message",
    "message_to_any",
    "barrier",
    "all_to_all",
    "from_root",
    "to_root",
    "scan",
    "receiver",
    "fence",
    "post",
    "complete",
    "lock",
)

#: The columns of edges, with the letters of their numpy types.
EDGE_TYPES = {
    "rank": "u4",
    "kind": "u4",
    "partner": "i4",
    "from": "u8",
    "count": "u8",
    "bytes": "u8",
    "sum_ns": "u8",
    "min_ns": "u8",
    "max_ns": "u8",
    "sum_squares_ns2": "f8",
    "compensated_ns": "u8",
    "transfer_ns": "u8",
    "wrong_order_ns": "u8",
    "late_receiver_ns": "u8",
    "order": "u4",
}


def of_edges(callpaths: list[Callpath], ranks: int, found: dict[int, Native]) -> pd.DataFrame:
    """Returns the frame of `Profile.edges`."""
    rows, columns = _sorted(EDGE_TYPES, found, ("kind", "partner", "from"))
    rank = columns.pop("rank")
    columns["partner"] = _absolute(columns["partner"], rank)
    columns["kind"] = pd.Categorical.from_codes(columns["kind"].astype(np.int8), list(EDGE_KINDS))
    known = {callpath.id: callpath for callpath in callpaths}
    origins, places = np.unique(columns["from"], return_inverse=True)
    named = np.empty(len(origins), object)
    for number, origin in enumerate(origins.tolist()):
        named[number] = known[origin].path if origin in known else None
    columns["from"] = named[places]
    return pd.DataFrame(columns, index=index_of(callpaths, ranks, rows, rank))


def _sorted(
    types: dict[str, str], found: dict[int, Native], key: tuple[str, str, str]
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Returns the rows of the dictionary and the columns of several callpaths, rank by rank.

    In the files, the rows of one key are together.
    """
    parts = [arrays(native) for native in found.values()]
    columns = {
        name: np.concatenate([np.empty(0, letter), *(part[name] for part in parts)]) for name, letter in types.items()
    }
    rows = np.repeat(np.fromiter(found, np.int64, len(found)), [len(part["rank"]) for part in parts])
    order = np.lexsort((*(columns[name] for name in reversed(key)), columns["rank"], rows))
    return rows[order], {name: column[order] for name, column in columns.items()}


def _absolute(partner: np.ndarray, rank: np.ndarray) -> np.ndarray:
    """Returns the partners as ranks of the world; -1 where they are not known."""
    partner = partner.astype(np.int64)
    return np.where(partner == _ANY_PARTNER, -1, partner + rank)


def of_metrics(callpaths: list[Callpath], ranks: int, found: dict[int, dict]) -> pd.DataFrame:
    """Returns the sum and the number of the values of each metric.

    There is a row for each callpath and rank that recorded any.
    """
    columns: dict[str, list[pd.Series]] = {}
    for row, metrics in found.items():
        for key, (summaries, _) in metrics.items():
            table = of_summaries(summaries, "").groupby(level="rank", sort=True)[["sum", "visits"]].sum()
            rank = table.index.to_numpy()
            index = index_of(callpaths, ranks, np.full(len(rank), row), rank)
            for name, column in ((f"metric {key}", "sum"), (f"metric {key} values", "visits")):
                columns.setdefault(name, []).append(pd.Series(table[column].to_numpy(), index=index))
    return pd.DataFrame({name: pd.concat(parts) for name, parts in columns.items()})


def of_threads(callpaths: list[dict[str, Any]]) -> pd.DataFrame:
    """Returns the frame of `Profile.threads`, from the callpaths of a report's JSON."""
    names = {"threads": "count", "busy": "busy"}
    names |= {name: name for name in ("longest_ns", "longest_rank", "imbalance", "largest_visit_ns")}
    rows = [callpath for callpath in callpaths if callpath["threads"]]
    table: dict[str, Any] = {"path": [row["path"] or row["name"] for row in rows]}
    for name, key in names.items():
        # Ranks and visits are whole numbers, and some are missing.
        kind = "Int64" if name in ("longest_rank", "largest_visit_ns") else float
        table[name] = pd.array([row["threads"][key] for row in rows], dtype=kind)
    return pd.DataFrame(table)
