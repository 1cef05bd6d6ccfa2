"""The numbers are those of the command `tinyprof report --json`."""

from __future__ import annotations

import pytest

import tinyprof
from conftest import VERSIONS, frozen


@pytest.mark.parametrize("version", ["0.1", *VERSIONS])
def test_sums_over_ranks_are_those_of_the_report(version, report):
    profile, expected = tinyprof.read(frozen(version)), report(frozen(version))
    assert expected["ranks"] == profile.manifest.ranks
    assert expected["losses"] == profile.losses
    table = profile.dataframe()
    seen = 0
    for callpath, row in zip(profile.callpaths, expected["callpaths"], strict=True):
        assert (row["path"], row["parent"], int(row["id"], 16)) == (callpath.path, callpath.parent, callpath.id)
        assert row["site"]["constants"] == callpath.constants
        cells = table[table.index.get_level_values("callpath") == callpath.path]
        assert (row["ranks"], row["visits"]) == (len(cells), cells["visits"].sum())
        seen += len(cells)
        for name, column in (("inclusive_ns", "sum_ns"), ("exclusive_ns", "exclusive_ns")):
            values, spread = cells[column], row[name]
            if values.empty:
                # A callpath may have messages, and no visit that was recorded.
                assert spread is None
                continue
            assert (spread["sum"], spread["min"], spread["max"]) == (values.sum(), values.min(), values.max())
            assert spread["mean"] == pytest.approx(values.mean(), rel=1e-12)
            # The first of equal ranks, as in pandas.
            assert spread["max_rank"] == values.idxmax()[1]
        for key, metric in row["metrics"].items():
            assert metric["sum"] == cells[f"metric {key}"].sum()
            assert metric["values"] == cells[f"metric {key} values"].sum()
    assert seen == len(table)
