"""Times by call site, loop, function and partner, and the classes of ranks, as the command has them."""

from __future__ import annotations

import json
import warnings

import pytest

import tinyprof
from conftest import NEWEST, frozen
from export_profiles import run
from test_waits import RUNS

#: Runs of level `messages`, which say which call followed which.
WITH_FLOW = [path for path in RUNS if path.name == "fft"]
WORDS = ["site", "loop", "call", "peer"]
of_a_run = pytest.mark.parametrize("path", [*RUNS, frozen(NEWEST)], ids=lambda path: path.name)


@pytest.mark.parametrize("by", WORDS)
@of_a_run
def test_groups_are_those_of_the_command(path, by):
    profile = tinyprof.read(path)
    command = ["report", path, "--by", by]
    assert profile.report(by=by) == run(*command)[0].decode()
    assert profile.report(by=by, all=True, width=80) == run(*command, "--all", "--width", "80")[0].decode()
    assert profile.report_json(by=by) == json.loads(run(*command, "--json")[0])


@pytest.mark.parametrize("options", [(), ("--structure-only",)], ids=["times", "structure"])
@pytest.mark.parametrize("path", WITH_FLOW, ids=lambda path: path.name)
def test_classes_are_those_of_the_command(path, options):
    found = tinyprof.read(path).classes(structure_only=bool(options))
    assert found == json.loads(run("classes", path, "--json", *options)[0])
    assert found["phases"]


def test_a_profile_without_flow_is_told():
    profile = tinyprof.read(frozen("0.1"))
    with pytest.warns(UserWarning, match="tinyprof run -o mpi=messages"):
        assert profile.classes()["phases"] == []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tinyprof.read(WITH_FLOW[0]).classes()["phases"]


def test_wrong_rows_are_told():
    profile = tinyprof.read(frozen(NEWEST))
    with pytest.raises(ValueError, match="'call' or 'peer', not by 'pear'; did you mean 'peer'"):
        profile.report(by="pear")
    with pytest.raises(ValueError, match="'call' or 'peer', not by 'rank'"):
        profile.report_json(by="rank")
    with pytest.raises(ValueError, match="metric is for callpaths and regions, not for a report by 'site'"):
        profile.report(by="site", metric="visits")
