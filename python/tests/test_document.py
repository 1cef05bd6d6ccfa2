"""Profiles made of bytes by docs/format.md alone: both readers must say the same of them."""

from __future__ import annotations

import json
import struct
import subprocess
import zlib
from pathlib import Path

import pytest

import tinyprof
from export_profiles import binary

RANKS_KEY, METRICS, MESSAGES = 2**32 - 1, 2**31, 2**30
EDGES, CLOCKS = METRICS + MESSAGES, METRICS - 1


def column(*numbers: int) -> bytes:
    """A column of varints below 128."""
    return bytes((1, *numbers))


def constant(number: int) -> bytes:
    return bytes((0, number))


def varint(number: int) -> bytes:
    digits = b""
    while number > 127:
        digits, number = digits + bytes((number % 128 + 128,)), number // 128
    return digits + bytes((number,))


ZERO, ONE = constant(0), constant(1)
#: One host, a process, a thread, no peak, two kinds of loss.
FACTS = b"\x01\x01h\x01" + constant(7) + ONE + ZERO + b"\x02" + ZERO + ZERO
#: Kind 0: an execution of one visit of 5 ns; no series.
SINGLE = b"\x10" + ONE + ZERO + constant(5) + b"\x00"


def file(magic: bytes, fields: tuple[int, ...], sections: list[tuple[int, bytes]]) -> bytes:
    header = magic + struct.pack(f"<HH{len(fields)}I", 1, 1, *fields)
    whole, index = header + struct.pack("<I", zlib.crc32(header)), b""
    for key, section in sections:
        frame = struct.pack("<IQI", key, len(section), zlib.crc32(section))
        whole += frame + struct.pack("<I", zlib.crc32(frame))
        index += struct.pack("<IQQI", key, len(whole), len(section), zlib.crc32(section))
        whole += section
    return whole + index + struct.pack("<QII", len(whole), len(sections), zlib.crc32(index)) + b"TPRFEND\n"


def dictionary(line: bytes = b"\x01", more: tuple[tuple[int, bytes], ...] = ()) -> bytes:
    """`main` and below it `a`, both of line 1."""
    row = struct.Struct("<QQ")
    names = b"\x02\x04main\x01a"
    root = row.pack(1, 1) + b"\x00" + b"\x00\x00\x00" + line + b"\x01" + b"\x00\x01"
    child = row.pack(2, 2) + b"\x01" + b"\x01\x00\x00" + line + b"\x01" + b"\x00\x01"
    return file(b"TPRFPATH", (), [(0, names + b"\x02" + root + child), *more])


def part(*sections: tuple[int, bytes], facts: bytes = FACTS, fields: tuple[int, int, int] = (0, 1, 2)) -> bytes:
    return file(b"TPRFPART", fields, [(RANKS_KEY, facts), *sections])


def written(directory: Path, of_part: bytes, of_dictionary: bytes | None = None, rows: int = 2) -> Path:
    profile = directory / "made.tprof"
    profile.mkdir(exist_ok=True)
    files = {"callpaths": of_dictionary or dictionary(), "part-00000": of_part}
    for name, content in files.items():
        (profile / name).write_bytes(content)
    listed = {name: {"file": name, "bytes": len(c), "crc32": zlib.crc32(c)} for name, c in files.items()}
    manifest = {
        "format": "tinyprof",
        "version": {"major": 1, "minor": 1},
        "ranks": 1,
        "executions": 2,
        "callpaths": listed["callpaths"] | {"callpaths": rows},
        "parts": [listed["part-00000"] | {"first_rank": 0, "ranks": 1}],
        "metadata": {},
    }
    (profile / "manifest.json").write_text(json.dumps(manifest))
    return profile


def verdicts(profile: Path) -> tuple[bool, bool]:
    """Whether the command takes the profile, and whether this package does."""
    done = subprocess.run([binary(), "check", profile], capture_output=True, check=False, text=True)
    assert "panicked" not in done.stderr
    try:
        read = tinyprof.read(profile)
        read.ranks
        for callpath in read.callpaths:
            read.executions(callpath), read.series(callpath), read.metrics(callpath), read.messages(callpath)
            read.edges(callpath)
    except tinyprof.ProfileError:
        return done.returncode == 0, False
    return done.returncode == 0, True


def times(counts: bytes, executions: bytes, sums: bytes, first: int = 16, series: bytes = b"\x00") -> bytes:
    return bytes((first,)) + counts + executions + sums + series


