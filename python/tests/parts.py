"""Profiles of many parts, made of a few that the command imports."""

from __future__ import annotations

import json
import struct
import zlib
from pathlib import Path

from export_profiles import imported

#: The place of the first rank in the header of a part, and of the checksum behind the header.
_FIRST_RANK, _CHECKSUM = 12, 24


def wide(directory: Path, name: str, ranks: int, callpaths: int, seed: int) -> Path:
    """A profile in one part. Its times differ by rank, and more so with a greater `seed`."""
    rows = [(["main"], False, [[10**9] for _ in range(ranks)])]
    for row in range(1, callpaths):
        times = [[1_000 * (row + 1) + rank * (7 * seed + row) % (100 * seed)] for rank in range(ranks)]
        # The last callpath is one of the odd ranks.
        if row == callpaths - 1:
            times = [ns if rank % 2 else [] for rank, ns in enumerate(times)]
        rows.append((["main", f"region_{row}"], False, times))
    return imported(directory, name, rows)


def repeated(profiles: list[Path], times: int, to: Path) -> Path:
    """A profile with the parts of `profiles`, again and again, as if other ranks had written them."""
    to.mkdir()
    dictionary = (profiles[0] / "callpaths").read_bytes()
    (to / "callpaths").write_bytes(dictionary)
    manifest = json.loads((profiles[0] / "manifest.json").read_text())
    parts: list[dict] = []
    first_rank = 0
    for profile in profiles * times:
        assert (profile / "callpaths").read_bytes() == dictionary
        (part,) = json.loads((profile / "manifest.json").read_text())["parts"]
        data = bytearray((profile / part["file"]).read_bytes())
        struct.pack_into("<I", data, _FIRST_RANK, first_rank)
        struct.pack_into("<I", data, _CHECKSUM, zlib.crc32(data[:_CHECKSUM]))
        name = f"part-{len(parts):05}"
        (to / name).write_bytes(data)
        parts.append({**part, "file": name, "first_rank": first_rank, "crc32": zlib.crc32(data)})
        first_rank += part["ranks"]
    manifest.update(ranks=first_rank, parts=parts)
    (to / "manifest.json").write_text(json.dumps(manifest))
    return to
