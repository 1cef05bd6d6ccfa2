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

# The library is built below target/python, where cargo finds the last build; pip's own build would
# start from scratch each time.
make_package() {
    PATH=$env/bin:$PATH CARGO_TARGET_DIR=$home/build pip install --no-build-isolation --no-deps --force-reinstall ./python
}

mkdir -p "$home"
python3 --version >"$home/version.txt"
once env "$home/version.txt" "${requirements[@]}" "${without[@]}" -- make_env
once umd "$home/env.stamp" python/requirements-umd.txt -- make_umd
# The package and the libraries that make its reports.
libraries=(crates/tinyprof-{diff,report,messages,format,segment}/{src,Cargo.toml})
mapfile -t sources < <(find python/src python/tinyprof python/Cargo.* python/pyproject.toml "${libraries[@]}" -type f \
    -not -name '*.so' -not -name '*.pyc' | sort)
once package "$home/env.stamp" "${sources[@]}" -- make_package
if [[ ${1:-} == env ]]; then exit; fi

# The command whose reports and exports the tests read.
if [[ -z ${TINYPROF_BIN:-} ]]; then
    rust_build -p tinyprof-cli
    TINYPROF_BIN=${CARGO_TARGET_DIR:-$PWD/target}/debug/tinyprof
fi
export TINYPROF_BIN PYTHONDONTWRITEBYTECODE=1
"$env/bin/python" -m pytest python/tests "$@"
if (($# == 0)); then
    # UMD's Hatchet under the same name, in front of LLNL's.
    PYTHONPATH=$umd TINYPROF_HATCHET=$umd "$env/bin/python" -m pytest python/tests/test_hatchet.py
fi
