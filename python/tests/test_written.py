"""Profiles that the command makes of known times: wide ones, of one execution and of several."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import numpy as np
import pytest

import tinyprof

RANKS = 40


def times_ns(callpaths: int, executions: int) -> np.ndarray:
    """Inclusive times of callpaths, ranks and executions; the parent of row N is row (N - 1) // 3."""
    source = random.Random(executions)
    shape = (callpaths, RANKS, executions)
    own = np.array([int(source.lognormvariate(12, 1)) for _ in range(np.prod(shape))], np.uint64).reshape(shape)
    for row in range(callpaths - 1, 0, -1):
        own[(row - 1) // 3] += own[row]
    return own


def written(directory: Path, inclusive_ns: np.ndarray) -> tinyprof.Profile:
    """The profile that `tinyprof import` makes of these times."""
    paths = ["r0"]
    lines = ["id,parent,tag,is_loop,times"]
    for row, ranks in enumerate(inclusive_ns):
        parent = "null" if row == 0 else paths[(row - 1) // 3]
        if row:
            paths.append(f"{parent}<r{row}")
        times = "|".join("-".join(f"{ns // 10**9}.{ns % 10**9:09}" for ns in each) for each in ranks.tolist())
        lines.append(f"{paths[row]},{parent},,0,{times}")
    text = directory / "times.csv"
    text.write_text("\n".join(lines) + "\n")
    command = [os.environ["TINYPROF_BIN"], "import", text, "-o", directory / "run"]
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    assert done.returncode == 0, done.stderr
    return tinyprof.read(directory / "run.tprof")


@pytest.mark.parametrize("executions", [1, 3])
def test_sums_and_exclusive_times_are_those_that_were_written(executions, tmp_path):
    inclusive_ns = times_ns(30, executions)
    profile = written(tmp_path, inclusive_ns)
    exclusive_ns = inclusive_ns.copy()
    for row in range(1, len(inclusive_ns)):
        exclusive_ns[(row - 1) // 3] -= inclusive_ns[row]
    frame = profile.to_hatchet()
    table = profile.dataframe()
    seconds = frame.dataframe.groupby("name")[["time", "time (inc)"]].agg(list)
    for callpath in profile.callpaths:
        row = int(callpath.name.removeprefix("r"))
        cells = table.loc[callpath.path]
        assert list(cells["sum_ns"]) == inclusive_ns[row].sum(axis=1).tolist()
        assert list(cells["exclusive_ns"]) == exclusive_ns[row].sum(axis=1).tolist()
        found = profile.executions(callpath)
        assert list(found["sum_ns"]) == inclusive_ns[row].ravel().tolist()
        assert list(found["exclusive_ns"]) == exclusive_ns[row].ravel().tolist()
        assert (found["min_ns"] == found["sum_ns"]).all() and (found["max_ns"] == found["sum_ns"]).all()
        in_seconds = seconds.loc[callpath.name]
        assert in_seconds["time (inc)"] == pytest.approx(list(cells["sum_ns"] * 1e-9), rel=1e-15)
        assert in_seconds["time"] == pytest.approx(list(cells["exclusive_ns"] * 1e-9), rel=1e-15)
