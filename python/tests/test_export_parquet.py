"""The Parquet export, read by DuckDB, Polars and pandas."""

import json
import shutil

import duckdb
import pandas
import polars
import pyarrow.parquet
import pytest
from export_profiles import BIG_NS, big, export, golden, hostile, imported, report, roots, truth


def by_duckdb(file):
    rows = duckdb.connect().read_parquet(str(file))
    return [dict(zip(rows.columns, row)) for row in rows.fetchall()]


def by_polars(file):
    return polars.read_parquet(file).to_dicts()


def by_pandas(file):
    # Otherwise, integers that may be missing become floats.
    rows = pandas.read_parquet(file, dtype_backend="numpy_nullable").to_dict("records")
    return [{key: None if value is pandas.NA else value for key, value in row.items()} for row in rows]


@pytest.fixture(params=[by_duckdb, by_polars, by_pandas], ids=["duckdb", "polars", "pandas"])
def read(request):
    return request.param


@pytest.mark.parametrize("made", [lambda _: golden(), hostile, big, roots], ids=["golden", "hostile", "big", "roots"])
def test_sums_are_those_of_the_report(made, read, tmp_path):
    profile = made(tmp_path)
    executions, series = {}, {}
    paths = {row["id"]: row["path"] for row in report(profile)["callpaths"]}
    for row in read(export(profile, "parquet", tmp_path)[0]):
        if row["metric"] is None:
            sums = executions if row["kind"] == "execution" else series
            visits, ns, exclusive_ns = sums.get((row["callpath"], row["rank"]), (0, 0, 0))
            # Null where it is the sum.
            own_ns = row["sum_ns"] if row["exclusive_ns"] is None else row["exclusive_ns"]
            key = row["callpath"], row["rank"]
            sums[key] = (visits + row["visits"], ns + row["sum_ns"], exclusive_ns + own_ns)
        assert row["path"] == paths[row["callpath"]]
    expected = truth(profile)
    assert executions == expected
    assert series and {key: sums[:2] for key, sums in series.items()} == {key: expected[key][:2] for key in series}


def test_every_column_says_what_was_measured(read, tmp_path):
    rows = read(export(golden(), "parquet", tmp_path)[0])
    steps = [row for row in rows if row["path"] == "main<halo" and row["kind"] == "series"]
    assert len(steps) == 3 * 2 * 20
    for row in steps:
        # This follows the recipe of the frozen profile.
        ns = 30 + (row["first_visit"] * 7 + row["rank"] + row["execution"]) % 11
        assert [row[key] for key in ("sum_ns", "min_ns", "max_ns", "visits")] == [ns, None, None, 1]
        assert row["host"] == f"node{row['rank'] // 2}"
    folded = [row for row in rows if row["path"] == "main<folded" and row["kind"] == "series"]
    assert [row["first_visit"] for row in folded[:10]] == list(range(0, 20, 2))
    assert all(row["visits"] == 2 and row["min_ns"] <= row["max_ns"] <= row["sum_ns"] for row in folded)
    metric = [row for row in rows if row["metric"] is not None]
    assert [(row["metric"], row["kind"], row["rank"], row["execution"]) for row in metric] == [
        ("bytes", "execution", 1, 1),
        ("bytes", "series", 1, 1),
    ]
    assert all((row["sum"], row["min"], row["max"], row["sum_ns"]) == (1.5, 1.5, 1.5, None) for row in metric)
    (estimate,) = [row for row in rows if row["standard_error_ns"] is not None]
    assert (estimate["path"], estimate["standard_error_ns"]) == ("main<io", 12.5**0.5)
    assert {row["exclusive_ns"] is None for row in rows if row["path"] == "main<halo"} == {True}
    assert {row["exclusive_ns"] is None for row in rows if row["path"] == "main"} == {False}
    parents = {row["path"]: row["parent"] for row in rows}
    ids = {row["path"]: row["callpath"] for row in rows}
    assert parents == {path: None if path == "main" else ids["main"] for path in ids}


def test_each_row_names_the_job_and_the_start_of_the_run(read, tmp_path):
    profile = tmp_path / "job.tprof"
    shutil.copytree(golden(), profile)
    manifest = json.loads((profile / "manifest.json").read_text())
    manifest["metadata"]["jobid"] = "4711[2]"
    (profile / "manifest.json").write_text(json.dumps(manifest))
    rows = read(export(profile, "parquet", tmp_path)[0])
    assert {row["job"] for row in rows} == {"4711[2]"}
    assert {row["date"].timestamp() for row in rows} == {manifest["metadata"]["launchdate"]}


def test_selected_ranks_alone_are_written(read, tmp_path):
    rows = read(export(golden(), "parquet", tmp_path, "--rank", "1", "--path", "main<io")[0])
    assert {(row["rank"], row["path"]) for row in rows} == {(1, "main<io")}


def test_a_selection_without_measurements_is_a_table_without_rows(read, tmp_path):
    assert read(export(golden(), "parquet", tmp_path, "--rank", "0", "--path", "main<io")[0]) == []


def test_whole_nanoseconds_are_exact(read, tmp_path):
    rows = read(export(big(tmp_path), "parquet", tmp_path)[0])
    assert sorted(row["sum_ns"] for row in rows) == [BIG_NS[0], BIG_NS[0], BIG_NS[1]]


def test_numbers_are_split_and_all_is_compressed(tmp_path):
    file = pyarrow.parquet.ParquetFile(export(golden(), "parquet", tmp_path)[0])
    group = file.metadata.row_group(0)
    for column in (group.column(number) for number in range(group.num_columns)):
        is_number = column.physical_type != "BYTE_ARRAY"
        assert column.compression == "ZSTD"
        assert ("BYTE_STREAM_SPLIT" in column.encodings) == is_number, column.path_in_schema
    manifest = json.loads(file.metadata.metadata[b"tinyprof.manifest"])
    assert (manifest["format"], manifest["ranks"]) == ("tinyprof", 3)


def test_many_rows_go_into_several_groups(tmp_path):
    times = [[rank * 1000 + visit % 777 for visit in range(50_000)] for rank in range(3)]
    file = export(imported(tmp_path, "long", [(["main"], 1, times)]), "parquet", tmp_path)[0]
    assert pyarrow.parquet.ParquetFile(file).num_row_groups == 2
    for rows in (polars.read_parquet(file), polars.from_pandas(pandas.read_parquet(file))):
        series = rows.filter(polars.col("kind") == "series").sort("rank", "first_visit", maintain_order=True)
        assert series["sum_ns"].to_list() == [ns for of_rank in times for ns in of_rank]
    query = f"SELECT sum(sum_ns), sum(first_visit) FROM read_parquet('{file}') WHERE kind = 'series' GROUP BY rank ORDER BY rank"
    first_visits = sum(range(50_000))
    assert duckdb.connect().sql(query).fetchall() == [(sum(of_rank), first_visits) for of_rank in times]
