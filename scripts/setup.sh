#!/usr/bin/env bash
# Installs missing requirements of a build besides Rust: a C compiler, make, libclang, an MPI with
# headers. Also installs those of the tests: valgrind, which counts instructions; groff, which
# checks manual pages; otf2-print, which reads archives of events; script, which provides a
# terminal; sqlite3, whose answers are compared with an example's; and Python, with whose tools
# profiles are read. With --browser also a browser,
# npm and a reader of PDF files, with which pages are tested; with --cluster what
# scripts/cluster.sh needs. If it cannot install, it prints what to install and fails.
# Changes nothing if nothing is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/mpi.sh
with=${1:-}

# Requirements by name, with the packages that provide them. Read through a name reference in
# `packages`.
# shellcheck disable=SC2034
declare -A debian=([cc]=build-essential [make]=make [libclang]=libclang-dev [valgrind]=valgrind
    [python]='python3 python3-venv' [groff]=groff-base [otf2]=otf2-tools [script]=bsdutils [sqlite3]=sqlite3 [mpi]='openmpi-bin libopenmpi-dev'
    [chromium]=chromium [node]=nodejs [npm]=npm [pdftotext]=poppler-utils
    [ip]=iproute2 [slurm]='slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge')
# shellcheck disable=SC2034
declare -A fedora=([cc]='gcc glibc-devel' [make]=make [libclang]=clang-devel [valgrind]=valgrind
    [python]=python3 [groff]=groff-base [otf2]=otf2 [script]=util-linux-script [sqlite3]=sqlite [mpi]=openmpi-devel
    [chromium]=chromium [node]=nodejs [npm]=npm [pdftotext]=poppler-utils
    [ip]=iproute [slurm]='slurm slurm-slurmctld slurm-slurmd munge')

# rsmpi's bindgen loads libclang.so and reads clang's own headers; one without the other (Debian's
# libclang1 alone) fails in the middle of the build. The list of places is shorter than bindgen's:
# LIBCLANG_PATH covers the others.
have_libclang() {
    [[ -n ${LIBCLANG_PATH:-} ]] && return
    # An ordinary user's PATH on Debian does not contain ldconfig. libclang-cpp is another library.
    local known
    known=$(PATH=$PATH:/usr/sbin:/sbin ldconfig -p 2>/dev/null || true)
    [[ $known =~ libclang(-[0-9.]+)?\.so ]] || compgen -G '/usr/lib*/llvm*/lib*/libclang[.-][0-9s]*' >/dev/null || return 1
    compgen -G '/usr/lib*/clang/*/include/stddef.h' >/dev/null ||
        compgen -G '/usr/lib*/llvm*/lib*/clang/*/include/stddef.h' >/dev/null ||
        compgen -G '/usr/local/lib*/clang/*/include/stddef.h' >/dev/null
}

# Debian's python3 lacks the module that creates environments.
have_python() {
    python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null
}

# Without a C compiler a wrapper cannot be tested: one that exists is accepted until the compiler is
# there.
have_mpi() {
    if ! command -v cc >/dev/null && compgen -c mpicc >/dev/null; then return; fi
    mpi_find
    ((${#MPI_FOUND[@]}))
}

find_missing() {
    missing=()
    command -v cc >/dev/null || missing+=(cc)
    command -v make >/dev/null || missing+=(make)
    have_libclang || missing+=(libclang)
    command -v valgrind >/dev/null || missing+=(valgrind)
    command -v groff >/dev/null || command -v mandoc >/dev/null || missing+=(groff)
    # Where it cannot be installed by itself, its tests are skipped.
    command -v otf2-print >/dev/null || ! command -v apt-get >/dev/null || missing+=(otf2)
    command -v script >/dev/null || missing+=(script)
    command -v sqlite3 >/dev/null || missing+=(sqlite3)
    have_python || missing+=(python)
    have_mpi || missing+=(mpi)
    if [[ $with == --cluster ]]; then
        command -v ip >/dev/null || missing+=(ip)
        command -v slurmctld slurmd srun munged >/dev/null || missing+=(slurm)
    fi
    [[ $with == --browser ]] || return 0
    command -v chromium >/dev/null || missing+=(chromium)
    command -v node >/dev/null || missing+=(node)
    command -v npm >/dev/null || missing+=(npm)
    command -v pdftotext >/dev/null || missing+=(pdftotext)
}

# Prints the packages of all missing requirements, from the table named $1.
packages() {
    local -n table=$1
    local what
    for what in "${missing[@]}"; do printf ' %s' "${table[$what]}"; done
}

give_up() {
    cat >&2 <<END
setup: $1. Please install, then run this again:
  Debian, Ubuntu:  sudo apt-get update && sudo apt-get install -y$(packages debian)
  Fedora:          sudo dnf install -y$(packages fedora)
                   (its MPIs are modules: module load mpi/openmpi-x86_64)
  On a cluster:    load the modules of an MPI and of LLVM; LIBCLANG_PATH and MPICC say where they are
END
    exit 1
}

install_missing() {
    local wanted as_root=()
    command -v apt-get >/dev/null || give_up "cannot install on this system (no apt-get)"
    if ((EUID != 0)); then
        # sudo may ask for a password only if somebody can answer.
        if ! command -v sudo >/dev/null || ! { sudo -n true 2>/dev/null || [[ -t 0 && -z ${CI:-} ]]; }; then
            give_up "cannot install without root or sudo"
        fi
        as_root=(sudo)
    fi
    as_root+=(env DEBIAN_FRONTEND=noninteractive)
    read -ra wanted <<<"$(packages debian)"
    echo "setup: installing ${wanted[*]}"
    # A list that cannot be fetched (somebody's third-party source) need not be the one that
    # matters.
    "${as_root[@]}" apt-get update -q </dev/null || echo "setup: apt-get update failed; trying with what it has"
    "${as_root[@]}" apt-get install -q -y --no-install-recommends "${wanted[@]}" </dev/null ||
        give_up "apt-get install failed"
}

find_missing
if [[ " ${missing[*]} " == *' mpi '* && -n ${MPICC:-} ]]; then
    echo "setup: MPICC=$MPICC builds no MPI program, or its launcher is not beside it (name it in" \
        "TINYPROF_MPIEXEC). Without MPICC in the environment any MPI is looked for." >&2
    exit 1
fi
# More than one round may be needed: once the compiler is there, an MPI that was only assumed to
# work may turn out to have no headers. A round that changed nothing is the last.
before=
while ((${#missing[@]})); do
    [[ ${missing[*]} != "$before" ]] || give_up "installed, and yet not found: ${missing[*]}"
    before=${missing[*]}
    install_missing
    find_missing
done
