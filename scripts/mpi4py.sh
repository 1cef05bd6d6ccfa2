# shellcheck shell=bash
# Makes a Python with mpi4py, for the test of Python programs. To be sourced.

# Sets TINYPROF_MPI4PY to a Python whose mpi4py is the binary package, which works with every MPI,
# in target/mpi4py. Without Python, or without the package for it, says so and sets nothing.
mpi4py_find() {
    local home=$PWD/target/mpi4py
    if [[ ! -f $home/done ]]; then
        rm -rf "$home"
        if ! python3 -m venv "$home" ||
            ! "$home/bin/python" -m pip --disable-pip-version-check --quiet install --only-binary :all: 'mpi4py>=4.1,<5'; then
            echo "no mpi4py: Python programs are not tested" >&2
            return
        fi
        touch "$home/done"
    fi
    export TINYPROF_MPI4PY=$home/bin/python
}
