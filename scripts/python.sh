#!/usr/bin/env bash
# Builds the Python package, and tests it in its own environment below target/python; arguments go
# to pytest. With `env` as the only argument it makes the environment and tests nothing. Existing
# parts are not made again: the second time takes seconds.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/rust.sh
rust_find

home=$PWD/target/python
env=$home/env umd=$home/umd
# The requirements of the exports' consumers, if these files exist, without dependencies that no
# test needs.
shopt -s nullglob
requirements=(python/requirements.txt python/requirements-export[s].txt)
without=(python/requirements-exports-no-dep[s].txt)

# once NAME FILES-OR-TEXT... -- COMMAND...: runs the command unless it has succeeded with the same
# files before.
once() {
    local stamp=$home/$1.stamp state of=()
    shift
    while [[ $1 != -- ]]; do of+=("$1") && shift; done
    shift
    state=$(cat "${of[@]}" | sha256sum)
    if [[ -f $stamp && $(<"$stamp") == "$state" ]]; then return; fi
    rm -f "$stamp"
    "$@"
    printf '%s\n' "$state" >"$stamp"
}

pip() {
    "$env/bin/python" -m pip --disable-pip-version-check --quiet "$@"
}

make_env() {
    rm -rf "$env"
    python3 -m venv "$env"
    local file arguments=()
    for file in "${requirements[@]}"; do arguments+=(-r "$file"); done
    pip install "${arguments[@]}"
    for file in "${without[@]}"; do pip install --no-deps -r "$file"; done
}

make_umd() {
    rm -rf "$umd"
    pip install --no-deps --target "$umd" -r python/requirements-umd.txt
}

# Makes the wheel and installs it. The module is built below target/python, where cargo finds the
# last build; the command and the library are those of the other tests.
make_package() {
    rm -rf "$home/wheels"
    PATH=$env/bin:$PATH MATURIN_PEP517_ARGS="--profile $(<"$home/profile.txt") --target-dir $home/build" \
        pip wheel --no-build-isolation --no-deps --config-settings "binaries=$home/binaries" --wheel-dir "$home/wheels" ./python
    pip install --no-deps --force-reinstall "$home"/wheels/*.whl
}

mkdir -p "$home"
python3 --version >"$home/version.txt"
# The module's profile: optimised across crates, as users have it, only to be measured.
echo "${PYTHON_PROFILE:-quick}" >"$home/profile.txt"
once env "$home/version.txt" "${requirements[@]}" "${without[@]}" -- make_env
once umd "$home/env.stamp" python/requirements-umd.txt -- make_umd
# The command and the preloaded library. Of the latter, `cargo test` leaves no copy one directory up.
rust_build -p tinyprof-cli -p tinyprof-preload
built=${CARGO_TARGET_DIR:-$PWD/target}/debug
mkdir -p "$home/binaries"
install "$built/tinyprof" "$built/deps/libtinyprof_preload.so" "$home/binaries"
# The package, and the crates that make its reports.
libraries=(crates/tinyprof-*/{src,Cargo.toml})
mapfile -t sources < <(find python/src python/tinyprof python/wheel python/Cargo.* python/pyproject.toml "${libraries[@]}" -type f \
    -not -name '*.so' -not -name '*.pyc' | sort)
once package "$home/env.stamp" "$home/profile.txt" "${sources[@]}" "$home"/binaries/* -- make_package
if [[ ${1:-} == env ]]; then exit; fi

# The command whose reports and exports the tests read.
export TINYPROF_BIN=${TINYPROF_BIN:-$built/tinyprof} PYTHONDONTWRITEBYTECODE=1
"$env/bin/python" -m pytest python/tests "$@"
if (($# == 0)); then
    # UMD's Hatchet under the same name, in front of LLNL's.
    PYTHONPATH=$umd TINYPROF_HATCHET=$umd "$env/bin/python" -m pytest python/tests/test_hatchet.py
fi
