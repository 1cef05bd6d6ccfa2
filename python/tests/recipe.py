"""What the frozen profiles hold: the recipe of crates/tinyprof-format/tests/golden/made.rs, told again."""

from __future__ import annotations


def series_ns(rank: int, unit_ns: int) -> list[tuple[int, int]]:
    """Execution and time of each visit of `steps` (unit 1000) and `halo` (1): two executions of 20 visits."""
    visits = ((execution, visit) for execution in range(2) for visit in range(20))
    return [(execution, (30 + (visit * 7 + rank + execution) % 11) * unit_ns) for execution, visit in visits]


def folded_ns(rank: int) -> list[tuple[int, int, int, int]]:
    """Execution, sum, minimum and maximum of each pair of visits of `folded`."""
    single = series_ns(rank, 3)
    pairs = zip(single[::2], single[1::2])
    return [(first[0], first[1] + last[1], min(first[1], last[1]), max(first[1], last[1])) for first, last in pairs]
