# shellcheck shell=bash
# Finds the MPIs of this machine and sets the environment that a build and a run with one of them
# need. To be sourced.

# If there is no PATH at all, bash sets one without exporting it; the wrappers need it for their
# compiler.
export PATH

# The families found, at most one of each: openmpi, mpich. The latter includes Intel MPI and
# MVAPICH, which share its launcher's flags.
MPI_FOUND=()
declare -A MPI_CC MPI_EXEC

# Prints the family of the MPI that compiler wrapper $1 builds for. Fails if it builds no program,
# for lack of headers or of a C compiler behind it. The header's macros decide, because names and
# `-show` differ everywhere.
mpi_cc_family() {
    local dir macros=
    command -v "$1" >/dev/null || return 1
    dir=$(mktemp -d) || return 1
    printf '#include <mpi.h>\nint main(void) { return MPI_Init(0, 0); }\n' >"$dir/try.c"
    "$1" -o "$dir/try" "$dir/try.c" >/dev/null 2>&1 && macros=$("$1" -dM -E "$dir/try.c" 2>/dev/null)
    rm -rf "$dir"
    case $macros in
    *'#define OPEN_MPI '*) echo openmpi ;;
    *'#define MPICH_VERSION '* | *'#define MPICH_NAME '*) echo mpich ;;
    *) return 1 ;;
    esac
}

# Prints the family of launcher $1.
mpi_exec_family() {
    case $("$1" --version 2>&1 </dev/null) in
    *'Open MPI'* | *OpenRTE* | *PRRTE*) echo openmpi ;;
    *HYDRA* | *MPICH* | *'Intel(R) MPI'*) echo mpich ;;
    *) return 1 ;;
    esac
}

# Adds wrapper $1 and launcher $2 to MPI_FOUND if they belong together. They need not: Debian's
# plain `mpicc` and `mpiexec` are two links that are set separately, and a launcher of the other MPI
# starts P programs of one rank each.
mpi_try() {
    local family
    family=$(mpi_cc_family "$1") || return 0
    [[ $(mpi_exec_family "$2") == "$family" ]] || return 0
    if [[ -z ${MPI_CC[$family]:-} ]]; then
        MPI_FOUND+=("$family")
    elif [[ $(readlink -f "$(command -v "$1")") != $(readlink -f "$(command -v "${MPI_CC[$family]}")") ]]; then
        # Another installation of a family that we have: the user's PATH or module puts the
        # preferred one first.
        return 0
    fi
    # The full name is better, because the short one may be set to another MPI tomorrow.
    MPI_CC[$family]=$1 MPI_EXEC[$family]=$2
}

# Fills MPI_FOUND, MPI_CC and MPI_EXEC; leaves them empty if there is no MPI to build with. A user
# who names an MPI (MPICC, and TINYPROF_MPIEXEC if the launcher's name does not follow from it) gets
# only that one.
mpi_find() {
    MPI_FOUND=() MPI_CC=() MPI_EXEC=()
    if [[ -n ${MPICC:-} ]]; then
        local name=${MPICC##*/}
        mpi_try "$MPICC" "${TINYPROF_MPIEXEC:-${MPICC%"$name"}${name/mpicc/mpiexec}}"
        return
    fi
    mpi_try mpicc mpiexec
    mpi_try mpicc.openmpi mpiexec.openmpi
    mpi_try mpicc.mpich mpiexec.mpich
}

# Sets the environment to MPI family $1, and the array MPIEXEC to its launcher with the flags that
# let it start more ranks than there are cores.
mpi_use() {
    export MPICC=${MPI_CC[$1]} TINYPROF_MPIEXEC=${MPI_EXEC[$1]}
    # rsmpi's build reads these before MPICC, and would link another MPI than the launcher's.
    unset MPI_PKG_CONFIG CRAY_MPICH_DIR
    # It does not notice a changed MPICC either, so each MPI gets its own directory. In `make test`
    # (WHOLE_WORKSPACE) all share one, as few packages know of MPI: MPI_PROFILE, a setting of cargo
    # that has no effect but that the binding of each MPI is another build, keeps these apart.
    # Scripts that are started from here find the base unchanged.
    export MPI_TARGET_BASE=${MPI_TARGET_BASE:-${CARGO_TARGET_DIR:-$PWD/target}}
    export CARGO_TARGET_DIR=$MPI_TARGET_BASE/mpi-$1 MPI_PROFILE=
    if [[ -n ${WHOLE_WORKSPACE:-} ]]; then
        CARGO_TARGET_DIR=$MPI_TARGET_BASE/mpi
        if [[ $1 != openmpi ]]; then MPI_PROFILE='profile.dev.package.mpi-sys.debug=1'; fi
    fi
    mkdir -p "$CARGO_TARGET_DIR"
    MPIEXEC=("$TINYPROF_MPIEXEC")
    if [[ $1 == openmpi ]]; then
        MPIEXEC+=(--oversubscribe --bind-to none)
        if ((EUID == 0)); then
            export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
        fi
    fi
}

# Uses the MPI whose ranks yield their processor while they wait, which is Open MPI, or else the
# first. With more ranks than cores, measurements with the others mostly show how they spin.
mpi_use_yielding() {
    mpi_find
    local family=openmpi
    [[ -n ${MPI_CC[openmpi]:-} ]] || family=${MPI_FOUND[0]:?no MPI was found, scripts/setup.sh installs one}
    mpi_use "$family"
}

# Prints the name that the launcher in use gives itself.
mpi_version() {
    "$TINYPROF_MPIEXEC" --version 2>&1 | grep -v '^ *$' | head -n 1
}

# Prints a launcher of MPI family $1 whose ranks give their processor away while they wait: the usual
# one, but MPICH's with scripts/mpi/yield.c in front of its ranks. Tests with many ranks take a
# fraction of the time with it. It has no effect on an MPICH that is not over UCX.
mpi_yielding() {
    local launcher=${MPI_EXEC[$1]} directory
    if [[ $1 == mpich ]]; then
        directory=${CARGO_TARGET_DIR:-$PWD/target}/yielding
        mkdir -p "$directory"
        "${CC:-cc}" -O1 -shared -fPIC -o "$directory/yield.so" scripts/mpi/yield.c -ldl
        printf '#!/bin/sh\nLD_PRELOAD=%q${LD_PRELOAD:+:$LD_PRELOAD} exec %q "$@"\n' \
            "$directory/yield.so" "$(command -v "$launcher")" >"$directory/mpiexec.mpich"
        chmod +x "$directory/mpiexec.mpich"
        launcher=$directory/mpiexec.mpich
    fi
    echo "$launcher"
}
