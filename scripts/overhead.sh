#!/usr/bin/env bash
# Measures what a region costs with TinyProf and with other profilers, and writes the table into docs/overhead.md.
#     scripts/overhead.sh [ROUNDS]
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/rust.sh
rust_find

page=docs/overhead.md
begin='<!-- begin: written by make overhead -->'
end='<!-- end -->'
if ! grep -qF -- "$begin" "$page" || ! grep -qF -- "$end" "$page"; then
    echo "overhead: $page has no place for the table, between $begin and $end" >&2
    exit 1
fi

# The peers are a package of their own, with a lock file of its own. They need newer compilers than TinyProf does.
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}/peers"
cargo build --locked --release --manifest-path benches/peers/Cargo.toml

machine() {
    if command -v lscpu >/dev/null; then
        LC_ALL=C lscpu | awk -F ': +' '
            /^Model name/ { name = $2 } /^CPU family/ { family = $2 } /^Model:/ { model = $2 } /^CPU\(s\)/ { n = $2 }
            /^Hypervisor vendor/ { machine = ", a virtual machine (" $2 ")" }
            END { printf "%s (family %s, model %s), %s processors%s\n", name, family, model, n, machine }'
    else
        uname -m
    fi
}

commit=$(git rev-parse --short HEAD 2>/dev/null || echo unknown)
if [[ -n $(git status --porcelain -- tinyprof tinyprof-macros tinyprof-format benches/peers 2>/dev/null) ]]; then
    commit+=" with changes"
fi
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

# The page with everything between the two marks replaced.
awk -v begin="$begin" -v end="$end" -v result="$result" '
    $0 == begin { while ((getline line < result) > 0) print line; skip = 1 }
    !skip { print }
    $0 == end { skip = 0 }' "$page" >"$page.new"
mv "$page.new" "$page"
sed -n "/^$begin\$/,/^$end\$/p" "$page"
