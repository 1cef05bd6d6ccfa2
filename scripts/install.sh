#!/usr/bin/env bash
# Installs the command, and beside it the library with which `tinyprof run` profiles programs that are
# not rebuilt. Arguments go to `cargo install`, such as `--root DIRECTORY`.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/rust.sh

rust_find
cargo install --locked --path crates/tinyprof-cli "$@"
# The directory that cargo installs to, as it says itself.
root=${CARGO_INSTALL_ROOT:-${CARGO_HOME:-$HOME/.cargo}}
for ((i = 1; i <= $#; i++)); do
    case ${!i} in
    --root) j=$((i + 1)) && root=${!j} ;;
    --root=*) root=${!i#--root=} ;;
    esac
done
cargo build --locked --release -p tinyprof-preload
install -m 755 "${CARGO_TARGET_DIR:-target}/release/libtinyprof_preload.so" "$root/bin/"
echo "installed $root/bin/tinyprof and $root/bin/libtinyprof_preload.so"
