"""What the tests share: frozen profiles, copies of them to damage, and the command."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import tinyprof

PROFILES = Path(__file__).parents[2] / "crates" / "tinyprof-format" / "tests" / "profiles"
#: The frozen profiles that hold what `recipe.py` says, by version.
VERSIONS = sorted(p.name.removeprefix("format-") for p in PROFILES.iterdir() if p.name > "format-0.1")
#: The newest of them with exact times.
NEWEST = max(version for version in VERSIONS if not version.endswith("8bit"))


def frozen(version: str) -> Path:
    return PROFILES / f"format-{version}"


def reported(path: Path) -> dict[str, dict[str, Any]]:
    """The rows of a report of the callpaths that any rank has visited, by their names in frames."""
    profile = tinyprof.read(path)
    rows = {row["id"]: row for row in profile.report_json()["callpaths"]}
    # Several callpaths of one path have their row in their name.
    names = profile.dataframe().index.levels[0]
    found = {name: rows[f"{callpath.id:016x}"] for name, callpath in zip(names, profile.callpaths)}
    return {name: row for name, row in found.items() if row["ranks"]}


@pytest.fixture
def copy(tmp_path: Path):
    """A function that copies a frozen profile to where it may be damaged."""

    def make(version: str) -> Path:
        target = tmp_path / f"{version}.tprof"
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(frozen(version), target)
        return target

    return make


@pytest.fixture(scope="session")
def report():
    """A function that gives `tinyprof report --json` of a profile."""
    command = os.environ.get("TINYPROF_BIN")
    assert command, "TINYPROF_BIN must name the command tinyprof: scripts/python.sh sets it"

    def run(profile: Path) -> dict[str, Any]:
        done = subprocess.run([command, "report", "--json", profile], capture_output=True, check=True)
        return json.loads(done.stdout)

    return run
