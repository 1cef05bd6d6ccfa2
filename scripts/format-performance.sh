#!/usr/bin/env bash
# Measures the load time and the size of profiles, and writes the tables into
# docs/format-performance.md. The authors' files are measured if TINYPROF_SHARED_DATA or
# ../shared/data has them, the FFT if there is an MPI.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/rust.sh
source scripts/page.sh
source scripts/mpi.sh
rust_find

page=docs/format-performance.md
begin='<!-- begin: written by make format-performance -->'
end='<!-- end -->'
require_place "$page" "$begin" "$end"

PYTHON_PROFILE=release bash scripts/python.sh env
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Built before an MPI is used, which has its own target directory.
cargo build --locked --release --quiet -p tinyprof-cli
cargo build --locked --release --quiet -p tinyprof-format --example synthetic --example series_speed
built=${CARGO_TARGET_DIR:-$PWD/target}/release

inputs=()
shared=${TINYPROF_SHARED_DATA:-../shared/data}
for file in "$shared"/*.csv; do
    if [[ -f $file ]]; then inputs+=("the authors' \`${file##*/}\`=$file"); fi
done
"$built/examples/synthetic" "$scratch/log-normal" 1024 100 16 >/dev/null
inputs+=("log-normal sums, 1,024 ranks, 64 parts=$scratch/log-normal.tprof")
"$built/examples/synthetic" "$scratch/one-part" 1024 100 1024 >/dev/null
inputs+=("the same, 1 part=$scratch/one-part.tprof")
mpi_find
if ((${#MPI_FOUND[@]})); then
    mpi_use "${MPI_FOUND[0]}"
    cargo build --locked --release --quiet -p tinyprof-example-fft
    for ranks in 4 16; do
        TINYPROF_OUT=$scratch/fft-$ranks TINYPROF_REPORT=off \
            "${MPIEXEC[@]}" -n "$ranks" "$CARGO_TARGET_DIR/release/fft" --runs 200 </dev/null >/dev/null
        inputs+=("the FFT, 200 transforms on $ranks ranks=$scratch/fft-$ranks.tprof")
    done
fi

commit=$(commit_of crates/tinyprof-format crates/tinyprof-segment python)
load_before=$(cut -d ' ' -f 1 /proc/loadavg 2>/dev/null || echo unknown)
python=target/python/env/bin/python

{
    printf '%s\n\n' "$begin"
    printf -- '* Date: %s. Commit: %s.\n' "$(date -u +%Y-%m-%d)" "$commit"
    printf -- '* Machine: %s.\n' "$(machine)"
    printf -- '* %s, %s, %s.\n' "$(uname -sr)" "$(rustc --version)" "$("$python" --version)"
    printf -- '* Python packages: %s.\n' "$("$python" -m pip list --format freeze 2>/dev/null |
        grep -E '^(numpy|pandas|llnl-hatchet|caliper-reader|pyarrow)==' | paste -s -d ' ' | sed 's/==/ /g; s/ \([a-z]\)/, \1/g')"
    printf -- '* Load average %s before the first.\n' "$load_before"
    printf '\n### Loading into Hatchet\n\n'
    "$python" python/measure/load.py "$built/examples/synthetic"
    printf '\n### Bytes a time\n\n'
    "$python" python/measure/sizes.py "$built/tinyprof" "${inputs[@]}"
    printf '\n### Encoding and reading\n\n'
    "$python" python/measure/speed.py "$built/examples/series_speed"
    printf '\n%s\n' "$end"
} >"$scratch/result"

put_in_place "$page" "$begin" "$end" "$scratch/result"
