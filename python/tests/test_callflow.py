"""`--to callflow`, read by LLNL's CallFlow: its SuperGraph must have our callers, callees and times.

CallFlow 1.3.0 is of 2021. Three things stand between it and today's packages, and none is our file: its
statistics need packages that no reader needs; Hatchet's paths were of frames then, not nodes; and its
reader of Caliper's files told each node its parent.
"""

import sys
from collections import defaultdict
from unittest import mock

import pytest
from export_profiles import big, golden, hostile, report, roots, run, truth
from hatchet.node import Node

OTHERS = ["sklearn", "sklearn.cluster", "sklearn.manifold", "statsmodels", "statsmodels.nonparametric.api"]


def frames(node):
    """The frames from the root of a tree to a node."""
    above = frames(node.parents[0]) if node.parents else ()
    return (*above, node.frame)


@pytest.fixture
def super_graph(monkeypatch):
    """CallFlow's reader of a file."""
    for name in OTHERS:
        monkeypatch.setitem(sys.modules, name, mock.MagicMock())
    monkeypatch.setattr(Node, "paths", lambda self: [frames(self)])
    from callflow import SuperGraph

    from_config = SuperGraph.from_config

    def with_parents(*arguments):
        frame = from_config(*arguments)
        for node in [node for root in frame.graph.roots for node in root.traverse()]:
            for child in node.children:
                child.parents = [node]
        return frame

    monkeypatch.setattr(SuperGraph, "from_config", staticmethod(with_parents))

    def read(file):
        graph = SuperGraph(file.stem)
        graph.create(path=str(file), profile_format="caliper_json")
        return graph

    return read


def exported(directory, *profiles):
    run("export", *profiles, "--to", "callflow", "-o", directory / "callflow")
    return sorted((directory / "callflow").iterdir())


def name_of(row):
    return row["name"].replace("/", "\u2215").replace("\0", "\u2400")


@pytest.mark.parametrize("make", [lambda _: golden(), hostile, big, roots], ids=["golden", "hostile", "big", "roots"])
def test_callers_callees_and_times_are_ours(make, tmp_path, super_graph):
    profile = make(tmp_path)
    (file,) = exported(tmp_path, profile)
    graph = super_graph(file)
    rows = report(profile)["callpaths"]
    # CallFlow joins callpaths of one name.
    expected = defaultdict(int)
    names = {row["id"]: name_of(row) for row in rows}
    for (callpath, rank), (_, inclusive_ns, _) in truth(profile).items():
        expected[names[callpath], rank] += inclusive_ns
    found = defaultdict(int)
    for row in graph.dataframe.reset_index().to_dict("records"):
        found[graph.get_name(row["name"], "callsite"), row["rank"]] += int(row["time_ns (inc)"])
    assert {key: ns for key, ns in found.items() if ns} == expected
    edges = {(name_of(rows[row["parent"]]), name_of(row)) for row in rows if row["parent"] is not None}
    assert set(graph.nxg.edges) == edges


def test_several_profiles_are_an_ensemble(tmp_path, super_graph):
    files = exported(tmp_path, big(tmp_path), roots(tmp_path))
    assert [file.name for file in files] == ["big.json", "roots.json"]
    assert [len(super_graph(file).nxg) for file in files] == [2, 4]
