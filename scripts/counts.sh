#!/bin/bash
# Counts what tells how large and how tangled the code is: long files and functions, parameters that
# are tuples, files in one folder, public items. `--all` prints all of the lists.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo run --quiet --package tinyprof-architecture --example counts -- "$@"
