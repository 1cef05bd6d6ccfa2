#!/usr/bin/env bash
# Measures the cost of a region with TinyProf and with other profilers, and writes the table into
# docs/overhead.md.
#     scripts/overhead.sh [ROUNDS]
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/rust.sh
source scripts/page.sh
rust_find

page=docs/overhead.md
begin='<!-- begin: written by make overhead -->'
end='<!-- end -->'
require_place "$page" "$begin" "$end"

# The peers are a separate package, with its own lock file. They need newer compilers than TinyProf
# does.
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}/peers"
cargo build --locked --release --manifest-path benches/peers/Cargo.toml

commit=$(commit_of tinyprof tinyprof-macros crates/tinyprof-format crates/tinyprof-report crates/tinyprof-segment crates/tinyprof-settings benches/peers)
load_before=$(cut -d ' ' -f 1 /proc/loadavg 2>/dev/null || echo unknown)

result=$(mktemp)
trap 'rm -f "$result"' EXIT
{
    printf '%s\n\n' "$begin"
    printf -- '* Date: %s. Commit: %s.\n' "$(date -u +%Y-%m-%d)" "$commit"
    printf -- '* Machine: %s.\n' "$(machine)"
    printf -- '* %s, %s.\n' "$(uname -sr)" "$(rustc --version)"
    printf -- '* %s rounds; load average %s before the first.\n\n' "${1:-9}" "$load_before"
    "$CARGO_TARGET_DIR/release/tinyprof-peers" "${1:-9}"
    printf '\n%s\n' "$end"
} >"$result"

put_in_place "$page" "$begin" "$end" "$result"
