"""Pictures of profiles, drawn by matplotlib; each function returns the axes that it has drawn on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import near

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .profile import Profile

_NS_PER_S = 1e9
_NAME_MAX = 44
_EFFICIENCIES = ("parallel", "load_balance", "communication", "serialisation", "transfer")


def heatmap(profile: Profile, column: str, count: int, axes: Axes | None) -> Axes:
    """Draws callpaths x ranks: a column of `dataframe`, of the callpaths with the most of it."""
    frame = profile.dataframe()
    if column not in frame:
        raise KeyError(f"dataframe() has no column {column!r}{near(column, frame.columns)}")
    values = frame[column].unstack("rank")
    values = values.loc[values.sum(axis=1).sort_values(ascending=False).index[:count]]
    is_time = column.endswith("_ns")
    axes = axes or _axes(height=1.4 + 0.28 * len(values))
    # Ranks that never came to a callpath stay blank.
    image = axes.imshow(np.ma.masked_invalid(values / (_NS_PER_S if is_time else 1)), aspect="auto", cmap="cividis")
    axes.set_yticks(range(len(values)), [_short(str(name)) for name in values.index])
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_xlabel("rank")
    axes.figure.colorbar(image, ax=axes, label=f"{column.removesuffix('_ns')}, s" if is_time else column)
    return axes


def timeline(profile: Profile, ranks: Iterable[int] | None, axes: Axes | None) -> Axes:
    """Draws a lane for each rank: when it was in any region, and over it when in calls of MPI."""
    events = profile.events()
    if events.empty:
        raise ValueError("the profile has no events: record them with tinyprof run -o events=ring")
    wanted = sorted(events["rank"].unique()) if ranks is None else list(ranks)
    missing = sorted(set(wanted) - set(events["rank"]))
    if missing:
        recorded = ", ".join(map(str, sorted(events["rank"].unique())))
        raise ValueError(f"there are no events of rank {missing[0]}: the ranks with events are {recorded}")
    events = events[events["rank"].isin(wanted) & (events["thread"] == events["thread"].min())]
    axes = axes or _axes(height=1.2 + 0.3 * len(wanted))
    is_call = events["path"].fillna("").str.rsplit("<", n=1).str[-1].str.startswith("MPI_")
    for lane, rank in enumerate(wanted):
        of_rank = events["rank"] == rank
        for color, kind in (("#c9d8e6", ~is_call), ("#c07d1c", is_call)):
            bars = events[of_rank & kind][["begin_ns", "duration_ns"]].to_numpy() / _NS_PER_S
            axes.broken_barh(bars, (lane - 0.4, 0.8), color=color, linewidth=0)
    axes.set_yticks(range(len(wanted)), [f"rank {rank}" for rank in wanted])
    axes.invert_yaxis()
    axes.set_xlabel("s since the start of the rank; calls of MPI dark")
    return axes


def efficiency(runs: Iterable[Profile], axes: Axes | None) -> Axes:
    """Draws the numbers of `efficiency()` of several runs by their numbers of ranks."""
    found = sorted(((run.manifest.ranks, run.efficiency()) for run in runs), key=lambda one: one[0])
    known: list[tuple[int, dict[str, Any]]] = [(ranks, numbers) for ranks, numbers in found if numbers is not None]
    if not known:
        raise ValueError("no run has an efficiency: none of their regions says what it does")
    axes = axes or _axes(height=4)
    for name in _EFFICIENCIES:
        points = [(ranks, numbers[name] * 100) for ranks, numbers in known if numbers[name] is not None]
        if points:
            axes.plot(*zip(*points), marker="o", label=name.replace("_", " "))
    axes.set_xscale("log", base=2)
    axes.set_xticks([ranks for ranks, _ in known], [str(ranks) for ranks, _ in known])
    axes.set_ylim(0, 105)
    axes.set_xlabel("ranks")
    axes.set_ylabel("efficiency, %")
    axes.legend()
    return axes


def _axes(height: float) -> Axes:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("pictures need the package matplotlib: pip install matplotlib") from error
    return pyplot.subplots(figsize=(9, height), layout="constrained")[1]


def _short(path: str) -> str:
    return path if len(path) <= _NAME_MAX else f"…{path[1 - _NAME_MAX :]}"
