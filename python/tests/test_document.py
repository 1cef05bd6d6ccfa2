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


def numbers(*constants: int) -> bytes:
    """Numbers of equal values for all ranks and keys."""
    return b"".join(b"\x01" + constant(number) for number in constants)


#: One set, of rank 0 alone.
SETS = b"\x01" + ONE + ZERO + ONE


def talk(
    sent: tuple[bytes, ...] = (), led: tuple[bytes, ...] = (), counts: bytes = b"", edges: bytes = b"",
    head: bytes = b"\x01" + ZERO, sets_of_ranks: bytes = SETS, unknown: bytes = b"\x00", keys: tuple[bytes, bytes] | None = None,
) -> bytes:
    """A section of one callpath. `sent` and `led` are the columns of the keys of messages and edges."""
    keys = keys or (constant(1 if sent else 0), constant(1 if led else 0))
    of_keys = b"".join(sent or (ZERO,) * 4) + b"".join(led or (ZERO,) * 4)
    return head + b"".join(keys) + sets_of_ranks + of_keys + unknown + (counts or b"\x00" * 3) + (edges or b"\x00" * 12)


def sent(
    kinds: bytes = ZERO, partners: bytes = ONE, classes: bytes = constant(4), sets: bytes = ZERO,
    counts: bytes = numbers(3, 8, 1), keys: int = 1, **more: bytes,
) -> bytes:
    """Three messages of 25 bytes together, sent to the rank before."""
    return talk((kinds, partners, classes, sets), counts=counts, keys=(constant(keys), ZERO), **more)


#: Two instances: bytes 25, times 3 and 8, squares and waiting as derived, orders 4.
USUAL = (2, 12, 1, 11, 2, 3, 0, 0, 6, 0, 0, 4)


def led(
    kinds: bytes = constant(2), partners: bytes = ONE, origins: bytes = constant(3), sets: bytes = ZERO,
    edges: dict[int, int] | None = None, keys: int = 1, unknown: bytes = b"\x01" + struct.pack("<Q", 7), **more: bytes,
) -> bytes:
    """Two late senders before this rank, at an unknown callpath. `edges` are in place of the usual numbers."""
    changed = [(edges or {}).get(at, number) for at, number in enumerate(USUAL)]
    columns = b"".join(b"\x01\x00" + varint(number) for number in changed)
    return talk(
        led=(kinds, partners, origins, sets), edges=columns, unknown=unknown, keys=(ZERO, constant(keys)), **more
    )


def clocks(of: bytes) -> bytes:
    return part((0, SINGLE), facts=FACTS + of)


TWO_32, TWO_64_1 = b"\x00\x80\x80\x80\x80\x10", b"\x00" + b"\xff" * 9 + b"\x01"
#: The largest number of 64 bits.
MOST = 2**64 - 1
CLOCK = b"\x0a" + constant(5) * 10
#: A message of one byte from the rank before, and an edge that says the same of it.
BOTH = talk(
    (ONE, ONE, ONE, ZERO), (constant(2), ONE, ZERO, ZERO), numbers(2, 12, 1), numbers(0, 0, 0, *USUAL[3:])
)

