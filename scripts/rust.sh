# shellcheck shell=bash
# Finds cargo. To be sourced from the repository's root.

# Succeeds if the cargo in PATH is as new as Cargo.toml requires.
rust_fits() {
    local version
    version=$(cargo --version 2>/dev/null) || return 1
    version=${version#cargo }
    printf '%s\n' "$1" "${version%%[ -]*}" | sort --check --version-sort 2>/dev/null
}

# Puts a suitable cargo into PATH, or prints what to install. Also looks in rustup's directory,
# which non-login shells (CI, sudo, make from an editor) often do not have in PATH.
rust_find() {
    local needed home=${CARGO_HOME:-~/.cargo}
    needed=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
    rust_fits "$needed" && return
    export PATH=$home/bin:$PATH
    rust_fits "$needed" && return
    cat >&2 <<END
TinyProf needs Rust $needed or newer; found: $(cargo --version 2>/dev/null || echo 'no cargo in PATH or ~/.cargo/bin').
Install it with rustup (rust-lang.org/tools/install tells how), or bring it up to date: rustup update stable
END
    return 1
}
