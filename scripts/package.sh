#!/usr/bin/env bash
# Checks that our crates can be published: makes the packages of all that are, builds the
# documentation of tinyprof-mpi without an MPI, as docs.rs does, and checks everything that needs no
# MPI with the oldest Rust that Cargo.toml promises, if rustup has it or can install it.
#     scripts/package.sh [--verify]      --verify also builds each package by itself
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/rust.sh
rust_find

verify=--no-verify
if [[ ${1:-} == --verify ]]; then verify=; fi
mapfile -t published < <(cargo metadata --locked --no-deps --format-version 1 | python3 -c '
import json, sys
for package in json.load(sys.stdin)["packages"]:
    if package["publish"] is None:
        print(package["name"])
')
selected=()
for name in "${published[@]}"; do selected+=(-p "$name"); done
# Cargo puts them into an order, and takes those that are no registry's yet from each other.
cargo package --locked --allow-dirty $verify "${selected[@]}"
if grep -q '^repository = .*\.invalid' Cargo.toml; then
    echo "package: the repository in Cargo.toml is a placeholder: set it before publishing" >&2
fi

env -u MPICC RUSTFLAGS="--cfg without_mpi" RUSTDOCFLAGS="--cfg without_mpi -D warnings" \
    CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/docs-rs" cargo doc --locked --no-deps -p tinyprof-mpi

oldest=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
if ! cargo "+$oldest" --version >/dev/null 2>&1 &&
    ! rustup toolchain install "$oldest" --profile minimal >/dev/null 2>&1; then
    echo "package: not checked with Rust $oldest, which rustup could not install" >&2
    exit
fi
CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/oldest" cargo "+$oldest" check --locked --features "$FEATURES"
