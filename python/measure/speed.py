"""Tells medians and spreads of what the example `series_speed` prints: speed.py SERIES_SPEED."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
from timing import spread

VALUES = 1 << 20
REPETITIONS = 21


def main() -> None:
    done = subprocess.run([sys.argv[1], str(VALUES), str(REPETITIONS)], check=True, capture_output=True, text=True)
    encoded, read, bytes_a_value = np.array([line.split() for line in done.stdout.splitlines()], float).T
    print("| | million values a second | from, to |")
    print("|---|---:|---:|")
    print(f"| a series of {VALUES:,} is encoded, {bytes_a_value[0]:.2f} bytes a value | {spread(encoded)} |")
    print(f"| its profile is read, file and checksums and all | {spread(read)} |")


if __name__ == "__main__":
    main()
