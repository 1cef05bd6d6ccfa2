"""Checks the package that is installed: its files, its version, and that it reads the profile of `ring.c`.

    python installed.py COMMAND PROFILE

`scripts/wheel.sh` runs it in an environment that holds the wheel and its dependencies alone.
"""

import sys
from importlib import metadata
from pathlib import Path
from subprocess import run

import tinyprof

command, path = map(Path, sys.argv[1:])
RANKS = 2


def test_the_command_is_that_of_the_package():
    assert command.parent == Path(sys.prefix, "bin"), command
    version = run([command, "--version"], capture_output=True, check=True, text=True).stdout
    assert version == f"tinyprof {metadata.version('tinyprof')}\n", version


def test_the_package_has_the_command_the_library_and_the_module():
    names = sorted(Path(file).name for file in metadata.files("tinyprof") or () if Path(file).suffix in ("", ".so"))
    assert {"_native.abi3.so", "libtinyprof_preload.so", "tinyprof"} <= set(names), names
    licences = sorted(name for name in names if name.startswith("LICENSE"))
    assert licences == ["LICENSE-APACHE", "LICENSE-MIT"], names


def test_the_profile_holds_the_calls_of_all_ranks():
    profile = tinyprof.read(path)
    assert len(profile.ranks) == RANKS
    visits = profile.dataframe()["visits"].groupby("callpath").sum()
    for function in ("MPI_Send", "MPI_Recv"):
        found = sum(count for callpath, count in visits.items() if callpath.split("<")[-1].startswith(function))
        assert found == RANKS, visits


def test_the_command_reads_it_too():
    report = run([command, "report", path], capture_output=True, check=True, text=True).stdout
    assert f"{path.name}: {RANKS} ranks" in report and "MPI_Recv" in report, report


for name, check in list(globals().items()):
    if name.startswith("test_"):
        check()
        print(name.removeprefix("test_").replace("_", " "))
