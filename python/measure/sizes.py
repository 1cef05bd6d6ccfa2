"""What a time takes in several formats, in bytes.

    sizes.py TINYPROF NAME=PROFILE-OR-TEXT...
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet

import tinyprof

ZSTD_LEVEL = 3


def main() -> None:
    command, *inputs = sys.argv[1:]
    print("| profile | times | tinyprof, parts | whole directory | the paper's text | raw u64 | raw + zstd | Parquet |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for name, path in (text.split("=", 1) for text in inputs):
        with tempfile.TemporaryDirectory() as scratch:
            row(name, Path(path), command, Path(scratch))


def row(name: str, path: Path, command: str, scratch: Path) -> None:
    if path.is_file():
        # Damaged values, which one of the authors' files contains, end in exit code 2.
        subprocess.run([command, "import", path, "-o", scratch / "run"], capture_output=True, check=False)
        path = scratch / "run.tprof"
    text = scratch / "text.csv"
    subprocess.run([command, "export", "--to", "tinyprof-csv", "-o", text, path], check=True, capture_output=True)
    columns = columns_ns(tinyprof.read(path))
    times = sum(map(len, columns))
    cells = [
        sum(file.stat().st_size for file in path.glob("part-*")),
        sum(file.stat().st_size for file in path.iterdir()),
        text.stat().st_size,
        8 * times,
        zstd_bytes(columns),
        parquet_bytes(columns, scratch / "times.parquet"),
    ]
    print(f"| {name} | {times:,} |" + "".join(f" {size / times:.2f} |" for size in cells), flush=True)


def columns_ns(profile: tinyprof.Profile) -> list[np.ndarray]:
    """The times that the paper's text would hold: each callpath's series, or else its sums of executions."""
    columns = []
    for callpath in profile.callpaths:
        series = profile.series(callpath)["sum_ns"].to_numpy()
        columns.append(series if len(series) else profile.executions(callpath)["sum_ns"].to_numpy())
    return [column for column in columns if len(column)]


def zstd_bytes(columns: list[np.ndarray]) -> int:
    codec = pyarrow.Codec("zstd", ZSTD_LEVEL)
    return len(codec.compress(np.concatenate(columns).astype("<u8").tobytes()))


def parquet_bytes(columns: list[np.ndarray], path: Path) -> int:
    """One column of all times, callpath by callpath, as if there were no other columns."""
    schema = pyarrow.schema([pyarrow.field("time_ns", pyarrow.int64(), nullable=False)])
    options = dict(compression="zstd", use_dictionary=False, column_encoding={"time_ns": "BYTE_STREAM_SPLIT"})
    with pyarrow.parquet.ParquetWriter(path, schema, write_statistics=False, **options) as writer:
        writer.write_table(pyarrow.table([np.concatenate(columns).astype(np.int64)], schema=schema))
    return path.stat().st_size


if __name__ == "__main__":
    main()
