"""The build backend of the wheel: maturin for the module, cargo for the command and the library.

`pip` calls these functions (PEP 517 and 660) in the directory of pyproject.toml. maturin builds the
module and packs everything below `DATA`; before that, the command and the preloaded library are put
there. They are packages of the workspace, which cargo finds by name.

Options, each given to `pip` as `-C NAME=VALUE`:

* `binaries=DIRECTORY`: take the command and the library from there instead of building them.
* `glibc=2.17`: build for hosts with this version of glibc or a newer one, with zig as the linker.
  Without it, a wheel fits hosts whose glibc is not older than the one here.
* `maturin.build-args=...`: arguments for maturin.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import maturin

Settings = dict[str, Any]

WORKSPACE = Path("..", "Cargo.toml")
#: What maturin packs as it is: `tool.maturin.data`.
DATA = Path("wheel", "data")
COMMAND, LIBRARY = "tinyprof", "libtinyprof_preload.so"
#: The package of each file, and its directory in an environment. The command looks for the library
#: in `../lib/tinyprof`.
FILES = {
    COMMAND: ("tinyprof-cli", DATA / "scripts"),
    LIBRARY: ("tinyprof-preload", DATA / "data" / "lib" / "tinyprof"),
}


def get_requires_for_build_wheel(settings: Settings | None = None) -> list[str]:
    return ["cargo-zigbuild", "ziglang"] if (settings or {}).get("glibc") else []


get_requires_for_build_editable = get_requires_for_build_wheel


def build_wheel(directory: str, settings: Settings | None = None, metadata: str | None = None) -> str:
    return _build(maturin.build_wheel, directory, settings, metadata)


def build_editable(directory: str, settings: Settings | None = None, metadata: str | None = None) -> str:
    return _build(maturin.build_editable, directory, settings, metadata)


def build_sdist(directory: str, settings: Settings | None = None) -> str:
    raise SystemExit("tinyprof has no source distribution: the command and the library are in the repository; clone it")


def _build(build: Callable[..., str], directory: str, settings: Settings | None, metadata: str | None) -> str:
    if not shutil.which("cargo"):
        raise SystemExit("tinyprof is built by Rust, and there is no cargo in PATH: see rust-lang.org/tools/install")
    settings = dict(settings or {})
    glibc = settings.get("glibc")
    settings["maturin.build-args"] = maturin.get_maturin_pep517_args(settings) + _platform(glibc)
    with _staged(settings.get("binaries"), glibc):
        return build(directory, settings, metadata)


def _platform(glibc: str | None) -> list[str]:
    """The arguments that tell maturin on which hosts all files of the wheel run.

    maturin looks at the module alone, and would promise what the command and the library do not
    keep. No file needs a newer glibc than the one that it was linked to.
    """
    if glibc:
        return ["--zig", "--target", _triple(), "--compatibility", _manylinux(glibc)]
    name, version = platform.libc_ver()
    return ["--compatibility", _manylinux(version)] if name == "glibc" else []


def _manylinux(glibc: str) -> str:
    return "manylinux_" + glibc.replace(".", "_")


def _triple() -> str:
    return f"{platform.machine()}-unknown-linux-gnu"


@contextmanager
def _staged(binaries: str | None, glibc: str | None) -> Iterator[None]:
    """Puts the command and the library where maturin finds them, for the time of a build."""
    shutil.rmtree(DATA, ignore_errors=True)
    try:
        for name, (package, directory) in FILES.items():
            built = Path(binaries, name) if binaries else _cargo(package, name, glibc)
            directory.mkdir(parents=True)
            _copy(built, directory / name)
        yield
    finally:
        shutil.rmtree(DATA, ignore_errors=True)


def _cargo(package: str, name: str, glibc: str | None) -> Path:
    """Builds a package of the workspace, and returns its file of this name."""
    command = ["cargo", "zigbuild", "--target", f"{_triple()}.{glibc}"] if glibc else ["cargo", "build"]
    command += ["--locked", "--release", "--package", package, "--message-format", "json-render-diagnostics"]
    done = subprocess.run([*command, "--manifest-path", WORKSPACE], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"cargo could not build {package} (exit code {done.returncode}); its messages are above")
    messages = map(json.loads, done.stdout.splitlines())
    files = (Path(file) for message in messages for file in message.get("filenames", []))
    return next(file for file in files if file.name == name)


def _copy(built: Path, target: Path) -> None:
    """Copies a binary without what only debuggers read, which is most of it."""
    shutil.copy(built, target)
    strip = shutil.which("strip")
    if strip:
        subprocess.run([strip, "--strip-all", os.fspath(target)], check=True)
