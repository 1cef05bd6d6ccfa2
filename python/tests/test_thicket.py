"""Many runs in one Thicket."""

from __future__ import annotations

import json

import pytest

import tinyprof
from conftest import NEWEST, frozen
from tinyprof import thickets

ADIAK = ("user", "launchdate", "executable", "cmdline", "cluster", "jobsize", "numhosts", "hostlist", "mpi_version")


def test_runs_become_rows_with_their_metadata():
    runs = [tinyprof.read(frozen(version)) for version in ("0.2", NEWEST)]
    thicket = tinyprof.to_thicket(runs)
    assert len(thicket.profile) == 2 and len(thicket.metadata) == 2
    assert set(ADIAK) <= set(thicket.metadata.columns)
    assert set(thicket.metadata["user"]) == {"ada"} and set(thicket.metadata["jobsize"]) == {3}
    assert set(thicket.profile_mapping.values()) == {str(run.path.absolute()) for run in runs}
    for identity, path in thicket.profile_mapping.items():
        run = next(run for run in runs if str(run.path.absolute()) == path)
        table = run.dataframe().groupby(level="callpath")
        rows = thicket.dataframe.xs(identity, level="profile")
        steps = rows[rows["name"] == "steps"].iloc[0]
        expected_ns = table["exclusive_ns"].sum()["main<steps"], table["exclusive_ns"].max()["main<steps"]
        assert (steps["time"], steps["Max time/rank"]) == pytest.approx([ns * 1e-9 for ns in expected_ns], rel=1e-14)
        assert steps["ranks"] == 3 and steps["visits"] == 120
        assert steps["Avg time/rank"] == pytest.approx(steps["time"] / 3)
        io = rows[rows["name"] == "io"].iloc[0]
        assert (io["ranks"], io["Min time/rank (inc)"]) == (1, pytest.approx(9e-6))


def test_runs_have_names_and_dates(copy):
    without = copy("0.2")
    manifest = json.loads((without / "manifest.json").read_text())
    for launchdate, expected in [(0, None), (1e300, None), ("today", None), (951_782_400, "2000-02-29T00:00:00+00:00")]:
        manifest["metadata"]["launchdate"] = launchdate
        (without / "manifest.json").write_text(json.dumps(manifest))
        assert thickets.metadata(tinyprof.read(without))["date"] == expected
    thicket = tinyprof.to_thicket([tinyprof.read(without), tinyprof.read(frozen(NEWEST))])
    named = thicket.metadata.set_index("name")["date"]
    assert dict(named) == {"0.2.tprof": "2000-02-29T00:00:00+00:00", f"format-{NEWEST}": "2026-11-21T14:12:30+00:00"}


def test_thicket_works_on_it():
    thicket = tinyprof.to_thicket([tinyprof.read(frozen("0.2")), tinyprof.read(frozen(NEWEST))])
    assert "steps" in thicket.tree()
    few = thicket.filter_metadata(lambda run: run["ranks"] == 3)
    assert len(few.profile) == 2
    groups = thicket.groupby("user")
    assert list(groups.keys()) == ["ada"]


def test_one_run_is_a_thicket_and_none_is_not():
    assert len(tinyprof.to_thicket([tinyprof.read(frozen(NEWEST))]).profile) == 1
    with pytest.raises(ValueError, match="at least one"):
        tinyprof.to_thicket([])
