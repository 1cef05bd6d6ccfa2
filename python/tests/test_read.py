"""Frozen profiles of all versions hold what their recipe says."""

from __future__ import annotations

import typing

import numpy as np
import pandas as pd
import pytest

import tinyprof
from tinyprof import frames
from tinyprof.manifest import PROCESSOR_FACTS
from conftest import VERSIONS, frozen
from recipe import folded_ns, series_ns

EXACT = [version for version in VERSIONS if not version.endswith("8bit")]


@pytest.fixture(params=EXACT)
def profile(request) -> tinyprof.Profile:
    return tinyprof.read(frozen(request.param))


def test_the_facts_of_the_run_are_there(profile):
    assert profile.metadata["user"] == "ada" and profile.metadata["jobsize"] == 3
    assert profile.losses["visits_open"] == 3 and profile.losses["visits_not_timed"] == 24
    ranks = profile.ranks
    assert list(ranks["host"]) == ["node0", "node0", "node1"]
    assert list(ranks["process_id"]) == [100, 101, 102]
    assert list(ranks["visits_open"]) == [0, 1, 2]
    assert set(ranks["peak_memory_bytes"]) == {1 << 20}


def test_callpaths_have_parents_and_sites(profile):
    found = {callpath.path: callpath for callpath in profile.callpaths}
    io = found["main<io"]
    assert (io.kind, io.mode, io.rank_local, io.constants) == ("scope", "total", True, {"tag": "IO"})
    assert (io.file, io.line, io.column, io.module) == ("src/golden.rs", 7, 5, "golden")
    assert io.parent == found["main"].row and (io.depth, found["main"].depth) == (1, 0)
    assert found["main<steps"].mode == "each"


def test_a_series_is_that_of_the_program(profile):
    for rank in range(3):
        for path, unit_ns in (("main<steps", 1_000), ("main<halo", 1)):
            series = profile.series(path).loc[rank]
            assert list(zip(series.index.get_level_values("execution"), series["sum_ns"])) == series_ns(rank, unit_ns)
            assert list(series.index.get_level_values("visit")) == list(range(40))
            assert (series["visits"] == 1).all() and (series["min_ns"] == series["sum_ns"]).all()
            assert list(profile.series_arrays(path)[rank]) == [ns for _, ns in series_ns(rank, unit_ns)]
        folded = profile.series("main<folded").loc[rank]
        found = zip(folded.index.get_level_values(0), folded["sum_ns"], folded["min_ns"], folded["max_ns"])
        assert list(found) == folded_ns(rank)
        assert (folded["visits"] == 2).all()
    assert profile.series("main").empty and profile.series_arrays("main") == {}


def test_executions_add_up_the_series_and_have_exclusive_times(profile):
    main, children_ns = profile.executions("main"), 0
    for path in ("main<steps", "main<halo", "main<folded", "main<io"):
        children_ns = children_ns + profile.executions(path)["sum_ns"].reindex(main.index, fill_value=0)
    assert list(main["exclusive_ns"]) == list(main["sum_ns"] - children_ns)
    steps = profile.executions("main<steps")
    for (rank, execution), row in steps.iterrows():
        times_ns = [ns for at, ns in series_ns(rank, 1_000) if at == execution]
        assert (row["visits"], row["sum_ns"]) == (20, sum(times_ns))
        assert (row["min_ns"], row["max_ns"]) == (min(times_ns), max(times_ns))
        assert row["sum_squares_ns2"] == sum(float(ns) * ns for ns in times_ns)
    assert (steps["exclusive_ns"] == steps["sum_ns"]).all()


def test_estimates_and_metrics_of_one_rank_are_its_own(profile):
    io = profile.executions("main<io")
    assert list(io.index) == [(1, 1)]
    assert list(io[["visits", "sum_ns", "min_ns", "sum_variance_ns2"]].iloc[0]) == [9, 9_000, 1_100, 12.5]
    assert list(profile.metrics("main<io")) == ["bytes"]
    recorded = profile.metrics("main<io")["bytes"].loc[(1, 1)]
    assert list(recorded) == [1, 1, 1.5, 1.5, 1.5, 2.25]
    assert list(profile.metric_series("main<io", "bytes")["sum"]) == [1.5]
    assert profile.metrics("main") == {}
    table = profile.dataframe()
    assert table.loc[("main<io", 1), "metric bytes"] == 1.5
    assert table.loc[("main<io", 1), "metric bytes values"] == 1
    assert table["metric bytes"].count() == 1
    assert table.loc[("main<io", 1), "standard_error_ns"] == np.sqrt(12.5)
    assert ("main<io", 0) not in table.index


