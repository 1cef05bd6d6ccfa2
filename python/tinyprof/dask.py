"""Profiles as Dask DataFrames: those that are larger than memory, and many at once.

>>> import tinyprof.dask
>>> profile = tinyprof.dask.read("fft-4242.tprof")                    # doctest: +SKIP
>>> profile.statistics().compute()                                    # doctest: +SKIP
>>> profile.dataframe().groupby("callpath")["sum_ns"].max().compute() # doctest: +SKIP
>>> tinyprof.dask.read_all("runs").dataframe()                        # doctest: +SKIP

The calls have the names of those of `tinyprof.Profile`, and their frames the columns and types,
with the levels of the index as columns before them. A partition is a part of a profile: the ranks
whose data one rank has written. Needs the packages `dask[dataframe]`, and `distributed` for several
processes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

import pandas as pd

try:
    import dask
    import dask.dataframe as dd
except ImportError as error:
    raise ImportError(
        f"tinyprof.dask needs Dask with its data frames: pip install 'tinyprof[dask]', or 'dask[dataframe]' ({error})"
    ) from error

from . import profile as eager
from . import joined, thickets
from .callpath import Callpath
from .errors import ProfileError
from .manifest import NAME as MANIFEST
from .manifest import Manifest, Run
from .partitions import META, PROFILE, Part, frame, meta_of, parts_of
from .statistics import statistics_of

__all__ = ["Profile", "Profiles", "read", "read_all", "statistics_of"]

_Path = str | os.PathLike[str]


def read(profile: _Path | eager.Profile, *, limit_bytes: int | None = None) -> Profile:
    """Returns the frames of a profile, given by its directory or as a `tinyprof.Profile`.

    Reads only the manifest; every part is read and verified when a frame is computed, by the
    process that does it. The directory must have the same path in all of them. `limit_bytes` is the
    most memory that a call on one part may use for decoded values: 1 GiB, or that of the given
    profile.

    Raises the errors of `tinyprof.read`, those of parts when a frame is computed.

    >>> tinyprof.dask.read(PROFILE).dataframe().npartitions
    2
    """
    if isinstance(profile, eager.Profile):
        return Profile(profile.path, profile.limit_bytes if limit_bytes is None else limit_bytes)
    return Profile(Path(profile), eager.LIMIT_BYTES if limit_bytes is None else limit_bytes)


def read_all(profiles: _Path | Iterable[_Path | eager.Profile], *, limit_bytes: int | None = None) -> Profiles:
    """Returns the frames of several profiles, with the column `profile` before all others.

    `profiles` are directories, or one directory with profiles in it: all that have the name
    `NAME.tprof` or a manifest, sorted by name. All else is as for `read`.

    >>> tinyprof.dask.read_all([PROFILE]).dataframe().columns[:3].tolist()
    ['profile', 'callpath', 'rank']
    """
    if isinstance(profiles, (str, os.PathLike)):
        profiles = _profiles_in(Path(profiles))
    return Profiles([read(profile, limit_bytes=limit_bytes) for profile in profiles])


def _profiles_in(directory: Path) -> list[Path]:
    if (directory / MANIFEST).exists():
        raise ProfileError(directory, f"{directory} is a profile, not a directory of profiles: use tinyprof.dask.read")
    if not directory.is_dir():
        raise FileNotFoundError(f"there is no directory {directory} (expected one with directories NAME.tprof in it)")
    inside = sorted(directory.iterdir())
    found = [path for path in inside if path.suffix == ".tprof" or (path / MANIFEST).exists()]
    if not found:
        raise ProfileError(directory, f"{directory} has no profiles in it (expected directories NAME.tprof)")
    return found


class _Frames:
    """The frames of the parts of one profile or several. Each has a partition for each part."""

    _parts: list[Part]
    _has_names: bool

    def dataframe(self, *, metrics: bool | Iterable[str] = False) -> dd.DataFrame:
        """Returns the frame of `tinyprof.Profile.dataframe`, with columns of metrics if asked for.

        Which keys metrics have is known only to the parts: with `metrics=True` all of them are read
        for the keys, at once. With keys in `metrics` nothing is read, and the columns have missing
        values where nobody has recorded such a key.
        """
        if not isinstance(metrics, bool):
            keys = list(metrics)
        else:
            keys = joined.metric_keys(self._parts) if metrics else []
        if not keys:
            return self._frame("dataframe")
        return self._frame("dataframe", tuple(keys))

    def executions(self, path: str | int | Callpath) -> dd.DataFrame:
        """Returns the frame of `tinyprof.Profile.executions`."""
        return self._frame("executions", self._callpath(path))

    def series(self, path: str | int | Callpath) -> dd.DataFrame:
        """Returns the frame of `tinyprof.Profile.series`: of a loop, a row for each iteration."""
        return self._frame("series", self._callpath(path))

    def messages(self, path: str | int | Callpath | None = None) -> dd.DataFrame:
        """Returns the frame of `tinyprof.Profile.messages`, in each partition sorted as there."""
        return self._frame("messages", *([] if path is None else [self._callpath(path)]))

    def edges(self, path: str | int | Callpath | None = None) -> dd.DataFrame:
        """Returns the frame of `tinyprof.Profile.edges`, in each partition sorted as there."""
        return self._frame("edges", *([] if path is None else [self._callpath(path)]))

    def events(self) -> dd.DataFrame:
        """Returns the frame of `tinyprof.Profile.events`."""
        return self._frame("events")

    def message_events(self) -> dd.DataFrame:
        """Returns the frame of `tinyprof.Profile.message_events`."""
        return self._frame("message_events")

    def event_losses(self) -> dd.DataFrame:
        """Returns the frame of `tinyprof.Profile.event_losses`."""
        return self._frame("event_losses")

    def delay_costs(self) -> dd.DataFrame:
        """Returns the frame of `tinyprof.Profile.delay_costs`.

        Each part is read twice: what a rank was doing, another one may have described.
        """
        return self._joined("delay_costs")

    def critical_path(self, rank: int | None = None) -> dd.DataFrame:
        """Returns the frame of `tinyprof.Profile.critical_path`, in one partition for each profile."""
        return self._joined("critical_path", rank)

    def cause_facts(self) -> dd.DataFrame:
        """Returns the frame of `tinyprof.Profile.cause_facts`."""
        return self._frame("cause_facts")

    @property
    def ranks(self) -> dd.DataFrame:
        """The frame of `tinyprof.Profile.ranks`."""
        return self._frame("ranks")

    @property
    def clocks(self) -> dd.DataFrame:
        """The frame of `tinyprof.Profile.clocks`."""
        return self._frame("clocks")

    @property
    def processors(self) -> dd.DataFrame:
        """The frame of `tinyprof.Profile.processors`."""
        return self._frame("processors")

    def statistics(self) -> dd.DataFrame:
        """Returns statistics over the ranks: a row for each callpath, in one partition.

        They are those of `tinyprof report`, and the columns have the names of its CSV: `ranks`
        (that visited the callpath), `visits`, and for `inclusive` and `exclusive` times
        `..._sum_ns`, `..._min_ns`, `..._mean_ns`, `..._max_ns`, `..._max_rank` (the lowest of
        several), `..._imbalance` (`max / mean - 1`; NaN if the mean is 0) and `..._lost_ns` (what
        all ranks together wait if each waits for the slowest). Exclusive times are 0 on ranks where
        callees took longer, on other threads. `statistics_of` has the statistics of some ranks.
        """
        return statistics_of(self.dataframe())

    def _frame(self, name: str, *arguments: str | int | tuple[str, ...]) -> dd.DataFrame:
        whole = meta_of(name, arguments)
        columns = self._columns(whole)
        # Texts stay objects, as in the frames of pandas.
        with dask.config.set({"dataframe.convert-string": False}):
            if not self._parts:
                return dd.from_pandas(whole[columns], npartitions=1)
            found = dd.from_map(frame, self._parts, args=(name, arguments), meta=whole, label=f"tinyprof-{name}")
            return found[columns]

    def _joined(self, name: str, *arguments: int | None) -> dd.DataFrame:
        columns = self._columns(META[name])
        with dask.config.set({"dataframe.convert-string": False}):
            if not self._parts:
                return dd.from_pandas(META[name][columns], npartitions=1)
            return getattr(joined, name)(self._parts, columns, *arguments)

    def _columns(self, meta: pd.DataFrame) -> list[str]:
        return [column for column in meta.columns if self._has_names or column != PROFILE]

    def _callpath(self, path: str | int | Callpath) -> str | int:
        raise NotImplementedError


class Profile(_Frames, Run):
    """The frames of one run, as returned by `read`."""

    _has_names = False

    def __init__(self, path: Path, limit_bytes: int) -> None:
        """Reads the manifest. Use `read` instead."""
        self.path = path
        self.manifest = Manifest(path)
        self._parts = list(parts_of(str(path), path.absolute(), self.manifest, limit_bytes))

    def __repr__(self) -> str:
        manifest = self.manifest
        return f"<tinyprof.dask.Profile {str(self.path)!r}: {manifest.ranks} ranks, parts: {len(self._parts)}>"

    def _callpath(self, path: str | int | Callpath) -> str | int:
        return path.row if isinstance(path, Callpath) else path


class Profiles(_Frames):
    """The frames of several runs, as returned by `read_all`."""

    _has_names = True

    def __init__(self, profiles: list[Profile]) -> None:
        self.profiles = profiles
        self._parts = [part for profile in profiles for part in profile._parts]
        if not profiles:
            raise ValueError("tinyprof.dask.read_all needs at least one profile")
        if len({profile.path for profile in profiles}) < len(profiles):
            raise ValueError(f"a profile is there twice: {[str(profile.path) for profile in profiles]}")

    def __repr__(self) -> str:
        return f"<tinyprof.dask.Profiles: {len(self.profiles)} profiles, parts: {len(self._parts)}>"

    @cached_property
    def metadata(self) -> pd.DataFrame:
        """The facts of the runs, as in the metadata of `tinyprof.to_thicket`: a row for each profile.

        The index has the names of the column `profile`.
        """
        names = pd.Index([str(profile.path) for profile in self.profiles], dtype=object, name=PROFILE)
        return pd.DataFrame([thickets.metadata(profile) for profile in self.profiles], index=names)

    def _callpath(self, path: str | int | Callpath) -> str | int:
        if isinstance(path, str):
            return path
        raise TypeError(f"several profiles have rows of their own: name a callpath by its path, not by {path!r}")
