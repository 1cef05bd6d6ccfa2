# shellcheck shell=bash
# Finds cargo, and selects packages. To be sourced from the repository's root.

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

# The features with which lints, documentation and tests see all code.
FEATURES=tinyprof/tracing-layer,tinyprof/alloc

# Sets SELECTED to the arguments with which cargo selects packages: to $@, or in `make test`
# (WHOLE_WORKSPACE) to all packages with all features that its steps need. With another selection
# cargo chooses other features of crates that all share, and builds nearly everything again.
rust_select() {
    SELECTED=(--locked "$@")
    if [[ -n ${WHOLE_WORKSPACE:-} ]]; then
        SELECTED=(--locked --workspace --features "$FEATURES,tinyprof-faults/mpi")
        if [[ -n ${MPI_PROFILE:-} ]]; then SELECTED+=(--config "$MPI_PROFILE"); fi
    fi
}

# Builds the programs of the packages that $@ selects.
rust_build() {
    rust_select "$@"
    if [[ -n ${WHOLE_WORKSPACE:-} ]]; then
        # With the tests, which select the features of their dependencies, too.
        cargo build --quiet "${SELECTED[@]}" --lib --bins --tests --examples
    else
        cargo build --quiet "${SELECTED[@]}"
    fi
}