def recipe_messages(rank: int, number: int) -> list[list]:
    """The messages of `halo` (`number` is the rank) and `open` (7) on a rank, as rows."""
    rows = []
    for kind, name in enumerate(frames.KINDS):
        for partner in ((-1, 1) if kind % 2 == 0 else (0, 2**31 - 1)):
            size = 10**kind
            if kind in (0, 1, 4, 5):
                partner = -1 if partner == 2**31 - 1 else rank + partner
            rows.append([name, partner, size.bit_length(), 20, 20 * size + number])
        if kind == 0:
            rows.append([name, rank + 2, 0, 9, 0])
    return rows


@pytest.mark.parametrize("version", [version for version in VERSIONS if version >= "1.1"])
def test_messages_are_those_of_the_program(version):
    profile = tinyprof.read(frozen(version))
    halo = profile.messages("main<halo")
    for rank in range(3):
        assert halo.loc["main<halo", rank].values.tolist() == recipe_messages(rank, rank)
    every = profile.messages()
    assert len(every) == 2 * len(halo) == 2 * 3 * 17
    assert every.loc["main<open", 2].values.tolist() == recipe_messages(2, 7)
    assert profile.losses["messages_without_partner"] == 0


def recipe_edges(rank: int, path: str) -> list[list]:
    """The edges to a callpath on a rank, as rows. The last number is their order."""
    rows = []
    # The kinds that the stored profile has; there are more by now.
    for order, kind in enumerate(frames.EDGE_KINDS[:9]):
        ns, waits = 1_000 + order * 37 + rank, rank if order > 1 else 0
        partner = rank if order < 2 else (-1 if order % 3 == 2 else rank - 1)
        both = (ns, ns + 1024)
        waiting = sum(both) + 5 - 3 * waits if waits else 0
        squares = float(sum(time * time for time in both))
        times = [sum(both), *both, squares, waiting, 300 * waits, 20 * waits, waits]
        rows.append([kind, partner, path if order % 3 == 0 else None, 2, 168, *times, order])
    return rows


def test_edges_and_clocks_are_those_of_the_program():
    profile = tinyprof.read(frozen("1.1-edges"))
    every = profile.edges()
    assert len(every) == 9 * len(every.index.unique())
    for rank in range(3):
        for path in ("main<halo", "main<open", "outer<inner"):
            found = profile.edges(path).loc[path, rank]
            assert found.values.tolist() == recipe_edges(rank, path)
            assert found.equals(every.loc[path, rank])
        # Later versions have added facts, which are zero in this profile.
        facts = profile.clocks.loc[rank].tolist()
        assert facts[:10] == list(range(rank, rank + 10)) and not any(facts[10:])
    assert list(profile.clocks.columns)[9:] == [
        "inversions",
        "unfollowed_ns",
        "propagated_uncertainty_ns",
        "companions_left",
    ]
    assert list(profile.ranks["edges_without_partner"]) == [3, 3, 3]


def test_causes_are_those_of_the_program():
    profile = tinyprof.read(frozen("1.1-causes"))
    costs = profile.delay_costs()
    assert list(costs.index.get_level_values("rank")) == [0] * 5 + [2] * 5
    of_last = costs.loc["main<halo", 2]
    assert of_last["cause_rank"].tolist() == [2, 2, 1, 0, -1]
    assert of_last["cause"].tolist() == ["gap", "exclusive", "unknown", "other", "unexplained"]
    assert of_last["from"].tolist()[:2] == ["main<halo", None]
    assert of_last["to"].tolist()[:2] == ["main", "main"]
    assert of_last["direct_ns"].tolist() == [1002, 2002, 3002, 4002, 5002]
    assert of_last["propagated_count"].tolist() == [1, 0, 1, 0, 1]
    path = profile.critical_path(2)
    assert path["ns"].tolist() == [500, 60, 1] and path["rank"].tolist() == [2, 2, -1]
    assert path["cause"].tolist() == ["gap", "call", "other"]
    # All ranks have ended at the same time.
    assert profile.critical_path()["rank"].tolist() == [2, 0, -1]
    facts = profile.cause_facts()
    assert facts["ended_ns"].to_dict() == {0: 561, 2: 561}
    assert facts.loc[2].tolist()[1:] == [2 * fact for fact in range(1, 10)]


