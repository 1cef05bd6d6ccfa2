"""Who waits for whom, with the numbers of the command."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

import tinyprof

RUNS = [path for path in sorted((Path(__file__).parents[1] / "examples" / "runs").iterdir()) if path.name in ("fft", "before-1")]
NUMBERS = ["count", "waiting_ns", "compensated_ns", "transfer_ns"]


def told(path: Path, *options: str) -> list[dict]:
    """The rows of `tinyprof waits --json`."""
    command = [os.environ["TINYPROF_BIN"], "waits", "--json", *options, path]
    return json.loads(subprocess.run(command, capture_output=True, check=False).stdout)["waits"]


@pytest.mark.parametrize("options", [(), ("--by-rank",)], ids=["callpaths", "ranks"])
@pytest.mark.parametrize("path", RUNS, ids=lambda path: path.name)
def test_the_waiting_is_that_of_the_command(path, options):
    found = tinyprof.read(path).waits(by_rank=bool(options))
    expected = told(path, *options)
    assert len(found) == len(expected)
    for name in NUMBERS:
        assert sorted(found[name]) == sorted(row[name] for row in expected)
    keys = ["kind", "callpath", "for_callpath"]
    rows = found[keys].astype(object).where(found[keys].notna(), None)
    assert {tuple(row) for row in rows.to_numpy()} == {tuple(row[key] for key in keys) for row in expected}


def test_runs_that_wait_are_among_them():
    assert any(len(tinyprof.read(path).waits()) > 0 for path in RUNS)
