"""Errors in the files of a profile, with messages that say what to do next."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path


class ProfileError(Exception):
    """A profile that cannot be read. `path` is the file or directory."""

    def __init__(self, path: Path, message: str) -> None:
        super().__init__(message)
        self.path = path

    def __reduce__(self) -> tuple:
        # An error in a worker process reaches the caller as what its constructor takes.
        return type(self), (self.path, str(self))


class UnfinishedError(ProfileError):
    """A missing manifest: not a profile, or one whose run ended before it was complete."""


class NotFoundError(UnfinishedError, FileNotFoundError):
    """There is nothing at the path. The message names profiles beside it with similar names."""

    def __init__(self, path: Path, similar: list[str]) -> None:
        advice = f"; did you mean {' or '.join(similar)}?" if similar else ""
        super().__init__(path, f"there is no profile {path}{advice}")
        self.filename = str(path)
        self._similar = similar

    def __reduce__(self) -> tuple:
        return type(self), (self.path, self._similar)

    def __str__(self) -> str:
        # That of an OSError is made of its number, which this one does not have.
        return self.args[0]


class NewerVersionError(ProfileError):
    """A profile in a newer layout than this reader knows. `found` is its version: major, minor."""

    def __init__(self, path: Path, found: tuple[int, int]) -> None:
        major, minor = found
        super().__init__(
            path,
            f"{path} is of format version {major}.{minor}, newer than this reader; update tinyprof to read it",
        )
        self.found = found

    def __reduce__(self) -> tuple:
        return type(self), (self.path, self.found)


class DamagedError(ProfileError):
    """Damaged bytes in a file. `offset` is the start of the damaged section or field, in bytes."""

    def __init__(self, path: Path, offset: int, reason: str) -> None:
        super().__init__(path, f"{path} is damaged at offset {offset}: {reason}")
        self.offset = offset
        self.reason = reason

    def __reduce__(self) -> tuple:
        return type(self), (self.path, self.offset, self.reason)


class TooLargeError(ProfileError, MemoryError):
    """A profile that needs more memory than the caller allows. This is no sign of damage."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(
            path,
            f"{path} needs more memory than this reader may use: {reason}; if you trust the profile, allow more, as in "
            "tinyprof.read(path, limit_bytes=4 << 30)",
        )
        self.reason = reason

    def __reduce__(self) -> tuple:
        return type(self), (self.path, self.reason)


def near(wanted: object, names: Iterable[str]) -> str:
    """Returns the words that suggest names like a mistyped one, to be put behind it; empty if there are none.

    >>> near("pere", ["peer", "site"])
    "; did you mean 'peer'?"
    """
    found = difflib.get_close_matches(str(wanted), list(names), n=3)
    return f"; did you mean {' or '.join(map(repr, found))}?" if found else ""