def test_events_are_those_of_the_program():
    profile = tinyprof.read(frozen("1.1-events"))
    events = profile.events()
    assert events["rank"].tolist() == [0] * 41 + [2] * 41 and not events["thread"].any()
    of_last = events[events["rank"] == 2]
    assert of_last["path"].tolist() == ["main"] + ["main<steps"] * 40
    assert of_last["depth"].tolist() == [1] + [2] * 40
    assert of_last["begin_ns"].tolist() == [50] + [100 + step * 1000 for step in range(40)]
    assert of_last["duration_ns"].tolist()[:3] == [80_000, 900, 899]
    assert of_last["monotonic_ns"].tolist()[0] == 5_000_002 + 50
    losses = profile.event_losses()
    assert losses["policy"].tolist() == ["ring", "ring", "window"] * 2
    assert losses["class"].tolist() == ["root", "computation", "call"] * 2
    assert losses["kept"].tolist() == [1, 40, 0] * 2 and losses["lost"].tolist() == [0, 1, 2] * 2
    assert losses["lost_last_ns"].tolist() == [0, 90, 180] * 2


def test_commands_are_those_that_ranks_were_given():
    profile = tinyprof.read(frozen("1.1-commands"))
    commands = profile.commands()
    assert commands["rank"].tolist() == [0] * 3 + [2] * 3
    assert commands["command"].tolist() == ["record", "hold", "command 77"] * 2
    assert commands["done"].tolist() == [True, True, False] * 2
    assert set(commands["by"]) == {"ada@login (process 7)"}
    assert commands["date_ns"].tolist()[1] == 1_795_270_350_000_000_002
    of_last = commands[commands["rank"] == 2]
    assert of_last["at_ns"].tolist() == [5_002, 10_002, 385_002]
    assert of_last["late_ns"].tolist()[:2] == [0, 702] and of_last["late_ns"].isna().tolist()[2]
    assert of_last["lasted_ns"].isna().tolist() == [True, False, True]
    assert of_last["lasted_ns"].tolist()[1] == 2_100_000_000
    assert commands["argument"].isna().all()
    assert profile.time_off().values.tolist() == [[0, 0, 0], [2, 2, 180]]
    assert tinyprof.read(frozen("1.1-events")).commands().empty


def test_ends_of_messages_are_those_of_the_program():
    profile = tinyprof.read(frozen("1.1-messages"))
    messages = profile.message_events()
    assert messages["rank"].tolist() == [0] * 6 + [2] * 6 and not messages["thread"].any()
    assert messages["partner"].tolist() == [2] * 6 + [0] * 6
    of_last = messages[messages["rank"] == 2]
    assert of_last["path"].tolist() == ["main<steps"] * 6
    assert of_last["at_ns"].tolist() == [120, 120, 1120, 1120, 2120, 2120]
    assert of_last["monotonic_ns"].tolist()[0] == 5_000_002 + 120
    assert of_last["received"].tolist() == [False, True] * 3
    assert of_last["communicator"].tolist() == [1] * 6
    assert of_last["tag"].tolist() == [5, 4, 3, 2, 1, 0]
    assert of_last["number"].tolist() == [0, 0, 1, 1, 2, 2]
    assert of_last["bytes"].tolist() == [8, 16, 32, 64, 128, 256]
    losses = profile.event_losses()
    assert losses["class"].tolist() == ["root", "computation", "message", "call"] * 2
    # The visits are those of a profile without messages.
    pd.testing.assert_frame_equal(profile.events(), tinyprof.read(frozen("1.1-events")).events())


