"""How long loading a profile into a Hatchet GraphFrame takes, beside Hatchet's own readers.

    load.py SYNTHETIC      SYNTHETIC is the example of tinyprof-format that writes profiles
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import hatchet
from caliper import write_cali, write_json_split
from timing import cpu_ms, spread

import tinyprof

CALLPATHS = 100
#: Ranks, ranks in a part: 16 is what aggregators take if nobody says otherwise.
SHAPES = [(64, 16), (1_024, 16), (4_096, 16), (4_096, 64), (4_096, 4_096)]
REPETITIONS = 51
REPETITIONS_OF_OTHERS = 3


def write(command: str, target: Path, ranks: int, ranks_per_part: int) -> Path:
    arguments = [command, target, *map(str, (ranks, CALLPATHS, ranks_per_part))]
    done = subprocess.run(arguments, check=True, capture_output=True, text=True)
    return Path(done.stdout.strip())


def main() -> None:
    warnings.simplefilter("ignore")
    print("| what is read | ranks | parts | files, MB | CPU, ms | from, to |")
    print("|---|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as scratch:
        for ranks, ranks_per_part in SHAPES:
            path = write(sys.argv[1], Path(scratch) / f"{ranks}-{ranks_per_part}", ranks, ranks_per_part)
            megabytes = sum(file.stat().st_size for file in path.iterdir()) / 1e6
            times = cpu_ms(lambda: tinyprof.read(path).to_hatchet(), REPETITIONS)
            parts = len(tinyprof.read(path).manifest.parts)
            print(f"| tinyprof | {ranks:,} | {parts} | {megabytes:.1f} | {spread(times)} |", flush=True)
        for ranks, path in ((ranks, Path(scratch) / f"{ranks}-16.tprof") for ranks in (64, 1_024, 4_096)):
            others(tinyprof.read(path), ranks, Path(scratch))


def others(profile: tinyprof.Profile, ranks: int, scratch: Path) -> None:
    for name, writer, reader in (
        ("Caliper's json-split, by Hatchet", write_json_split, hatchet.GraphFrame.from_caliper),
        ("Caliper's `.cali`, by Hatchet", write_cali, hatchet.GraphFrame.from_caliperreader),
    ):
        file = scratch / f"{ranks}{'.json' if writer is write_json_split else '.cali'}"
        writer(profile, file)
        rows = len(reader(os.fspath(file), node_ordering=False).dataframe)
        # The reader of `.cali` adds a node above the root region.
        assert rows >= len(profile.callpaths) * ranks, f"{name} reads {rows} rows"
        times = cpu_ms(lambda: reader(os.fspath(file), node_ordering=False), REPETITIONS_OF_OTHERS)
        megabytes = file.stat().st_size / 1e6
        print(f"| {name} | {ranks:,} | | {megabytes:.1f} | {spread(times)} |", flush=True)


if __name__ == "__main__":
    main()
