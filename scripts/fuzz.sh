#!/usr/bin/env bash
# Builds the fuzz targets and runs each for SECONDS (60), all at once, starting from the frozen
# profiles. An input that breaks a target is kept, and named with the command that repeats it.
#     scripts/fuzz.sh [SECONDS]
#     scripts/fuzz.sh build           builds them as for a few seconds
#     scripts/fuzz.sh mutate COUNT    COUNT mutations that know the format, with all checksums
#     scripts/fuzz.sh seeds           makes new segments for fuzzing to begin with
#
# cargo-fuzz is not needed for this: on a stable toolchain it only adds these flags, and it takes
# longer to install than to fuzz. The sanitizers need a nightly toolchain; tinyprof-format has no
# unsafe code for them to check.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/rust.sh
rust_find

if [[ ${1:-} == seeds ]]; then
    cargo build --locked -p tinyprof-faults
    exec "${CARGO_TARGET_DIR:-target}/debug/faults" --seeds crates/fuzz/seeds/segment
fi
if [[ ${1:-} == mutate ]]; then
    build=${CARGO_TARGET_DIR:-$PWD/target}/fuzz
    CARGO_TARGET_DIR=$build cargo build --locked --release --manifest-path crates/fuzz/Cargo.toml \
        --no-default-features --features loops
    # Seven of ten are of profiles, in which more can be wrong. A failure names its seed.
    "$build/release/mutate" profile $(($2 * 7 / 10))
    exec "$build/release/mutate" segment $(($2 * 3 / 10))
fi
seconds=${1:-60}
if [[ $seconds == build ]]; then seconds=20; fi
target=$(rustc -vV | sed -n 's/^host: //p')
build=${CARGO_TARGET_DIR:-$PWD/target}/fuzz
built_as=release
if ((seconds <= 30)); then built_as=quick; fi
# Coverage for libFuzzer, in the targets and everything that they use. Naming the target keeps the
# flags from build scripts.
flags="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4"
flags+=" -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table"
flags+=" -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 --cfg fuzzing"
RUSTFLAGS=$flags CARGO_TARGET_DIR=$build cargo build --locked --profile "$built_as" --manifest-path crates/fuzz/Cargo.toml --target "$target"
if [[ ${1:-} == build ]]; then exit; fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{part,manifest,text,round_trip,structure,segment,events} "$build/found"
for profile in crates/tinyprof-format/tests/profiles/*/; do
    name=$(basename "$profile")
    for part in "$profile"part-*; do cp "$part" "$work/part/$name-$(basename "$part")"; done
    cp "$profile/manifest.json" "$work/manifest/$name.json"
    cp "$profile/callpaths" "$work/manifest/$name.callpaths"
    cp "$profile"part-00000 "$work/round_trip/$name"
done
cp crates/fuzz/seeds/text/* "$work/text/"
cp crates/fuzz/seeds/segment/* "$work/segment/"
# The longest inputs: a tape of decisions is short, and segments are longer than parts.
declare -A longest=([structure]=256 [segment]=65536)

# run TARGET: runs it from its seeds, within memory and time limits that no reader may exceed.
run() {
    if ! "$build/$target/$built_as/$1" "$work/$1" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -max_len="${longest[$1]:-4096}" \
        -artifact_prefix="$build/found/$1-" -print_final_stats=1 >"$work/$1.log" 2>&1; then
        tail -n 60 "$work/$1.log"
        echo "fuzz target $1 failed. Repeat it with: $build/$target/$built_as/$1 $build/found/$1-..." >&2
        echo "Make the input a test in crates/tinyprof-format/tests/hostile/, and mend what it found." >&2
        return 1
    fi
    sed -n "s/^stat::number_of_executed_units: */$1: inputs tried: /p" "$work/$1.log"
}

running=()
for name in part manifest text round_trip structure segment events; do
    run "$name" &
    running+=($!)
done
status=0
for one in "${running[@]}"; do wait "$one" || status=1; done
exit "$status"