def test_a_profile_without_events_has_empty_frames(profile):
    if profile.path.name not in ("format-1.1-events", "format-1.1-messages"):
        assert profile.events().empty and profile.event_losses().empty
    if profile.path.name != "format-1.1-messages":
        assert profile.message_events().empty


def test_a_profile_without_causes_has_empty_frames(profile):
    if profile.path.name != "format-1.1-causes":
        assert profile.delay_costs().empty and profile.critical_path().empty
        assert profile.cause_facts().empty


def test_a_profile_without_edges_has_an_empty_frame(profile):
    if profile.path.name in ("format-1.1-edges", "format-1.1-causes"):
        return
    assert profile.edges().empty and profile.edges("main").empty
    assert list(profile.edges().columns)[:5] == ["kind", "partner", "from", "count", "bytes"]
    assert profile.clocks.shape == (3, 13) and not profile.clocks.any(axis=None)
    assert list(profile.processors.columns) == list(PROCESSOR_FACTS)


def test_numbers_that_most_ranks_share_are_read():
    profile = tinyprof.read(frozen("1.1").parents[1] / "profiles-wide" / "format-1.1")
    edges = profile.edges().reset_index()
    for kind, ns in (("flow", 50_000), ("message", 7_000)):
        of_kind = edges[edges["kind"] == kind].sort_values("rank")
        others = [int(rank % 16 == 3) for rank in range(48)]
        assert of_kind["rank"].tolist() == list(range(48))
        assert of_kind["count"].tolist() == [2 + other for other in others]
        assert of_kind["sum_ns"].tolist() == [(2 + other) * ns + 20_000 * other for other in others]
        assert of_kind["transfer_ns"].tolist() == [70 * (rank == 40) for rank in range(48)]


def test_a_profile_without_messages_has_an_empty_frame(profile):
    columns = ["kind", "partner", "size_class", "count", "bytes"]
    assert profile.messages("main").empty and list(profile.messages("main").columns) == columns
    if profile.manifest.version < (1, 1):
        assert profile.messages().empty


@pytest.mark.parametrize("version", [version for version in VERSIONS if version.endswith("-8bit")])
def test_eight_bits_are_near_and_counts_are_exact(version):
    exact, rounded = tinyprof.read(frozen(version.removesuffix("-8bit"))), tinyprof.read(frozen(version))
    assert (exact.manifest.precision, rounded.manifest.precision) == ("exact", "8bit")
    left, right = exact.dataframe(), rounded.dataframe()
    assert (left["visits"] == right["visits"]).all()
    for column in ("sum_ns", "min_ns", "max_ns"):
        assert (abs(left[column] - right[column].astype(float)) <= 0.004 * left[column]).all()
    assert not left["sum_ns"].equals(right["sum_ns"])


def test_a_callpath_is_named_by_path_row_or_itself(profile):
    steps = next(c for c in profile.callpaths if c.path == "main<steps")
    assert profile.series(steps).equals(profile.series("main<steps"))
    assert profile.series(steps.row).equals(profile.series("main<steps"))
    for missing in ("main<", 99, -1):
        with pytest.raises(KeyError):
            profile.series(missing)


def test_other_tools_of_python_take_the_frame(profile):
    import duckdb
    import polars

    cells = profile.dataframe().reset_index()
    total_ns = int(cells["sum_ns"].sum())
    assert duckdb.sql("select sum(sum_ns) from cells").fetchall()[0][0] == total_ns
    assert polars.from_pandas(cells)["sum_ns"].sum() == total_ns


def test_the_first_version_is_read():
    profile = tinyprof.read(frozen("0.1"))
    assert len(profile.ranks) == profile.manifest.ranks and len(profile.dataframe()) > 0


def test_hints_of_types_mean_something():
    public = [getattr(tinyprof.Profile, name) for name in dir(tinyprof.Profile) if not name.startswith("_")]
    functions = [tinyprof.read, *(member for member in public if callable(member))]
    for function in functions:
        names = {"Axes": object, "GraphFrame": object, "Thicket": object}
        assert "return" in typing.get_type_hints(function, localns=names), function
