# shellcheck shell=bash
# What scripts that measure the preloaded library begin with. To be sourced, from the root of the
# repository.
source scripts/rust.sh
source scripts/mpi.sh
source scripts/page.sh
rust_find
mpi_find

# Builds the library as users have it, and sets `library`; `dir` is an empty directory for programs
# and profiles, which is removed at the end.
preload_build() {
    cargo build --locked --release -p tinyprof-preload
    library=$(readlink -f "${CARGO_TARGET_DIR:-target}/release/libtinyprof_preload.so")
    dir=$(mktemp -d)
    trap 'rm -rf "$dir"' EXIT
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
}