TAKEN = {
    "plain": part((0, SINGLE), (1, SINGLE)),
    "edges behind times": part((0, SINGLE), (MESSAGES, led()), (1, SINGLE)),
    "edges of two keys": part((MESSAGES, led(origins=column(1, 3), keys=2))),
    "edges of a kind that has no partner": part((MESSAGES, led(kinds=ZERO, partners=ZERO))),
    "an edge from a row": part((MESSAGES, led(origins=constant(2), unknown=b"\x00"))),
    "edges without an instance": part((MESSAGES, led(edges={0: 0}))),
    "differences that wrap around": part((MESSAGES, led(edges={4: MOST, 5: MOST, 7: MOST}))),
    "an edge and its message": part((MESSAGES, BOTH)),
    "a callpath of an earlier row": part((0, SINGLE), (1, SINGLE), (MESSAGES + 1, sent(head=b"\x01" + ONE))),
    "two sections of messages": part((MESSAGES, sent()), (MESSAGES + 1, sent())),
    "no callpath with messages": part((MESSAGES, talk(head=b"\x00" + ZERO))),
    "clocks": clocks(CLOCK),
    "eleven facts of a clock": clocks(b"\x0b" + ONE * 11),
    "no facts of a clock": clocks(b"\x00"),
    "processors": clocks(CLOCK + b"\x09" + ONE * 9),
    "processors without clocks": clocks(b"\x00\x02" + ONE * 2),
    "ten facts of a processor": clocks(CLOCK + b"\x0a" + ONE * 10),
    "metrics behind times": part((0, SINGLE), (METRICS, METRIC), (1, SINGLE)),
    "messages behind times": part((0, SINGLE), (MESSAGES, sent()), (1, SINGLE)),
    "messages behind metrics": part((METRICS, METRIC), (MESSAGES, sent())),
    "messages of two keys": part((0, SINGLE), (MESSAGES, sent(partners=column(3, 0), keys=2))),
    "numbers of each layout": part((0, SINGLE), (MESSAGES, sent(counts=b"\x03" + ONE + b"\x02" + ONE + ONE + b"\x00"))),
    "no keys": part((0, SINGLE), (MESSAGES, talk())),
    "bytes without a message": part((0, SINGLE), (MESSAGES, sent(counts=numbers(0, 8, 1)))),
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
    "bytes behind the ranks": part((0, SINGLE), facts=FACTS + b"\x00\x00\x00"),
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
    "a set of no rank": part((0, SINGLE), (MESSAGES, sent(sets_of_ranks=b"\x01" + ZERO * 3))),
    "a run of no rank": part((0, SINGLE), (MESSAGES, sent(sets_of_ranks=b"\x01" + ONE + ZERO + ZERO))),
    "a set that is not there": part((0, SINGLE), (MESSAGES, sent(sets=ONE))),
    "messages of no kind": part((0, SINGLE), (MESSAGES, sent(kinds=constant(8)))),
    "messages of no size": part((0, SINGLE), (MESSAGES, sent(classes=constant(65)))),
    "messages of a rank that is not there": part((0, SINGLE), (MESSAGES, sent(sets_of_ranks=b"\x01" + ONE + ONE + ONE))),
    "messages of too many ranks": part((0, SINGLE), (MESSAGES, sent(sets_of_ranks=b"\x01" + ONE + ZERO + constant(2)))),
    "a partner over 32 bits": part((0, SINGLE), (MESSAGES, sent(partners=TWO_32))),
    "messages over 64 bits": part((0, SINGLE), (MESSAGES, sent(counts=b"\x01" + constant(3) + b"\x01" + TWO_64_1 + b"\x00"))),
    "numbers of no layout": part((0, SINGLE), (MESSAGES, sent(counts=b"\x04" + ONE + b"\x00" * 2))),
    "bytes behind the messages": part((0, SINGLE), (MESSAGES, sent() + b"\x00")),
    "a callpath before the first": part((0, SINGLE), (MESSAGES, sent(head=b"\x01" + ONE))),
    "a callpath of the section before": part((MESSAGES, sent()), (MESSAGES + 1, sent(head=b"\x01" + ONE))),
    "more callpaths than rows": part((MESSAGES, sent(head=b"\x02" + ZERO))),
    "messages of the key of edges before 1.1": part((0, SINGLE), (METRICS + MESSAGES, sent())),
    "keys of edges out of order": part((MESSAGES, led(origins=column(3, 1), keys=2))),
    "a key of edges twice": part((MESSAGES, led(keys=2))),
    "edges of no kind": part((MESSAGES, led(kinds=constant(14)))),
    "an origin that is not there": part((MESSAGES, led(origins=constant(4)))),
    "more unknown origins than there are": part((MESSAGES, led(unknown=b"\x7f"))),
    "a partner of an edge over 32 bits": part((MESSAGES, led(partners=TWO_32))),
    "bytes of edges over 64 bits": part((MESSAGES, led(edges={1: MOST}))),
    "squares of no code": part((MESSAGES, led(edges={6: 2**17}))),
    "an order over 32 bits": part((MESSAGES, led(edges={11: 2**32}))),
    "bytes behind the processors": clocks(CLOCK + b"\x00\x00"),
    "65 facts of a processor": clocks(CLOCK + b"\x41" + ONE * 65),
    "a fact of a processor that is missing": clocks(CLOCK + b"\x02" + ONE),
    "65 facts of a clock": clocks(b"\x41" + ONE * 65),
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
    # Twelve bytes an instance and one more; 5 is the mean of 3 and 8, rounded down. 60.5 is 11 * 5.5; the largest
    # distance to it is 2 * 2.5 * 2.5 = 12.5.
    table = tinyprof.read(written(tmp_path, part((MESSAGES, led())))).edges("main").reset_index()
    assert table.drop(columns="callpath").values.tolist() == [
        [0, "message", -1, None, 2, 25, 11, 3, 8, 73.0, 11, 6, 0, 0, 4],
    ]
    # 128 codes less are half of the distance.
    table = tinyprof.read(written(tmp_path, part((MESSAGES, led(edges={6: 2 * 128, 7: 1}))))).edges("main")
    assert table[["sum_squares_ns2", "compensated_ns"]].values.tolist() == [[66.75, 10.0]]
    table = tinyprof.read(written(tmp_path, part((MESSAGES, BOTH)))).edges("main")
    assert table[["count", "bytes"]].values.tolist() == [[2, 25]]
    assert tinyprof.read(written(tmp_path, clocks(CLOCK))).clocks.values.tolist() == [[5] * 10 + [0] * 3]
    read = tinyprof.read(written(tmp_path, clocks(b"\x00\x02" + constant(9) + constant(4))))
    assert (read.processors.values.tolist(), read.clocks.any(axis=None)) == ([[9, 4] + [0] * 7], False)
    # Keys in the order of partners -2 and 0, of which the first is outside of the world.
    of_both = part((0, SINGLE), (MESSAGES, sent(partners=column(3, 0), counts=b"\x01" + column(3, 0) + numbers(8, 1), keys=2)))
    table = tinyprof.read(written(tmp_path, of_both)).messages("main").reset_index()
    assert table.drop(columns="callpath").values.tolist() == [
        [0, "message_out", -2, 4, 3, 25],
        [0, "message_out", 0, 4, 0, 9],
    ]
