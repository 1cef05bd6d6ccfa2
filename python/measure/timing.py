"""Repeats a call and tells the CPU time of this process: other programs on the machine are not in it."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

import numpy as np


def cpu_ms(call: Callable[[], object], repetitions: int) -> np.ndarray:
    """The CPU time of each repetition, in milliseconds; the first, which warms up, is left out."""
    times = []
    for _ in range(repetitions + 1):
        gc.collect()
        start = time.process_time_ns()
        result = call()
        times.append((time.process_time_ns() - start) / 1e6)
        del result
    return np.array(times[1:])


def spread(values: np.ndarray) -> str:
    """Median, and first to third quartile, as cells of a table."""
    low, middle, high = np.percentile(values, (25, 50, 75))
    return f"**{middle:,.1f}** | {low:,.1f} to {high:,.1f}"
