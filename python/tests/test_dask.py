"""Frames of Dask are those of pandas, part by part, and read nothing before they are computed."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import dask
import pandas as pd
import pytest

import tinyprof
import tinyprof.dask
from conftest import PROFILES, VERSIONS, frozen, reported
from export_profiles import imported
from parts import repeated, wide

#: Calls with their arguments, and properties.
FRAMES: list[tuple] = [
    ("dataframe",),
    ("executions", "main"),
    ("series", "main<steps"),
    ("messages",),
    ("messages", "main<halo"),
    ("edges",),
    ("edges", "main<halo"),
    ("events",),
    ("message_events",),
    ("event_losses",),
    ("delay_costs",),
    ("critical_path",),
    ("cause_facts",),
    ("ranks",),
    ("clocks",),
    ("processors",),
]
KEYS = ("profile", "callpath", "rank", "execution", "visit", "kind", "partner", "size_class", "from")


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def eager(path: Path, name: str, *arguments: str) -> pd.DataFrame:
    found = getattr(tinyprof.read(path), name)
    table = found(metrics=False) if name == "dataframe" else found(*arguments) if callable(found) else found
    return table if table.index.names == [None] else table.reset_index()


def lazy(frames, name: str, *arguments: str):
    found = getattr(frames, name)
    return found(*arguments) if callable(found) else found


def in_order(table: pd.DataFrame) -> pd.DataFrame:
    """The rows by callpath first, as the parts are not; events stay in the order of threads."""
    keys = [key for key in KEYS if key in table.columns and "path" not in table.columns]
    return (table.sort_values(keys, kind="stable") if keys else table).reset_index(drop=True)


@pytest.mark.parametrize("call", FRAMES, ids="-".join)
def test_frames_are_those_of_pandas_with_all_columns_and_types(call):
    rows = 0
    for path in sorted(PROFILES.glob("format-[1-9]*")):
        expected = eager(path, *call)
        frame = lazy(tinyprof.dask.read(path), *call)
        assert frame.npartitions == (1 if call[0] == "critical_path" else 2)
        parts = dask.compute(*frame.to_delayed())
        assert all(part.dtypes.equals(expected.dtypes) for part in parts)
        pd.testing.assert_frame_equal(in_order(pd.concat(parts)), in_order(expected))
        pd.testing.assert_series_equal(frame.dtypes, expected.dtypes)
        rows += len(expected)
    assert rows or call[0] == "message_events"


def test_the_frames_of_several_profiles_say_which():
    paths = [frozen("1.0"), frozen("1.1")]
    profiles = tinyprof.dask.read_all(paths)
    for call in FRAMES:
        expected = [eager(path, *call) for path in paths]
        for path, table in zip(paths, expected):
            table.insert(0, "profile", pd.Series(str(path), table.index, dtype=object))
        computed = lazy(profiles, *call).compute()
        pd.testing.assert_frame_equal(in_order(computed), in_order(pd.concat(expected)))
    assert profiles.metadata.index.name == "profile" and list(profiles.metadata.index) == list(map(str, paths))
    assert set(profiles.metadata["jobsize"]) == {3}
    joined = profiles.dataframe().merge(profiles.metadata[["jobsize"]], left_on="profile", right_index=True)
    assert set(joined["jobsize"].compute()) == {3}
    assert profiles.statistics()[["profile", "callpath"]].compute().duplicated().sum() == 0


def test_a_directory_of_profiles_is_all_of_them(tmp_path):
    for name in ("b.tprof", "a", "c"):
        shutil.copytree(frozen("1.1"), tmp_path / name)
    (tmp_path / "c" / "manifest.json").unlink()
    (tmp_path / "times.csv").touch()
    found = tinyprof.dask.read_all(tmp_path)
    assert [profile.path.name for profile in found.profiles] == ["a", "b.tprof"]
    assert found.dataframe().npartitions == 4
    (tmp_path / "d.tprof").mkdir()
    with pytest.raises(tinyprof.UnfinishedError, match="d.tprof is not a profile"):
        tinyprof.dask.read_all(tmp_path)


def test_only_the_manifest_is_read_until_a_frame_is_computed(copy):
    path = copy("1.1-edges")
    for file in path.iterdir():
        if file.name != "manifest.json":
            file.rename(path.parent / file.name)
    profile = tinyprof.dask.read(path)
    assert (profile.metadata["jobsize"], profile.precision, profile.losses["visits_open"]) == (3, "exact", 3)
    frames = [lazy(profile, *call) for call in FRAMES] + [profile.statistics()]
    for frame in frames:
        with pytest.raises(FileNotFoundError, match=f"{path}/callpaths"):
            frame.compute()
    for name in ("callpaths", "part-00001"):
        (path.parent / name).rename(path / name)
    for frame in frames:
        with pytest.raises(FileNotFoundError, match=f"{path}/part-00000"):
            frame.compute()
    # The other part is read without it.
    second = profile.dataframe().partitions[1].compute()
    assert set(second["rank"]) == {2}


def test_a_part_that_begins_with_another_rank_is_damaged(copy):
    path = copy("1.1")
    manifest = (path / "manifest.json").read_text()
    (path / "manifest.json").write_text(manifest.replace('"first_rank": 2', '"first_rank": 1'))
    frame = tinyprof.dask.read(path).dataframe()
    assert len(frame.partitions[0].compute()) > 0
    with pytest.raises(tinyprof.DamagedError, match="part-00001 is damaged at offset 0"):
        frame.compute()


def test_ranks_of_a_part_without_gaps_have_their_own_numbers(tmp_path):
    # The reader gives no column of ranks if every rank of the part has visited every callpath.
    whole = imported(tmp_path, "whole", [(["main"], False, [[10], [20], [30]])])
    path = repeated([whole], 3, tmp_path / "many.tprof")
    found = tinyprof.dask.read(path).dataframe().compute()
    assert found["rank"].tolist() == list(range(9)) and found["sum_ns"].tolist() == [10, 20, 30] * 3
    pd.testing.assert_frame_equal(in_order(found), in_order(eager(path, "dataframe")))


@pytest.mark.parametrize("version", ["0.1", "0.2", *VERSIONS])
def test_statistics_are_those_of_the_report(version):
    check_statistics(frozen(version), tinyprof.dask.read(frozen(version)).statistics().compute())


def test_statistics_of_callpaths_with_one_path_are_apart():
    path = Path(__file__).parents[1] / "examples" / "runs" / "fft"
    found = tinyprof.dask.read(path).statistics().compute()
    assert found["callpath"].str.endswith("]").any()
    check_statistics(path, found)


def check_statistics(path: Path, found: pd.DataFrame) -> None:
    rows = reported(path)
    assert set(found["callpath"]) == set(rows) and len(found) == len(rows)
    names = {"sum": "sum_ns", "min": "min_ns", "mean": "mean_ns", "max": "max_ns", "max_rank": "max_rank"}
    names |= {"imbalance": "imbalance", "lost": "lost_ns"}
    for _, row in found.iterrows():
        expected = rows[row["callpath"]]
        assert (row["ranks"], row["visits"]) == (expected["ranks"], expected["visits"])
        for times in ("inclusive", "exclusive"):
            for theirs, ours in names.items():
                number = expected[f"{times}_ns"][theirs]
                value = row[f"{times}_{ours}"]
                assert pd.isna(value) if number is None else value == number, (row["callpath"], times, ours)


def test_statistics_of_some_ranks_are_theirs():
    cells = tinyprof.dask.read(frozen("1.1")).dataframe()
    found = tinyprof.dask.statistics_of(cells[cells["rank"] > 0]).compute().set_index("callpath")
    expected = tinyprof.read(frozen("1.1")).dataframe().loc[("main", [1, 2]), "sum_ns"]
    assert found.loc["main", "ranks"] == 2 and found.loc["main", "inclusive_sum_ns"] == expected.sum()
    assert tinyprof.dask.statistics_of(cells[cells["rank"] > 9]).compute().empty


#: Prints by how many bytes the greatest resident memory grows, and writes the statistics.
_MEASURED = """
import re, sys
from pathlib import Path
import dask, tinyprof.dask

