#!/usr/bin/env bash
# Runs every check and test, the MPI part under each MPI found. Stops at the first failure.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/rust.sh
source scripts/mpi.sh
source scripts/mpi4py.sh

# step HEADING COMMAND...: announces and times one command. Not for a function of several: inside
# `||` bash would not stop at the first that fails.
durations=()
step() {
    local heading=$1 start=$SECONDS status=0 word=ok
    shift
    printf '\n== %s\n' "$heading"
    "$@" </dev/null || status=$?
    if ((status)); then word="FAILED ($status)"; fi
    durations+=("$(printf '%4d s  %s: %s' $((SECONDS - start)) "$heading" "$word")")
    if ((status)); then exit "$status"; fi
}
# Says how long the steps took, and ends what is still under way beside them.
finish() {
    if [[ -n $ahead ]]; then kill -- "-$ahead" 2>/dev/null || true; fi
    if [[ -n $lane ]] && kill -- "-$lane" 2>/dev/null; then cat "$scratch/lane.log"; fi
    if ((${#durations[@]})); then printf '\n' && printf '%s\n' "${durations[@]}"; fi
    rm -rf "$scratch"
}
lane='' ahead='' scratch=$(mktemp -d)
trap finish EXIT

# beside FUNCTION: runs the steps of a function beside those that follow, up to `join`. For steps
# that leave a core idle, and of which nothing depends on how long it takes.
beside() {
    # In a process group of its own, which can be ended as a whole.
    set -m
    (
        durations=()
        trap 'printf "%s\n" "${durations[@]}" >"$scratch/lane.durations"' EXIT
        "$1"
    ) >"$scratch/lane.log" 2>&1 &
    lane=$!
    set +m
}

# while_idle FUNCTION: calls a function that builds what later steps need, with what the steps that
# follow leave idle of the processors, up to `stop_ahead`: what waits for events is not delayed by it.
while_idle() {
    local idle=(nice -n 19)
    if chrt --idle 0 true 2>/dev/null; then idle=(chrt --idle 0); fi
    set -m
    ("${idle[@]}" bash -c "set -e; $(declare -f "$1"); $1") </dev/null >"$scratch/ahead.log" 2>&1 &
    ahead=$!
    set +m
}

# Ends the builds ahead. What is not done, and what has failed, is done by the steps that need it.
stop_ahead() {
    local word='all is built'
    if kill -- "-$ahead" 2>/dev/null; then word='the rest is built later'; fi
    wait "$ahead" || word="the rest is built later"
    ahead=''
    echo "built ahead: $word"
}

# Waits for the steps beside, and shows what they wrote.
join() {
    local status=0 ended=$lane
    wait "$ended" || status=$?
    lane=''
    cat "$scratch/lane.log"
    mapfile -t -O "${#durations[@]}" durations <"$scratch/lane.durations"
    if ((status)); then exit "$status"; fi
}

rust_find
step "what a build needs" bash scripts/setup.sh
if ! cargo fmt --version >/dev/null 2>&1 || ! cargo clippy --version >/dev/null 2>&1; then
    step "rustfmt and clippy" rustup component add rustfmt clippy
fi
mpi_find
for mpi in "${MPI_FOUND[@]}"; do echo "$mpi: ${MPI_CC[$mpi]}, ${MPI_EXEC[$mpi]}"; done

# Test programs with regions leave profiles in their directory: here, not in the source tree.
TINYPROF_OUT=$scratch/profiles/test
mkdir "$scratch/profiles"
export TINYPROF_OUT

# All steps select the same packages and features, and share one directory, so that nothing is
# built twice. That needs an MPI.
export WHOLE_WORKSPACE=1
mpi_use "${MPI_FOUND[0]}"
rust_select
step "format" cargo fmt --all --check
# Packages that are no members of the workspace, some of which are built by hand only.
for package in benches/peers benches/simgrid crates/fuzz python tinyprof/tests/loom; do
    step "lock file of $package" cargo tree --locked --depth 0 --manifest-path "$package/Cargo.toml"
done
step "clippy" cargo clippy "${SELECTED[@]}" --all-targets -- -D warnings
step "documentation" env RUSTDOCFLAGS="-D warnings" cargo doc "${SELECTED[@]}" --no-deps

mpi4py_find
rules() {
    step "programs of MPI's rules, with $mpi" bash scripts/conformance.sh quick
}
beside_tests() {
    step "format of the Python package's reader" cargo fmt --manifest-path python/Cargo.toml --check -- --config-path rustfmt.toml
    step "Python" bash scripts/python.sh
    step "wheel in a fresh environment" bash scripts/wheel.sh
    step "pages in Chromium" bash scripts/browser.sh
    step "fuzz targets, 20 s each" bash scripts/fuzz.sh 20
    step "protocol of the recorder, under loom" env RUSTFLAGS="--cfg loom" cargo test --locked --release --manifest-path tinyprof/tests/loom/Cargo.toml
    # As users have them, locked to another version of rsmpi, which is built anew for each.
    step "programs of users" cargo test "${SELECTED[@]}" --test mpi_outside -- --ignored
    rules
}

builds_ahead() {
    bash scripts/python.sh env
    bash scripts/fuzz.sh build
    RUSTFLAGS="--cfg loom" cargo test --locked --release --manifest-path tinyprof/tests/loom/Cargo.toml --no-run
}

# Findings about a rank's time depend on its having a processor: their tests run one at a time, with
# nothing beside them that wants one, too, and so does the test that looks for files of any job. The
# other tests wait most of the time.
timed=(why:: messages:: causes:: inside:: killed:: questions:: push:: steering:: is_found classes
    a_comparison one_after_another no_board_is_left a_killed_job)
mapfile -t untimed < <(printf -- '--skip\n%s\n' "${timed[@]}")
# What depends on no MPI is tested under the first alone: what is said at level `calls`, and commands.
once=() hosts=()
times_and_hosts() {
    step "tests of times with $mpi" env RUST_TEST_THREADS=1 TINYPROF_MPIEXEC="$launcher" cargo test "${SELECTED[@]}" --test mpi -- "${timed[@]}" "${once[@]}"
    step "several hosts, with $mpi" bash scripts/hosts.sh "${hosts[@]}"
}
for mpi in "${MPI_FOUND[@]}"; do
    mpi_use "$mpi"
    rust_select
    # The programs that tests start bear the same names for all MPIs.
    step "build with $mpi" cargo test "${SELECTED[@]}" --no-run
    # The programs of MPI's rules have the launcher as it is.
    launcher=$(mpi_yielding "$mpi")
    if [[ $mpi == "${MPI_FOUND[0]}" ]]; then
        while_idle builds_ahead
        times_and_hosts
        stop_ahead
        beside beside_tests
        # All tests but those whose name begins with `mpi`, which start ranks.
        step "tests without MPI" cargo test "${SELECTED[@]}" --lib --bins --test '[!m]*' --test 'm[!p]*'
        step "examples in the documentation" cargo test "${SELECTED[@]}" --doc
        step "faults" bash scripts/faults.sh quick
    else
        beside rules
    fi
    step "tests with $mpi" env RUST_TEST_THREADS=3 TINYPROF_MPIEXEC="$launcher" cargo test "${SELECTED[@]}" --test mpi -- "${untimed[@]}"
    join
    if [[ $mpi != "${MPI_FOUND[0]}" ]]; then times_and_hosts; fi
    once=(--skip why::without_messages --skip questions:: --skip push::) hosts=(brief)
done
