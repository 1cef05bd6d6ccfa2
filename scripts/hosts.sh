#!/usr/bin/env bash
# Profiles programs on several hosts (scripts/cluster.sh), in each way in which users start them,
# and compares what is said of their waiting with what they do:
#
#     scripts/hosts.sh
#     scripts/hosts.sh brief              without what is the same for all MPIs: hosts that are lost,
#                                         and watching a job of Slurm
#     scripts/hosts.sh steering           only the scripts of examples/steering, on 4 hosts
#     scripts/hosts.sh steering-times     when 64 ranks on 4 hosts obey commands; takes minutes
#     scripts/hosts.sh kills [TIMES]      kills watchers of 16 ranks on 4 hosts, 100 times; minutes
#     scripts/hosts.sh lost               only a delayed network, and hosts that stop and die
#
# Skips with a reason where there can be no cluster. Uses the MPI of MPICC and TINYPROF_MPIEXEC, the
# command `tinyprof`, and the library beside it.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/mpi.sh

# What cannot be installed is skipped below.
if ((EUID == 0)); then scripts/setup.sh --cluster || true; fi
if ! why=$(scripts/cluster.sh check 2>&1); then
    echo "skipped: $why"
    exit 0
fi
bin=$(cd "${CARGO_TARGET_DIR:-target}/debug" && pwd)
# `cargo test` leaves no copy of the library beside the command.
ln -f "$bin/deps/libtinyprof_preload.so" "$bin/"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$MPICC" -g -o "$scratch/waiting" crates/tinyprof-preload/tests/programs/waiting.c

# Ranks 1 and 3 wait for 0 and 2, which are on the other host, 20 ms in each of 10 rounds.
program=(./waiting late_sender 10 20000)
# launch_on HOSTS RANKS: prints the words that start so many ranks on them, one a line.
launch_on() {
    local each=$(($2 / ($(tr , ' ' <<<"$1" | wc -w))))
    case $mpi in
    openmpi)
        printf '%s\n' "$TINYPROF_MPIEXEC" --oversubscribe --bind-to none --mca plm_rsh_agent ssh --host \
            "${1//,/:$each,}:$each" --map-by node --mca btl_tcp_if_include eth0 --mca oob_tcp_if_include eth0 \
            --mca mpi_yield_when_idle 1
        ;;
    mpich) printf '%s\n' "$TINYPROF_MPIEXEC" -launcher ssh -hosts "$1" ;;
    esac
    printf '%s\n' -n "$2"
}
slurm='' mpi=$(mpi_cc_family "$MPICC")
case $mpi in
openmpi)
    # Its default looks for another daemon, and takes networks that end on their host.
    launch=("$TINYPROF_MPIEXEC" --oversubscribe --mca plm_rsh_agent ssh --host h1:2,h2:2 --map-by node
        --mca btl_tcp_if_include eth0 --mca oob_tcp_if_include eth0 -n 4)
    step=(srun --mpi=pmix -N 2 -n 4 -m cyclic)
    ;;
mpich)
    launch=("$TINYPROF_MPIEXEC" -launcher ssh -hosts h1,h2 -n 4)
    step=(srun --mpi=pmi2 -N 2 -n 4 -m cyclic)
    ;;
esac
if command -v slurmctld slurmd munged srun >/dev/null; then slurm=--slurm; fi
clocks=()
if unshare --time --monotonic 1 --fork true 2>/dev/null; then clocks=(--clock h2=1000); fi

# on_cluster NAME COMMAND...: runs a command there, in the scratch directory, which makes NAME.tprof.
# MPICH 4.0 over UCX may hang in MPI_Finalize on several hosts, also without us: the profile is
# written before.
on_cluster() {
    local name=$1 done=()
    shift
    if [[ $mpi == mpich ]]; then done=(--done "$scratch/$name.tprof"); fi
    (
        cd "$scratch"
        PATH=$bin:$PATH TINYPROF_REPORT=off timeout 80 "$cluster" --share "$scratch" --share "$bin" --limit "${limit:-35}" \
            "${done[@]}" "${options[@]}" -- "$@"
    ) >"$scratch/log" 2>&1
}

# profile NAME COMMAND...: makes NAME.tprof.
profile() {
    local name=$1
    shift
    attempts "$name" tinyprof run -o mpi=messages -o events=window --out "$name" -- "$@"
}

# profile_each NAME COMMAND...: makes NAME.tprof of ranks that are each started by `tinyprof run`.
profile_each() {
    local name=$1
    shift
    attempts "$name" "$@" tinyprof run -o mpi=messages -o events=window --out "$name" -- "${program[@]}"
    # A job that was stopped could not tidy up.
    grep -q 'cluster: stopped' "$scratch/log" ||
        [[ -z $(find "$scratch" -name '.tinyprof-roll-call-*') ]] ||
        { echo "$name: leaves an invitation" && return 1; }
    rm -f "$scratch"/.tinyprof-roll-call-*
}

# attempts NAME COMMAND...: runs a command that makes NAME.tprof. What MPICH does after it, in
# MPI_Finalize, is not compared.
attempts() {
    local name=$1 attempt status
    shift
    for attempt in 1 2 3; do
        status=0
        on_cluster "$name" "$@" || status=$?
        if ((status == 0)); then return; fi
        [[ $mpi == mpich ]] && grep -q 'cluster: stopped' "$scratch/log" || break
        if [[ -e $scratch/$name.tprof ]]; then
            echo "$name: MPICH did not end; the profile counts"
            return
        fi
        echo "$name: MPICH did not end, in attempt $attempt"
    done
    cat "$scratch/log"
    return "$status"
}
cluster=$PWD/scripts/cluster.sh