def joined(*lengths: int, executions: bytes = ZERO, visits: bytes = ONE) -> bytes:
    """Kind 3: stretches of these lengths; each element is of 9 ns."""
    body = constant(len(lengths)) + executions + column(*lengths) + visits + constant(9) + b"\x00"
    return b"\x13" + body


def own_series(series: bytes) -> bytes:
    return times(ONE, ZERO, constant(9), series=b"\x01" + constant(len(series)) + series)


METRIC = b"\x01\x01k" + ONE + ZERO + ONE + ONE + ZERO + b"\x00" + ZERO


def sent(
    kinds: bytes = ZERO, partners: bytes = ONE, classes: bytes = constant(4), ranks: bytes = ONE, gaps: bytes = ZERO,
    counts: bytes = constant(3), means: bytes = constant(8), remainders: bytes = ONE, keys: int = 1,
) -> bytes:
    """Three messages of 25 bytes together, sent to the rank before."""
    return bytes((keys,)) + kinds + partners + classes + ranks + gaps + counts + means + remainders


def led(
    kinds: bytes = constant(2), partners: bytes = ONE, origins: bytes = constant(7), ranks: bytes = ONE,
    gaps: bytes = ZERO, numbers: dict[int, bytes] | None = None, keys: int = 1,
) -> bytes:
    """Two late senders before this rank. `numbers` are columns in place of the usual ones."""
    # Bytes 25, times 3 and 8, squares and waiting as derived, orders 4.
    usual = [2, 12, 1, 11, 2, 3, 0, 0, 6, 0, 0, 4]
    columns = [(numbers or {}).get(at, constant(number)) for at, number in enumerate(usual)]
    return bytes((keys,)) + kinds + partners + origins + ranks + gaps + b"".join(columns)


TWO_32, TWO_64_1 = b"\x00\x80\x80\x80\x80\x10", b"\x00" + b"\xff" * 9 + b"\x01"
CLOCK = b"\x0a" + constant(5) * 10

TAKEN = {
    "plain": part((0, SINGLE), (1, SINGLE)),
    "edges behind times": part((0, SINGLE), (EDGES, led()), (1, SINGLE)),
    "edges behind messages": part((METRICS, METRIC), (MESSAGES, sent()), (EDGES, led())),
    "edges of two keys": part((EDGES, led(origins=column(3, 9), keys=2))),
    "edges of a kind that has no partner": part((EDGES, led(kinds=ZERO, partners=ZERO))),
    "no keys of edges": part((0, SINGLE), (EDGES, b"\x00" + ZERO * 17)),
    "edges without an instance": part((EDGES, led(numbers={0: ZERO}))),
    "differences that wrap around": part((EDGES, led(numbers={4: TWO_64_1, 5: TWO_64_1, 6: TWO_64_1, 7: TWO_64_1}))),
    "clocks": part((CLOCKS, CLOCK), (0, SINGLE)),
    "eleven facts of a clock": part((CLOCKS, b"\x0b" + ONE * 11)),
    "no facts of a clock": part((CLOCKS, b"\x00")),
    "metrics behind times": part((0, SINGLE), (METRICS, METRIC), (1, SINGLE)),
    "messages behind times": part((0, SINGLE), (MESSAGES, sent()), (1, SINGLE)),
    "messages behind metrics": part((METRICS, METRIC), (MESSAGES, sent())),
    "messages of two keys": part((0, SINGLE), (MESSAGES, sent(partners=column(3, 0), keys=2))),
    "no keys of messages": part((0, SINGLE), (MESSAGES, b"\x00" + ZERO * 8)),
    "bytes without a message": part((0, SINGLE), (MESSAGES, sent(counts=ZERO))),
    "sixteen kinds of loss": part((0, SINGLE), facts=FACTS[:-5] + b"\x10" + ZERO * 16),
    "thirteen kinds of loss": part((0, SINGLE), facts=FACTS[:-5] + b"\x0d" + ZERO * 13),
    "more bytes for a varint than it needs": part((0, times(ONE, ZERO, b"\x00\x85\x80\x00"))),
    "stretches of the same execution": part((0, joined(1, 1, executions=column(1, 0)))),
    "exclusive sums in order": part((0, times(constant(2), ZERO, constant(3), first=48)), (1, SINGLE)),
    "codes as varints": part((0, times(ONE, ZERO, b"\x05\x01\xff\x39"))),
    "multiples as varints": part((0, times(ONE, ZERO, b"\x03\x64\x01\x05"))),
}

