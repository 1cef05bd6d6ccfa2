# Shared functions of the scripts that measure and write into a page. To be sourced, from the root
# of the repository.

# Prints the machine on which the numbers were measured.
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

# commit_of PATH...: prints the commit, and whether these paths have changed since.
commit_of() {
    local commit
    commit=$(git rev-parse --short HEAD 2>/dev/null || echo unknown)
    if [[ -n $(git status --porcelain -- "$@" 2>/dev/null) ]]; then commit+=" with changes"; fi
    printf '%s' "$commit"
}

# require_place PAGE BEGIN END: fails if the page has no lines BEGIN and END for a table between
# them.
require_place() {
    if ! grep -qF -- "$2" "$1" || ! grep -qF -- "$3" "$1"; then
        echo "${0##*/}: $1 has no place for the table, between $2 and $3" >&2
        exit 1
    fi
}

# put_in_place PAGE BEGIN END FILE: replaces the text between the two lines by the file, which has
# both lines, and prints it.
put_in_place() {
    awk -v begin="$2" -v end="$3" -v result="$4" '
        $0 == begin { while ((getline line < result) > 0) print line; skip = 1 }
        !skip { print }
        $0 == end { skip = 0 }' "$1" >"$1.new"
    mv "$1.new" "$1"
    sed -n "\|^$2\$|,\|^$3\$|p" "$1"
}
