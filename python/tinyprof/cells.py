"""Cells: the values of each callpath on each rank, over all executions."""

from __future__ import annotations

import numpy as np

from ._native import Reader

_FEW = ("visits", "sum", "exclusive")
_ALL = ("min", "max", "sum_variance")


class Cells:
    """Columns of a profile's cells, callpath by callpath in a given order, then rank by rank."""

    def __init__(
        self,
        reader: Reader,
        order: list[int],
        ranks: range,
        *,
        all_columns: bool = False,
        seconds: bool = False,
        dense: bool = False,
    ) -> None:
        """Reads the cells, with the callpaths in the given `order` of rows.

        `ranks` are those of the reader's parts. Minima, maxima and variances are read only with
        `all_columns`. If a rank did not visit a callpath, the cell is left out, or filled with
        zeros if `dense` is set. Sums and exclusive times are integers in nanoseconds, or floats in
        seconds if `seconds` is set.
        """
        counts, has_ranks, data = reader.cells(order, len(ranks), all_columns, seconds, dense)
        names = _FEW + (("rank",) if has_ranks else ()) + (_ALL if all_columns else ())
        #: How many cells each callpath has.
        self.counts = np.asarray(counts, np.int64)
        table = np.frombuffer(data, np.uint64).reshape(len(names), int(self.counts.sum()))
        self._columns = dict(zip(names, table))
        for name in ("sum", "exclusive") if seconds else ():
            self._columns[name] = self._columns[name].view(np.float64)
        if all_columns:
            self._columns["sum_variance"] = self._columns["sum_variance"].view(np.float64)
        # pandas uses codes of the smallest type that holds them, and copies all others.
        kind = _code_type(ranks.stop)
        if has_ranks:
            self.rank_codes = self._columns.pop("rank").astype(kind)
        else:
            self.rank_codes = np.tile(np.arange(ranks.start, ranks.stop, dtype=kind), len(order))
        self.callpath_codes = np.repeat(np.arange(len(order), dtype=_code_type(len(order))), self.counts)

    def column(self, name: str) -> np.ndarray:
        """Returns a column by its name in `Profile.dataframe`."""
        if name == "mean_ns":
            return self._columns["sum"] / np.maximum(self._columns["visits"], 1)
        if name == "standard_error_ns":
            return np.sqrt(self._columns["sum_variance"])
        return self._columns[name.removesuffix("_ns")]


def _code_type(levels: int) -> type:
    return np.int8 if levels < 127 else np.int16 if levels < 32_767 else np.int32