REFUSED = {
    "rows that descend": part((1, SINGLE), (0, SINGLE)),
    "metrics before times": part((METRICS, METRIC), (0, SINGLE)),
    "a key twice": part((0, SINGLE), (0, SINGLE)),
    "a row that is not there": part((2, SINGLE)),
    "no ranks in front": file(b"TPRFPART", (0, 1, 2), [(0, SINGLE), (RANKS_KEY, FACTS)]),
    "bytes behind the ranks": part((0, SINGLE), facts=FACTS + b"\x00"),
    "bytes behind the times": part((0, SINGLE + b"\x00")),
    "another first rank": part((0, SINGLE), fields=(1, 1, 2)),
    "another number of ranks": part((0, SINGLE), fields=(0, 2, 2)),
    "another number of callpaths": part((0, SINGLE), fields=(0, 1, 3)),
    "ranks without a host": part((0, SINGLE), facts=b"\x00" + FACTS[4:]),
    "65 kinds of loss": part((0, SINGLE), facts=FACTS[:-5] + b"\x41" + ZERO * 65),
    "exclusive sums out of order": part((0, times(constant(2), column(1, 0), constant(3), first=48))),
    "exclusive sums of a series": part((0, bytes((0x33,)) + joined(2)[1:])),
    "a kind of summaries of no version": part((0, times(ONE, ZERO, constant(5), first=20))),
    "a first byte with other bits": part((0, times(ONE, ZERO, constant(5), first=80))),
    "an empty stretch of a joined series": part((0, joined(1, 0))),
    "an empty stretch of a rank's series": part((0, own_series(b"\x02\x02" + column(0, 1) + column(2, 0) + ONE + ZERO))),
    "more joined elements than there can be": part((0, joined(127, 127, 127, 127, 127, 127, 127, 127, 127))),
    "visits of an element over 32 bits": part((0, joined(1, visits=b"\x00\x80\x80\x80\x80\x10"))),
    "an execution over 32 bits": part((0, times(ONE, b"\x00\x80\x80\x80\x80\x10", constant(5)))),
    "an integer over 64 bits": part((0, times(ONE, ZERO, b"\x00" + b"\xff" * 9 + b"\x02"))),
    "a varint of eleven bytes": part((0, times(ONE, ZERO, b"\x00" + b"\x80" * 10 + b"\x00"))),
    "a code beyond the last": part((0, times(ONE, ZERO, b"\x05\x01\x80\x3a"))),
    "codes in codes": part((0, times(ONE, ZERO, b"\x05\x05\x01\x01"))),
    "a constant in multiples": part((0, times(ONE, ZERO, b"\x03\x64\x00\x05"))),
    "multiples over 64 bits": part((0, times(ONE, ZERO, b"\x03\x64\x01" + b"\xff" * 9 + b"\x01"))),
    "messages before times": part((MESSAGES, sent()), (0, SINGLE)),
    "messages before metrics": part((MESSAGES, sent()), (METRICS, METRIC)),
    "messages of a row that is not there": part((0, SINGLE), (MESSAGES + 2, sent())),
    "keys of messages out of order": part((0, SINGLE), (MESSAGES, sent(partners=column(0, 3), keys=2))),
    "a key of messages twice": part((0, SINGLE), (MESSAGES, sent(keys=2))),
    "a key of messages of no rank": part((0, SINGLE), (MESSAGES, sent(ranks=ZERO))),
    "messages of no kind": part((0, SINGLE), (MESSAGES, sent(kinds=constant(8)))),
    "messages of no size": part((0, SINGLE), (MESSAGES, sent(classes=constant(65)))),
    "messages of no rank": part((0, SINGLE), (MESSAGES, sent(gaps=ONE))),
    "messages of too many ranks": part((0, SINGLE), (MESSAGES, sent(ranks=constant(2)))),
    "a partner over 32 bits": part((0, SINGLE), (MESSAGES, sent(partners=b"\x00\x80\x80\x80\x80\x10"))),
    "messages over 64 bits": part((0, SINGLE), (MESSAGES, sent(means=b"\x00" + b"\xff" * 9 + b"\x01"))),
    "bytes behind the messages": part((0, SINGLE), (MESSAGES, sent() + b"\x00")),
    "edges before messages": part((EDGES, led()), (MESSAGES, sent())),
    "edges of a row that is not there": part((0, SINGLE), (EDGES + 2, led())),
    "keys of edges out of order": part((EDGES, led(origins=column(9, 3), keys=2))),
    "a key of edges twice": part((EDGES, led(keys=2))),
    "a key of edges of no rank": part((EDGES, led(ranks=ZERO))),
    "edges of no kind": part((EDGES, led(kinds=constant(9)))),
    "edges of no rank": part((EDGES, led(gaps=ONE))),
    "edges of too many ranks": part((EDGES, led(ranks=constant(2)))),
    "a partner of an edge over 32 bits": part((EDGES, led(partners=TWO_32))),
    "bytes of edges over 64 bits": part((EDGES, led(numbers={1: TWO_64_1}))),
    "an order over 32 bits": part((EDGES, led(numbers={11: TWO_32}))),
    "bytes behind the edges": part((EDGES, led() + b"\x00")),
    "clocks behind times": part((0, SINGLE), (CLOCKS, CLOCK)),
    "clocks twice": part((CLOCKS, CLOCK), (CLOCKS, CLOCK)),
    "65 facts of a clock": part((CLOCKS, b"\x41" + ONE * 65)),
    "bytes behind the clocks": part((CLOCKS, CLOCK + b"\x00")),
    "metrics out of order": part((METRICS, b"\x02" + METRIC[1:] + METRIC[1:])),
}


