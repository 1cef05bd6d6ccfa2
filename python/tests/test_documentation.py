"""Examples in docstrings do what they show, the stubs are true, and the notebook runs."""

from __future__ import annotations

import doctest
import functools
import importlib
import os
import pkgutil
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import distributed
import nbformat
import pytest
from nbclient import NotebookClient

import tinyprof
from conftest import frozen, reported

EXAMPLES = Path(__file__).parents[1] / "examples"
MODULES = [f"tinyprof.{module.name}" for module in pkgutil.iter_modules(tinyprof.__path__)]


@pytest.mark.parametrize("name", ["tinyprof", *MODULES])
def test_examples_in_docstrings_are_true(name):
    names = {"PROFILE": frozen("1.1"), "profile": tinyprof.read(frozen("1.1")), "tinyprof": tinyprof}
    found = doctest.testmod(importlib.import_module(name), extraglobs=names)
    assert found.failed == 0


def test_the_new_calls_have_examples():
    finder = doctest.DocTestFinder()
    with_examples = {
        test.name for name in MODULES for test in finder.find(importlib.import_module(name)) if test.examples
    }
    calls = ["Profile.report", "Profile.report_json", "Profile.hints", "Profile.efficiency"]
    assert {f"tinyprof.profile.{call}" for call in calls} | {"tinyprof.comparison.diff"} <= with_examples


def test_the_stubs_are_those_of_the_module():
    done = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "tinyprof._native"], capture_output=True, check=False, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def kinds_of(cell: Any) -> set[str]:
    """What a cell of a notebook shows: kinds of data, without what is printed."""
    return {kind for output in cell.outputs for kind in output.get("data", {})}


@pytest.mark.parametrize("notebook", sorted(EXAMPLES.glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_runs_and_is_committed_with_its_output(notebook):
    read = nbformat.read(notebook, as_version=4)
    nbformat.validate(read)
    code = [cell for cell in read.cells if cell.cell_type == "code"]
    stored = [kinds_of(cell) for cell in code]
    assert any("image/png" in kinds for kinds in stored), "a picture is among what is stored"
    NotebookClient(read, timeout=300, resources={"metadata": {"path": str(EXAMPLES)}}).execute()
    assert [kinds_of(cell) for cell in code] == stored, "execute the notebook, and store it"
    shown = [output for cell in code for output in cell.outputs]
    assert not [output for output in shown if output.output_type == "error" or output.get("name") == "stderr"]
    assert any("text/html" in output.get("data", {}) for output in shown)


def test_there_is_a_notebook():
    assert list(EXAMPLES.glob("*.ipynb")) and os.access(EXAMPLES / "runs", os.R_OK)


def test_the_examples_for_dask_in_the_document_run(tmp_path, monkeypatch, capsys):
    document = (Path(__file__).parents[2] / "docs" / "python.md").read_text()
    (section,) = [part for part in document.split("\n## ") if part.startswith("Larger than memory")]
    frames, cluster = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    shutil.copytree(EXAMPLES / "runs" / "fft", tmp_path / "fft-4242.tprof")
    shutil.copytree(EXAMPLES / "runs", tmp_path / "runs")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(frames, names)
    expected = reported(tmp_path / "fft-4242.tprof")
    assert len(names["spread"]) == len(expected)
    for callpath, row in names["spread"].iterrows():
        for name in ("sum", "mean", "min", "max", "imbalance"):
            assert row[name] == expected[callpath]["inclusive_ns"][name], (callpath, name)
    # Threads for the processes, which test_dask.py starts.
    threads = functools.partial(distributed.LocalCluster, processes=False, dashboard_address=None)
    monkeypatch.setattr(distributed, "LocalCluster", threads)
    exec(cluster, names)
    assert "MPI_Init_thread" in capsys.readouterr().out
