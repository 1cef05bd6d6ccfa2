#!/usr/bin/env bash
# Counts how often a command compiles each package of ours:
#     scripts/compilations.sh [COMMAND...]      make test, if none is given
# A library that is built as itself, for its own tests, by clippy and for another selection of
# packages counts each time; so do other targets of a package, in the second column. An empty target
# directory counts all of them: CARGO_TARGET_DIR=$(mktemp -d) scripts/compilations.sh
set -euo pipefail

# Cargo calls this script in place of rustc, with rustc's path and arguments.
if [[ -n ${COMPILATIONS_LOG:-} && $# -gt 0 ]]; then
    for ((i = 1; i < $#; i++)); do
        j=$((i + 1))
        # Cargo's own questions to rustc have the name ___.
        if [[ ${!i} == --crate-name && ${!j} != ___ ]]; then
            printf '%s %s\n' "${CARGO_PKG_NAME:-?}" "${!j}" >>"$COMPILATIONS_LOG"
        fi
    done
    exec "$@"
fi

cd "$(dirname "$0")/.."
if (($# == 0)); then set -- make test; fi
COMPILATIONS_LOG=$(mktemp)
export COMPILATIONS_LOG RUSTC_WRAPPER=$PWD/scripts/compilations.sh
trap 'rm -f "$COMPILATIONS_LOG"' EXIT
status=0
"$@" || status=$?
printf '\n%-28s %9s %9s\n' package library others
awk '
    $1 !~ /^tinyprof/ { others++; next }
    { name = $1; gsub("-", "_", name); seen[$1] }
    name == $2 { libraries[$1]++; total++; next }
    { rest[$1]++ }
    END {
        for (name in seen) printf "%-28s %9d %9d\n", name, libraries[name], rest[name] | "sort"
        close("sort")
        printf "%-28s %9d\n%-28s %19d\n", "all of ours", total, "of others", others
    }
' "$COMPILATIONS_LOG"
exit "$status"