# waits NAME: all ranks are in one profile, and those who wait do so for their partners.
waits() {
    "$bin/tinyprof" waits "$scratch/$1.tprof" --by-rank --json >"$scratch/waits.json" ||
        { cat "$scratch/log" && return 1; }
    python3 scripts/cluster/check_waits.py "$scratch/waits.json" 4 200 "$1"
}

# check NAME: the same, with who is to blame, and both ends of messages.
check() {
    waits "$1" || return 1
    "$bin/tinyprof" why "$scratch/$1.tprof" >"$scratch/why" || { cat "$scratch/log" && return 1; }
    # The late ranks are on the other host; what they did is measured, and not guessed from sums.
    grep -qE '^Ranks 0,2 compute .* before MPI_Send at main \(waiting.c:[0-9]+\)' "$scratch/why" &&
        grep -q 'measured' "$scratch/why" || { cat "$scratch/why" && return 1; }
    # Both ends of each message are events, on whatever hosts: two in each round.
    rm -rf "$scratch/paraver"
    "$bin/tinyprof" export "$scratch/$1.tprof" --to paraver -o "$scratch/paraver" 2>"$scratch/log" ||
        { cat "$scratch/log" && return 1; }
    local messages
    messages=$(grep -c '^3:' "$scratch/paraver/trace.prv" || true)
    ((messages == 20)) || { echo "$1: $messages messages have both ends, not 20" && return 1; }
}

# watch NAME COMMAND...: looks at a job while it runs; the command starts what follows it. What
# MPICH does in MPI_Finalize is not compared.
watch() {
    local name=$1
    shift
    rm -rf "$scratch/watched.tprof"
    limit=75 on_cluster watched "$@" ./waiting late_sender 600 20000 ||
        [[ $mpi == mpich && -e $scratch/watched.tprof ]] || { cat "$scratch/log" && return 1; }
    [[ -e $scratch/watched.tprof ]]
    echo "$name, watched: 4 ranks on 2 hosts, recorded, held, one stopped, an agent killed: as expected"
}
watch=$PWD/scripts/cluster/watch.sh

# on_four RANKS LIMIT SCRIPT WORD...: hands on to a script of scripts/cluster, which runs on h0 of
# four hosts, and gets these words and a command that starts so many ranks of steered.c. MPICH over
# UCX may hang in MPI_Finalize.
four=h1,h2,h3,h4
on_four() {
    local ranks=$1 limit=$2 script=$3 words tree=$PWD
    shift 3
    "$MPICC" -O1 -w -o "$scratch/steered" crates/tinyprof-preload/tests/programs/steered.c
    mapfile -t words < <(launch_on "$four" "$ranks")
    (
        cd "$scratch"
        PATH=$bin:$PATH TINYPROF_REPORT=off timeout $((limit + 5)) "$cluster" --hosts 4 --share "$scratch" \
            --share "$tree" --share "$bin" --limit "$limit" -- "${cluster%.sh}/$script" "$@" "${words[@]}" ./steered
    )
}

# A network that delays, and a host that stops and dies. Waiting is still what the program makes it.
lost() {
    if [[ ! -e /dev/net/tun ]]; then echo "skipped: a network that delays: no /dev/net/tun" && return; fi
    options=(--delay 5 "${clocks[@]}")
    profile delayed "${launch[@]}" "${program[@]}"
    waits delayed
    limit=60 on_cluster lost "${cluster%.sh}/lost.sh" "${launch[@]}" ../waiting late_sender 3000 20000 ||
        { cat "$scratch/log" && return 1; }
    tail -n 1 "$scratch/log"
}
case ${1-} in
steering) on_four 4 600 steering.sh examples "$four"; exit ;;
steering-times) on_four 64 500 steering.sh times "$four" 64; exit ;;
kills) times=${2:-100} && on_four 16 $((times * 15 + 60)) kills.sh "$times" "$four" steered; exit ;;
lost) lost; exit ;;
esac

options=("${clocks[@]}")
profile launcher "${launch[@]}" "${program[@]}"
check launcher
watch launcher "$watch" waiting "${launch[@]}"
if [[ ${1-} != brief ]]; then lost; fi
if [[ -z $slurm ]]; then
    echo "skipped: starts by Slurm, which is not installed (slurmctld slurmd slurm-client munge)"
    exit 0
fi
options=(--slurm "${clocks[@]}")
if ! on_cluster none true; then
    echo "skipped: starts by Slurm, which does not start here: $(tail -1 "$scratch/log")"
    exit 0
fi
profile srun "${step[@]}" "${program[@]}"
check srun
profile_each each "${step[@]}"
if ! check each; then
    # In one of three runs with four ranks on two processors, causes were estimated.
    echo "each: not as expected, in attempt 1"
    rm -rf "$scratch/each.tprof"
    profile_each each "${step[@]}"
    check each
fi
if [[ ${1-} == brief ]]; then exit; fi
watch srun salloc --quiet -N 2 -n 4 "$watch" waiting "${step[@]}"
