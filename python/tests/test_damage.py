"""Damaged and hostile profiles: an error that names file and offset, never a panic, a hang or much memory."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

import tinyprof
from conftest import NEWEST, VERSIONS, frozen
from tinyprof._native import Reader
from tinyprof.manifest import Manifest

FILES = ("callpaths", "part-00000", "part-00001")


def places(begin: int, end: int) -> list[int]:
    """Places of a file to damage: all with `TINYPROF_EVERY_BYTE`, else all near both ends and one of seven between."""
    near, step = 64, 1 if "TINYPROF_EVERY_BYTE" in os.environ else 7
    return [at for at in range(begin, end) if at < begin + near or at >= end - near or at % step == 0]


def read_all(path: Path) -> None:
    """Everything that can be decoded; without frames, which take ten times as long."""
    manifest = Manifest(path)
    reader = Reader(path, manifest.callpaths, manifest.rows, manifest.parts, 1 << 24)
    reader.facts(), reader.cells(list(range(manifest.rows)), manifest.ranks, True, False, False)
    for row in range(len(reader.callpaths())):
        reader.times(row), reader.metrics(row), reader.messages(row), reader.edges(row)


def test_a_flipped_byte_is_an_error_at_its_section(copy):
    profile = copy(NEWEST)
    for name in FILES:
        file = profile / name
        whole = file.read_bytes()
        for at in places(0, len(whole)):
            file.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
            with pytest.raises(tinyprof.ProfileError) as error:
                read_all(profile)
            assert error.value.path == file and str(file) in str(error.value)
            # An unknown version is not damage.
            if isinstance(error.value, tinyprof.DamagedError):
                assert 0 <= error.value.offset <= max(at, len(whole) - 24)
        file.write_bytes(whole)
    read_all(profile)


@pytest.mark.parametrize("name", FILES)
def test_a_cut_is_an_error_at_its_end(copy, name):
    file = copy(NEWEST) / name
    whole = file.read_bytes()
    for length in places(0, len(whole)):
        file.write_bytes(whole[:length])
        with pytest.raises(tinyprof.DamagedError) as error:
            read_all(file.parent)
        assert (error.value.path, error.value.offset) == (file, length) and "cut off" in str(error.value)


@pytest.mark.parametrize("name", FILES)
def test_no_cut_is_read_even_if_the_manifest_agrees(copy, name):
    profile = copy(NEWEST)
    whole = (profile / name).read_bytes()
    for length in places(0, len(whole)):
        seal(profile, name, whole[:length])
        with pytest.raises(tinyprof.DamagedError):
            read_all(profile)


def sections(whole: bytes) -> list[tuple[int, int, int]]:
    """Place of the entry in the index, offset and length of each section."""
    index, count = struct.unpack_from("<QI", whole, len(whole) - 24)
    entries = [index + 24 * number for number in range(count)]
    return [(entry, *struct.unpack_from("<QQ", whole, entry + 4)) for entry in entries]


def reseal(profile: Path, name: str, damaged: bytearray) -> None:
    """Writes a file whose checksums all agree, as somebody hostile would."""
    for entry, offset, length in sections(damaged):
        struct.pack_into("<I", damaged, entry + 20, zlib.crc32(damaged[offset : offset + length]))
    index = struct.unpack_from("<Q", damaged, len(damaged) - 24)[0]
    struct.pack_into("<I", damaged, len(damaged) - 12, zlib.crc32(damaged[index : len(damaged) - 24]))
    seal(profile, name, bytes(damaged))


def seal(profile: Path, name: str, damaged: bytes) -> None:
    """Writes a file, and a manifest that agrees with it."""
    (profile / name).write_bytes(damaged)
    manifest = json.loads((profile / "manifest.json").read_text())
    for entry in (manifest["callpaths"], *manifest["parts"]):
        if entry["file"] == name:
            entry["crc32"], entry["bytes"] = zlib.crc32(damaged), len(damaged)
    (profile / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize("version", [version for version in VERSIONS if version >= NEWEST])
def test_hostile_bytes_are_numbers_or_an_error(copy, version):
    profile, errors = copy(version), 0
    for name in FILES:
        whole = (profile / name).read_bytes()
        for _, offset, length in sections(whole):
            for at in places(offset, offset + length):
                damaged = bytearray(whole)
                damaged[at] = (0x00, 0xFF, damaged[at] ^ 0x01)[at % 3]
                reseal(profile, name, damaged)
                try:
                    read_all(profile)
                except (tinyprof.DamagedError, MemoryError):
                    errors += 1
        seal(profile, name, whole)
    assert errors > 100, "the test damages nothing"
    read_all(profile)


def test_a_manifest_from_a_stranger_is_not_obeyed(copy):
    profile = copy(NEWEST)
    file = profile / "manifest.json"
    good = json.loads(file.read_text())

    def check(change, expected: str) -> None:
        manifest = json.loads(json.dumps(good))
        change(manifest)
        file.write_text(json.dumps(manifest))
        with pytest.raises(tinyprof.ProfileError, match=expected):
            tinyprof.read(profile)

    check(lambda m: m.update(format="other"), "not 'tinyprof'")
    check(lambda m: m.update(version={"major": 2, "minor": 0}), "format version 2.0, newer than this reader; update")
    check(lambda m: m["parts"][0].update(file=f"../{NEWEST}.tprof/part-00000"), "not the name of a file inside")
    check(lambda m: m["parts"][0].update(bytes=1 << 50), "cut off")
    check(lambda m: m["parts"][0].update(ranks=1), "other ranks")
    check(lambda m: m["parts"].reverse(), "is the next")
    check(lambda m: m["callpaths"].update(callpaths=3), "the manifest says 3")
    check(lambda m: m.pop("ranks"), "not a readable manifest")
    file.write_text("[" * 100_000)
    with pytest.raises(tinyprof.ProfileError, match="not a readable manifest"):
        tinyprof.read(profile)
    file.unlink()
    with pytest.raises(tinyprof.UnfinishedError, match="ended before"):
        tinyprof.read(profile)
    with pytest.raises(tinyprof.UnfinishedError, match="is not a profile"):
        tinyprof.read(profile.parent)


def test_a_path_without_anything_is_a_missing_file_with_suggestions(copy):
    profile = copy(NEWEST)
    for name in ["fft.tprof", "fft-2.tprof", "other.tprof"]:
        profile.parent.joinpath(name).mkdir()
    for wrong in ["fft", "ftf.tprof"]:
        with pytest.raises(FileNotFoundError, match="did you mean fft.tprof or fft-2.tprof") as raised:
            tinyprof.read(profile.parent / wrong)
        assert isinstance(raised.value, tinyprof.UnfinishedError)
        assert raised.value.filename == str(profile.parent / wrong)
    with pytest.raises(tinyprof.NotFoundError, match="no profile .*/elsewhere/run$"):
        tinyprof.read(profile.parent / "elsewhere" / "run")


def test_a_part_of_a_newer_version_says_so(copy):
    profile = copy(NEWEST)
    damaged = bytearray((profile / "part-00000").read_bytes())
    struct.pack_into("<H", damaged, 8, 7)
    reseal(profile, "part-00000", damaged)
    with pytest.raises(tinyprof.NewerVersionError, match="update tinyprof"):
        tinyprof.read(profile)


def test_memory_is_limited_by_the_caller_and_too_large_is_not_damaged():
    whole = tinyprof.read(frozen(NEWEST)).dataframe()
    limit, refused = 1, 0
    while True:
        try:
            table = tinyprof.read(frozen(NEWEST), limit_bytes=limit).dataframe()
            break
        except tinyprof.TooLargeError as error:
            assert isinstance(error, MemoryError) and not isinstance(error, tinyprof.DamagedError)
            assert "limit_bytes" in str(error) and error.path.is_relative_to(frozen(NEWEST))
            limit, refused = limit + limit // 8 + 1, refused + 1
    assert refused > 10 and table.equals(whole)


@pytest.mark.parametrize("name", ("manifest.json", *FILES))
@pytest.mark.parametrize("make", (os.mkfifo, os.mkdir, lambda path: path.symlink_to("/dev/zero")))
def test_what_is_no_file_is_an_error_and_nobody_waits_for_it(copy, name, make):
    file = copy(NEWEST) / name
    file.unlink()
    make(file)
    # In a separate process, because no signal ends an `open` that waits inside the library.
    program = "import sys, tinyprof\ntry: tinyprof.read(sys.argv[1])\nexcept tinyprof.ProfileError as e: print(e)"
    command = [sys.executable, "-c", program, file.parent]
    said = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    assert str(file) in said and "it is no regular file" in said