def greatest_bytes():
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) << 10

dask.config.set(scheduler="synchronous")
small, large, out = sys.argv[1:]
tinyprof.dask.read(small).statistics().compute()
before_bytes = greatest_bytes()
found = tinyprof.dask.read(large).statistics().compute()
print(greatest_bytes() - before_bytes)
found.to_pickle(out)
"""


def test_statistics_of_a_profile_larger_than_memory_are_those_of_the_report(tmp_path):
    of_one = [wide(tmp_path, f"wide-{seed}", 256, 128, seed) for seed in (1, 2)]
    large = repeated(of_one, 16, tmp_path / "large.tprof")
    command = [sys.executable, "-c", _MEASURED, of_one[0], large, tmp_path / "statistics"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    whole_bytes = int(tinyprof.read(large).dataframe().memory_usage(index=True, deep=False).sum())
    grown_bytes = int(done.stdout)
    assert whole_bytes > 60_000_000 and grown_bytes < whole_bytes / 5, (grown_bytes, whole_bytes)
    check_statistics(large, pd.read_pickle(tmp_path / "statistics"))


def _process(table: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"process": [os.getpid()]})


def test_two_processes_of_a_cluster_read_the_parts(tmp_path, monkeypatch):
    from distributed import Client, LocalCluster

    of_one = [wide(tmp_path, f"wide-{seed}", 16, 8, seed) for seed in (1, 2)]
    large = repeated(of_one, 4, tmp_path / "large.tprof")
    profile = tinyprof.dask.read(large)
    # Workers that are elsewhere find the files all the same.
    monkeypatch.chdir(tmp_path)
    near = tinyprof.dask.read("large.tprof")
    monkeypatch.chdir("/")
    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None,
        local_directory=str(tmp_path),
    )
    with dask.config.set(scheduler=None), cluster, Client(cluster) as client:
        workers = client.run(os.getpid)
        assert len(set(workers.values())) == 2 and os.getpid() not in workers.values()
        check_statistics(large, profile.statistics().compute())
        pd.testing.assert_frame_equal(in_order(near.dataframe().compute()), in_order(eager(large, "dataframe")))
        # Each of the two reads a part.
        first, second = (
            profile.dataframe().partitions[part].map_partitions(_process, meta={"process": "i8"}) for part in (0, 1)
        )
        for worker, frame in zip(workers, (first, second)):
            (found,) = client.compute(frame, workers=[worker]).result()["process"]
            assert found == workers[worker]
        # Errors of workers are the same as here.
        with pytest.raises(KeyError, match=f"no callpath 'mian' in {large}"):
            profile.series("mian").compute()
        part = large / "part-00003"
        part.write_bytes(part.read_bytes()[:-100])
        with pytest.raises(tinyprof.DamagedError) as error:
            profile.dataframe().compute()
        assert error.value.path == part and "cut off" in error.value.reason


def test_errors_survive_the_way_between_processes(tmp_path):
    made = [
        tinyprof.ProfileError(tmp_path, "a text"),
        tinyprof.UnfinishedError(tmp_path, "a text"),
        tinyprof.NotFoundError(tmp_path, ["fft.tprof"]),
        tinyprof.NewerVersionError(tmp_path, (7, 0)),
        tinyprof.DamagedError(tmp_path, 12, "a reason"),
        tinyprof.TooLargeError(tmp_path, "a reason"),
    ]
    for error in made:
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error) and str(again) == str(error) and vars(again) == vars(error)
    assert pickle.loads(pickle.dumps(made[2])).filename == str(tmp_path)


def test_wrong_arguments_are_told(copy, tmp_path):
    path = copy("1.1")
    with pytest.raises(FileNotFoundError, match="did you mean 1.1.tprof?"):
        tinyprof.dask.read(path.parent / "1.2.tprof")
    with pytest.raises(KeyError, match=f"no callpath 'main<step' in {path}; Profile.callpaths lists all"):
        tinyprof.dask.read(path).series("main<step").compute()
    with pytest.raises(tinyprof.TooLargeError, match="limit_bytes"):
        tinyprof.dask.read(path, limit_bytes=10).dataframe().compute()
    with pytest.raises(tinyprof.TooLargeError):
        tinyprof.dask.read(tinyprof.read(path, limit_bytes=3_000), limit_bytes=10).ranks.compute()
    with pytest.raises(tinyprof.ProfileError, match="is a profile, not a directory of profiles: use tinyprof.d"):
        tinyprof.dask.read_all(path)
    with pytest.raises(FileNotFoundError, match="there is no directory .*/elsewhere"):
        tinyprof.dask.read_all(tmp_path / "elsewhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(tinyprof.ProfileError, match="empty has no profiles in it"):
        tinyprof.dask.read_all(tmp_path / "empty")
    with pytest.raises(ValueError, match="at least one profile"):
        tinyprof.dask.read_all([])
    with pytest.raises(ValueError, match="twice: .*1.1.tprof"):
        tinyprof.dask.read_all([path, path])
    with pytest.raises(TypeError, match="name a callpath by its path, not by 3"):
        tinyprof.dask.read_all([path]).series(3)


def test_rows_and_callpaths_name_a_callpath_as_well():
    profile = tinyprof.read(frozen("1.1"))
    steps = next(callpath for callpath in profile.callpaths if callpath.path == "main<steps")
    expected = profile.series(steps).reset_index()
    for name in (steps, steps.row, "main<steps"):
        pd.testing.assert_frame_equal(
            tinyprof.dask.read(profile).series(name).compute().reset_index(drop=True), expected
        )


def test_a_profile_without_ranks_has_empty_frames(copy):
    path = copy("1.1")
    manifest = json.loads((path / "manifest.json").read_text()) | {"ranks": 0, "parts": []}
    (path / "manifest.json").write_text(json.dumps(manifest))
    profile = tinyprof.dask.read(path)
    for call in FRAMES:
        found = lazy(profile, *call).compute()
        assert found.empty and found.dtypes.equals(eager(frozen("1.1"), *call).dtypes)
    assert profile.statistics().compute().empty


def test_without_dask_the_error_says_what_to_install():
    program = (
        "import sys; sys.modules['dask.dataframe'] = None\nimport tinyprof\n"
        "try: import tinyprof.dask\nexcept ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "pip install 'tinyprof[dask]'" in done.stdout


def test_the_types_of_the_modules_agree(tmp_path):
    package = Path(__file__).parents[1] / "tinyprof"
    files = [package / f"{name}.py" for name in ("dask", "joined", "partitions", "statistics", "tables")]
    options = ["--ignore-missing-imports", "--follow-imports=skip", "--cache-dir", tmp_path]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, *files], capture_output=True, check=False, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