@pytest.mark.parametrize("what", TAKEN)
def test_what_the_document_allows_is_read_by_both(what, tmp_path):
    assert verdicts(written(tmp_path, TAKEN[what])) == (True, True)


@pytest.mark.parametrize("what", REFUSED)
def test_what_the_document_forbids_is_refused_by_both(what, tmp_path):
    assert verdicts(written(tmp_path, REFUSED[what])) == (False, False)


def test_the_dictionary_is_judged_alike(tmp_path):
    good = part((0, SINGLE))
    assert verdicts(written(tmp_path, good, dictionary(more=((9, b"of a later version"),)))) == (True, True)
    assert verdicts(written(tmp_path, good, dictionary(more=((1, b"\x00"), (1, b"\x00"))))) == (False, False)
    assert verdicts(written(tmp_path, good, dictionary(line=b"\x80\x80\x80\x80\x10"))) == (False, False)
    assert verdicts(written(tmp_path, good, rows=3)) == (False, False)


def test_the_numbers_are_those_of_the_document(tmp_path):
    # Executions 0 and 1 of main, with 3 ns exclusive each; a, with 5 ns in execution 0 only.
    exclusive = part((0, times(constant(2), ZERO, constant(3), first=48)), (1, SINGLE))
    table = tinyprof.read(written(tmp_path, exclusive)).executions("main")
    assert (list(table["sum_ns"]), list(table["sum_squares_ns2"])) == ([8, 3], [64.0, 9.0])
    # The code 7,423 is 255 << 56; as a float it is rounded before it is squared.
    rounded = part((0, times(ONE, ZERO, b"\x05\x01\xff\x39")))
    table = tinyprof.read(written(tmp_path, rounded)).executions("main")
    assert (list(table["sum_ns"]), list(table["sum_squares_ns2"])) == ([255 << 56], [float(255 << 56) ** 2])
    # Both stretches are of execution 1: one summary.
    table = tinyprof.read(written(tmp_path, part((0, joined(1, 2, executions=column(1, 0)))))).executions("main")
    assert [list(table[name])[0] for name in ("visits", "sum_ns", "sum_squares_ns2")] == [3, 27, 243.0]
    # Twelve bytes an instance and one more; 5 is the mean of 3 and 8, rounded down.
    table = tinyprof.read(written(tmp_path, part((CLOCKS, CLOCK), (EDGES, led())))).edges("main").reset_index()
    assert table.drop(columns="callpath").values.tolist() == [
        [0, "message", -1, None, 2, 25, 11, 3, 8, 60.5, 11, 6, 0, 0, 4],
    ]
    # Squares: 3 * 3 + 8 * 8. Both 60.5 and 73.0 have the same exponent or the next.
    steps = struct.unpack("<q", struct.pack("<d", 73.0))[0] - struct.unpack("<q", struct.pack("<d", 60.5))[0]
    spread = b"\x00" + varint(2 * steps)
    table = tinyprof.read(written(tmp_path, part((EDGES, led(numbers={6: spread, 7: ONE}))))).edges("main")
    assert table[["sum_squares_ns2", "compensated_ns"]].values.tolist() == [[73.0, 10.0]]
    assert tinyprof.read(written(tmp_path, part((CLOCKS, CLOCK)))).clocks.values.tolist() == [[5] * 10]
    # Keys in the order of partners -2 and 0, of which the first is outside of the world.
    of_both = part((0, SINGLE), (MESSAGES, sent(partners=column(3, 0), counts=column(3, 0), keys=2)))
    table = tinyprof.read(written(tmp_path, of_both)).messages("main").reset_index()
    assert table.drop(columns="callpath").values.tolist() == [
        [0, "message_out", -2, 4, 3, 25],
        [0, "message_out", 0, 4, 0, 9],
    ]
