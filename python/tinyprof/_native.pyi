"""The reader in Rust. Columns come as a letter of a numpy type and bytes."""

from pathlib import Path

NEWEST_VERSION: tuple[int, int]

_Listed = tuple[str, int, int]
_Columns = dict[str, tuple[str, bytearray]]

class Reader:
    def __init__(
        self,
        directory: Path,
        dictionary: _Listed,
        rows: int,
        parts: list[tuple[_Listed, int, int]],
        limit_bytes: int,
    ) -> None: ...
    def callpaths(self) -> list[tuple]: ...
    def facts(self) -> tuple[list[tuple[str, int]], _Columns, list[_Columns]]: ...
    def cells(
        self, order: list[int], ranks: int, all: bool, seconds: bool, dense: bool
    ) -> tuple[list[int], bool, bytearray]: ...
    def times(self, row: int) -> tuple[_Columns, _Columns]: ...
    def metrics(self, row: int) -> dict[str, tuple[_Columns, _Columns]]: ...
    def rows_with_metrics(self) -> list[int]: ...
