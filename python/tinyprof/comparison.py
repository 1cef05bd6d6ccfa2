"""Comparisons of runs: those of the command `tinyprof diff`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from . import plots
from ._native import Comparison
from .profile import Profile, read
from .reports import WIDTH, Text, name_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: A run: a profile, or the path of one.
Run = Profile | str | os.PathLike[str]


def diff(
    base: Run | Iterable[Run],
    new: Run | Iterable[Run],
    *,
    metric: str = "inclusive",
    estimator: str = "mean",
    fail_above: float | None = None,
    min_share: float = 0.01,
) -> Diff:
    """Compares runs before a change, `base`, with runs after it, `new`.

    A side is a profile, or several: with five runs a side or more, the comparison tells changes
    from chance. `metric` is `inclusive`, `exclusive`, `visits`, or the key of a metric; `estimator`
    (`mean`, `median` or `min`) makes the value of a run from its executions. `fail_above` is a
    limit, 0.05 for 5 %; callpaths below `min_share` of the time are ignored by it, and by the text.
    All arguments mean what they mean to `tinyprof diff`.

    Raises `ValueError` if a side has no run, or if there is no such estimator, `KeyError` if there
    is no such metric, and the errors of `read`.

    >>> import tinyprof
    >>> diff = tinyprof.diff(PROFILE, PROFILE)
    >>> diff.callpaths[0]["verdict"]
    'equal'
    """
    sides = [_runs(base, "base"), _runs(new, "new")]
    paths = [run.path for side in sides for run in side]
    names = [name_of(path) for path in paths]
    if len(set(names)) < len(names):
        names = [os.fsencode(path).decode(errors="replace") for path in paths]
    sources = [(run.path, name, run.limit_bytes) for run, name in zip((run for side in sides for run in side), names)]
    of_base = len(sides[0])
    return Diff(Comparison(sources[:of_base], sources[of_base:], metric, estimator, fail_above, min_share))


def plot_efficiency(runs: Run | Iterable[Run], *, axes: Axes | None = None) -> Axes:
    """Draws how well the ranks of several runs were used: the numbers of `efficiency()` by the number of ranks.

    `runs` are profiles or their paths. Draws on `axes`, or a new figure, and returns them. Needs the
    package `matplotlib`. Raises `ValueError` if no run has an efficiency.
    """
    return plots.efficiency(_runs(runs, "runs"), axes)


class Diff:
    """The comparison of two sides. Its text is that of `tinyprof diff`."""

    def __init__(self, native: Comparison) -> None:
        """Wraps a comparison. Use `diff` instead."""
        self._native = native

    @cached_property
    def json(self) -> dict[str, Any]:
        """The object that `tinyprof diff --json` prints; docs/schema.json describes it.

        Its keys are members of the comparison as a whole, and `callpaths`.
        """
        return json.loads(self._native.json())

    @property
    def callpaths(self) -> list[dict[str, Any]]:
        """The callpaths, regressions first, the greatest first.

        Some of the keys: `path`, `verdict` (`up`, `down`, `unclear`, `unjudged`, `equal`, `new`,
        `gone`), `change` and `smallest_change`, the smallest change that could have been told from
        chance, both as fractions of the base.

        >>> [row["path"] for row in tinyprof.diff(PROFILE, PROFILE).callpaths if row["verdict"] == "up"]
        []
        """
        return self.json["callpaths"]

    @property
    def samples(self) -> str:
        """The kind of values that were compared, such as `samples: 5 runs against 5`."""
        return self._native.notes()[0]

    @property
    def notes(self) -> list[str]:
        """What has to be known to read the numbers."""
        return self._native.notes()[1]

    @property
    def is_above_limit(self) -> bool:
        """Whether a callpath is up by more than `fail_above`: `tinyprof diff` would exit with 4."""
        return self._native.is_above_limit()

    def dataframe(self) -> pd.DataFrame:
        """Returns a frame with a row for each callpath, regressions first.

        Columns: `verdict`, `change`, `smallest_change`, `base` and `new` (the means per rank and
        execution), `difference`, `low` and `high` (its 95 % interval), `hedges_g`, `adjusted_p`, `share`
        and `fails`. Unknown numbers are NaN.

        >>> tinyprof.diff(PROFILE, PROFILE).dataframe().loc["main", "verdict"]
        'equal'
        """
        rows = [
            {
                "callpath": row["path"] or row["name"],
                "verdict": row["verdict"],
                "change": row["change"],
                "smallest_change": row["smallest_change"],
                "base": row["base"]["mean"],
                "new": row["new"]["mean"],
                "difference": row["difference"],
                "low": (row["interval"] or (None, None))[0],
                "high": (row["interval"] or (None, None))[1],
                "hedges_g": row["hedges_g"],
                "adjusted_p": row["adjusted_p"],
                "share": row["share"],
                "fails": row["fails"],
            }
            for row in self.callpaths
        ]
        table = pd.DataFrame(rows).set_index("callpath")
        texts = ("verdict", "fails")
        return table.astype({name: float for name in table.columns if name not in texts})

    def text(self, *, all: bool = False, width: int = WIDTH) -> Text:
        """Returns the text of `tinyprof diff` in `width` columns.

        With `all`, it also has the callpaths below `min_share`.

        >>> tinyprof.diff(PROFILE, PROFILE).text().splitlines()[2].split()[:3]
        ['verdict', 'base', 'new']
        """
        return Text(self._native.text(all, width))

    def __str__(self) -> str:
        return self.text()

    __repr__ = __str__


def _runs(side: Run | Iterable[Run], name: str) -> list[Profile]:
    given = [side] if isinstance(side, (Profile, str, os.PathLike)) else list(side)
    if not given:
        raise ValueError(f"{name} has no run")
    return [run if isinstance(run, Profile) else read(Path(run)) for run in given]
