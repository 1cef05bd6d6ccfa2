#!/usr/bin/env bash
# Tests the wheel of the Python package as a user without Rust gets it: in a fresh environment its
# command profiles a C program, and its Python reads the profile. Needs an MPI. The only argument is
# the wheel, by default the one of scripts/python.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/mpi.sh

if (($#)); then
    wheel=$1
else
    bash scripts/python.sh env
    wheel=$(echo target/python/wheels/tinyprof-*-abi3-*.whl)
fi
fresh=$PWD/target/python/fresh
rm -rf "$fresh"
python3 -m venv "$fresh"
"$fresh/bin/python" -m pip --disable-pip-version-check --quiet install --constraint python/requirements.txt "$wheel"

mpi_use_yielding
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$MPICC" -g -o "$scratch/ring" python/tests/wheel/ring.c
MPIEXEC[0]=$(command -v "${MPIEXEC[0]}")
checks=$PWD/python/tests/wheel/installed.py
cd "$scratch"
# Neither Rust nor anything else of the repository.
export PATH=$fresh/bin:/usr/bin:/bin
timeout 120 tinyprof run --out ring -- "${MPIEXEC[@]}" -n 2 ./ring
python "$checks" "$(command -v tinyprof)" ring.tprof
