"""GraphFrames, with whichever Hatchet is installed: scripts/python.sh runs this file with LLNL's and with UMD's."""

from __future__ import annotations

import os

import hatchet
import numpy as np
import pytest

import tinyprof
from conftest import VERSIONS, frozen
from tinyprof import graphframe
from tinyprof.callpath import Callpath


@pytest.fixture(params=VERSIONS)
def profile(request) -> tinyprof.Profile:
    return tinyprof.read(frozen(request.param))


def test_this_is_the_hatchet_that_was_asked_for():
    assert os.environ.get("TINYPROF_HATCHET", "") in hatchet.__file__


def test_each_row_is_the_profiles(profile):
    frame = profile.to_hatchet()
    table = profile.dataframe()
    assert frame.exc_metrics == ["time", "visits"] and frame.inc_metrics == ["time (inc)"]
    assert len(frame.dataframe) == len(profile.callpaths) * profile.manifest.ranks
    paths = {node: "<".join(above.frame["name"] for above in node.path()) for node in frame.graph.traverse()}
    for (node, rank), row in frame.dataframe.iterrows():
        assert row["name"] == node.frame["name"]
        if (paths[node], rank) not in table.index:
            assert (row["time"], row["time (inc)"], row["visits"]) == (0, 0, 0)
            continue
        cell = table.loc[(paths[node], rank)]
        assert row["time"] == pytest.approx(cell["exclusive_ns"] * 1e-9, rel=1e-15)
        assert row["time (inc)"] == pytest.approx(cell["sum_ns"] * 1e-9, rel=1e-15)
        assert row["visits"] == cell["visits"]


def test_the_index_is_sorted_and_made_of_codes(profile):
    index = profile.to_hatchet().dataframe.index
    assert index.names == ["node", "rank"] and index.is_monotonic_increasing and index.is_unique
    assert [code.dtype for code in index.codes] == [np.int8, np.int8]
    assert len(index.levels[0]) == len(profile.callpaths)


def test_hatchet_works_on_it(profile):
    frame = profile.to_hatchet()
    assert "steps" in frame.tree()
    long = frame.filter(lambda row: row["time (inc)"] > 1e-3)
    assert {node.frame["name"] for node in long.graph.traverse()} <= {"main", "steps", "outer", "inner"}
    frame.drop_index_levels()
    assert frame.dataframe.index.names == ["node"]
    query = frame.filter(["*", {"name": "steps"}])
    assert "steps" in query.tree() and "halo" not in query.tree()
    difference = profile.to_hatchet() - profile.to_hatchet()
    assert difference.dataframe["time"].abs().max() == 0


def test_more_columns_are_there_on_request(profile):
    frame = profile.to_hatchet(columns=("visits", "max_ns", "sum_ns"))
    assert frame.inc_metrics == ["time (inc)", "sum_ns"]
    table = profile.dataframe()
    for name in ("visits", "max_ns", "sum_ns"):
        assert frame.dataframe[name].sum() == table[name].sum()


def test_siblings_of_one_name_stay_apart():
    def callpath(row: int, parent: int | None, name: str, line: int) -> Callpath:
        site = dict(module="m", file="m.rs", line=line, column=1, site=row, kind="scope", mode="total")
        depth = 0 if parent is None else 1
        return Callpath(row, row, parent, depth, name, rank_local=False, constants={}, **site)

    rows = [callpath(0, None, "main", 1), *(callpath(at, 0, name, at) for at, name in ((1, "a"), (2, "a"), (3, "b")))]
    graph, nodes = graphframe.graph_of(rows)
    assert len(graph) == 4 and not graph.find_merges()
    assert "line" in nodes[1].frame.attrs and "line" not in nodes[3].frame.attrs
