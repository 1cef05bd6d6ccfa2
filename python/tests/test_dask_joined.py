"""Frames of Dask that need something of all parts are those of pandas, too."""

from __future__ import annotations

import dask
import pandas as pd
import pytest

import tinyprof
import tinyprof.dask
from conftest import frozen, reported
from test_dask import eager, in_order
from tinyprof import joined


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def test_metrics_are_columns_of_all_partitions():
    path = frozen("1.1")
    profile = tinyprof.dask.read(path)
    expected = in_order(tinyprof.read(path).dataframe().reset_index())
    names = [column for column in expected.columns if column.startswith("metric ")]
    assert names == ["metric bytes", "metric bytes values"]
    expected[names] = expected[names].astype(float)
    for metrics in (True, ["bytes"]):
        frame = profile.dataframe(metrics=metrics)
        parts = dask.compute(*frame.to_delayed())
        assert len(parts) == 2 and all(part.dtypes.equals(expected.dtypes) for part in parts)
        pd.testing.assert_frame_equal(in_order(pd.concat(parts)), expected)
    # The sums are those of the report, and what nobody has recorded is missing.
    sums = profile.dataframe(metrics=["bytes", "cells"]).groupby("callpath").sum(min_count=1).compute()
    assert sums["metric cells"].isna().all()
    for name, row in reported(path).items():
        found = sums.loc[name, "metric bytes"]
        metric = row["metrics"].get("bytes")
        assert pd.isna(found) if metric is None else found == metric["sum"], name
    both = tinyprof.dask.read_all([frozen("1.0"), path]).dataframe(metrics=True)
    assert both.columns[-2:].tolist() == names and both.npartitions == 4


def test_causes_are_named_as_another_part_has_described_them(monkeypatch):
    path = frozen("1.1-causes")
    expected = in_order(eager(path, "delay_costs"))
    assert {"gap", "exclusive"} <= set(expected["cause"])
    # Each part describes some activities that the other one does not.
    whole = joined._activities

    def some(part):
        return {number: of for number, of in whole(part).items() if number % 2 == part.first_rank // 2 % 2}

    monkeypatch.setattr(joined, "_activities", some)
    pd.testing.assert_frame_equal(in_order(tinyprof.dask.read(path).delay_costs().compute()), expected)


@pytest.mark.parametrize("rank", [None, 0, 1, 2, 7])
def test_the_critical_path_is_that_of_all_parts(rank):
    path = frozen("1.1-causes")
    found = tinyprof.dask.read(path).critical_path(rank).compute()
    pd.testing.assert_frame_equal(found, tinyprof.read(path).critical_path(rank).reset_index(drop=True))
    both = tinyprof.dask.read_all([path, frozen("1.1")]).critical_path(rank)
    assert both.npartitions == 2
    assert len(both.compute()) == len(found)
