"""The manifest: the list of a profile's files, and the facts of the run."""

from __future__ import annotations

import difflib
import json
import os
import stat
from pathlib import Path
from typing import Any

from ._native import NEWEST_VERSION
from .errors import NewerVersionError, NotFoundError, ProfileError, UnfinishedError

#: Kinds of loss, in the order of their columns in a part.
LOSSES = (
    "visits_not_recorded",
    "visits_in_other",
    "visits_open",
    "visits_unbalanced",
    "clock_steps_back",
    "records_unreadable",
    "records_torn",
    "segments_not_mapped",
    "series_buckets_folded",
    "executions_folded",
    "visits_not_timed",
    "values_not_recorded",
    "visits_kept_out",
    "visits_too_deep",
    "visits_without_key",
    "messages_without_partner",
    "edges_without_partner",
)

#: Facts of a rank's clock at level `messages`, in the order of their columns in a part.
CLOCK_FACTS = (
    "companions",
    "own_intrusion_ns",
    "intrusion_ns",
    "uncertainty_ns",
    "ideal_ns",
    "offset_uncertainty_ns",
    "companions_missing",
    "companions_unclear",
    "contradictions",
    "inversions",
    "unfollowed_ns",
    "propagated_uncertainty_ns",
    "companions_left",
)

#: Facts of a rank's processor time, in the order of their columns in a part.
PROCESSOR_FACTS = (
    "wall_ns",
    "cpu_ns",
    "threads_ns",
    "threads_cpu_ns",
    "delay_ns",
    "thread_cpu_max_ns",
    "threads_unread",
    "threads_at_work",
    "processors_allowed",
)

#: A file as the manifest lists it: name, length in bytes, CRC-32.
Listed = tuple[str, int, int]

#: The name of the file.
NAME = "manifest.json"

#: No manifest of four thousand ranks has a thousandth of this.
_BYTES_MAX = 256 << 20


class Manifest:
    """The content of `manifest.json`, checked as far as the other files depend on it."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / NAME
        try:
            text = self._text()
        except (FileNotFoundError, NotADirectoryError):
            raise self._missing(directory) from None
        try:
            self.json: dict[str, Any] = json.loads(text)
            kind = self.json["format"]
            self.version = (int(self.json["version"]["major"]), int(self.json["version"]["minor"]))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise self._bad(f"{type(error).__name__}: {error}") from None
        if kind != "tinyprof":
            raise self._bad(f"its format is {kind!r}, not 'tinyprof'")
        if self.version[0] > NEWEST_VERSION[0]:
            raise NewerVersionError(self.path, self.version)
        try:
            self._read()
        except (KeyError, TypeError, ValueError) as error:
            raise self._bad(f"{type(error).__name__}: {error}") from None
        if sum(ranks for _, _, ranks in self.parts) != self.ranks:
            raise self._bad(f"its parts hold other ranks than the {self.ranks} that it speaks of")

    def _text(self) -> bytes:
        # Opening a pipe would wait for a writer, maybe for ever.
        opened = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            found = os.fstat(opened)
            if not stat.S_ISREG(found.st_mode):
                raise self._bad("it is no regular file")
            if found.st_size > _BYTES_MAX:
                raise self._bad(f"it has {found.st_size} bytes, more than {_BYTES_MAX}")
            with open(opened, "rb", closefd=False) as file:
                return file.read(_BYTES_MAX)
        finally:
            os.close(opened)

    def _read(self) -> None:
        self.ranks = _number(self.json["ranks"], 32)
        self.executions = _number(self.json["executions"], 32)
        dictionary = self.json["callpaths"]
        self.callpaths = self._file(dictionary)
        self.rows = _number(dictionary["callpaths"], 31)
        #: File, first rank, ranks.
        self.parts = [
            (self._file(part), _number(part["first_rank"], 32), _number(part["ranks"], 32))
            for part in self.json["parts"]
        ]
        losses = self.json.get("losses", {})
        self.losses = {name: int(losses.get(name, 0)) for name in LOSSES}
        self.metadata: dict[str, Any] = dict(self.json["metadata"])
        self.complete = bool(self.json.get("complete", True))
        self.incomplete_because: str | None = self.json.get("incomplete_because")
        self.precision: str = self.json.get("precision", "exact")

    def _file(self, entry: dict[str, Any]) -> Listed:
        """Returns name, length in bytes and CRC-32 of a file inside the profile."""
        name = entry["file"]
        # An untrusted manifest must not make us read other files.
        if not isinstance(name, str) or name in ("", ".", "..") or set(name) & set("/\\\0"):
            raise ValueError(f"{name!r} is not the name of a file inside the profile")
        return name, _number(entry["bytes"], 64), _number(entry["crc32"], 32)

    def _bad(self, reason: str) -> ProfileError:
        return ProfileError(self.path, f"{self.path} is not a readable manifest: {reason}")

    @staticmethod
    def _missing(directory: Path) -> UnfinishedError:
        if not directory.exists():
            return NotFoundError(directory, _similar(directory))
        if (directory / "callpaths").exists() or (directory / "part-00000").exists():
            reason = "has no manifest.json: its run ended before the profile was complete"
        else:
            reason = "is not a profile: it has no manifest.json (expected a directory NAME.tprof)"
        return UnfinishedError(directory, f"{directory} {reason}")


class Run:
    """What the manifest says of a run."""

    path: Path
    manifest: Manifest

    @property
    def metadata(self) -> dict[str, Any]:
        """The facts of the run under Adiak's keys.

        Examples: `user`, `launchdate` (s since 1970), `executable`, `jobsize`.
        """
        return self.manifest.metadata

    @property
    def precision(self) -> str:
        """The precision of times: `exact` or `8bit`.

        Exact times are as measured. 8-bit times are rounded; each is off by at most 0.4 %.
        """
        return self.manifest.precision

    @property
    def losses(self) -> dict[str, int]:
        """The counts of dropped, folded and open data, over all ranks. All zero in a usual run."""
        return self.manifest.losses


def _similar(missing: Path) -> list[str]:
    """Returns the names of profiles beside a path, the most similar first; at most three."""
    try:
        names = sorted(name for name in os.listdir(missing.parent) if name.endswith(".tprof"))
    except OSError:
        return []
    wanted = missing.name if missing.name.endswith(".tprof") else f"{missing.name}.tprof"
    return difflib.get_close_matches(wanted, names, n=3)


def _number(value: object, bits: int) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << bits:
        return value
    raise ValueError(f"{value!r} is no number of {bits} bits")
