#!/usr/bin/env bash
# A cluster on one machine: hosts that are namespaces, each with its own network, host name,
# processes, /tmp and /dev/shm, and if wanted its own clock. All other files are shared, as on a
# cluster with one file system.
#
#     scripts/cluster.sh check                    says why there can be none here, and fails
#     scripts/cluster.sh [OPTIONS] -- COMMAND...  starts one, runs the command on h0, stops it
#     scripts/cluster.sh on HOST COMMAND...       as ssh, within a command; also known as ssh there
#
#     --hosts N          h1 to hN beside the login host h0; 2 if not said
#     --slurm            Slurm: slurmctld on h0, a slurmd on each other host
#     --cpus N           the processors that Slurm gives a host; 2 if not said
#     --delay MS         a frame between two hosts takes MS milliseconds more; needs python3
#     --clock H=SECONDS  the monotonic clock of host H is ahead by SECONDS; may be repeated
#     --share DIR        a directory below /tmp that all hosts see; the current one always is
#     --limit SECONDS    stops all of it after that time; 300 if not said
#     --done FILE        stops all of it 10 s after this file is there: for what may not end by itself
#
# Needs root, util-linux and iproute2; Slurm's and munge's daemons for --slurm. Nothing is left
# behind, not even after kill -9: all of it runs in a namespace of processes, and ends with the
# first one; its state is in memory that only this namespace has mounted.
set -euo pipefail
self=$(readlink -f "$0")

die() {
    echo "cluster: $*" >&2
    exit 1
}

# Runs a command on a host, given by its name or address, in the same directory. As ssh does, it
# hands on nothing of the environment, and gives the words to a shell as one line.
on() {
    while [[ ${1-} == -* ]]; do shift; done
    local host=$1 inside=(--mount --uts --net --ipc --pid) kept=(PATH="$PATH" HOME="$HOME") name
    shift
    if [[ $host == 10.77.0.* ]]; then host=h$((${host##*.} - 1)); fi
    [[ -e $CLUSTER/$host.pid ]] || die "there is no host $host"
    if [[ -e $CLUSTER/$host.clock ]]; then inside+=(--time); fi
    for name in USER LANG SLURM_CONF CLUSTER; do
        if [[ -n ${!name-} ]]; then kept+=("$name=${!name}"); fi
    done
    # shellcheck disable=SC2016 # the shell on the host expands it
    exec nsenter --target "$(<"$CLUSTER/$host.pid")" "${inside[@]}" -- \
        env -i "${kept[@]}" bash -c 'cd "$0" && eval "$*"' "$PWD" "$@"
}

# Says why there can be no cluster here.
check() {
    local tool
    [[ $(id -u) == 0 ]] || die "it needs root"
    for tool in unshare nsenter ip; do
        command -v "$tool" >/dev/null || die "it needs $tool (Debian: util-linux, iproute2)"
    done
    unshare --net --uts --ipc --mount --pid --fork true 2>/dev/null ||
        die "this machine allows no namespaces"
    unshare --net ip link add port type veth peer name other 2>/dev/null ||
        die "this machine's kernel makes no virtual networks (veth)"
}

case ${1-} in
on) shift && on "$@" ;;
check) check && exit ;;
inside) shift ;;
*)
    check
    exec unshare --pid --fork --kill-child=KILL --mount-proc -- "$self" inside "$@"
    ;;
esac

count=2 slurm='' cpus=2 delay='' limit=300 written='' clocks=() shares=("$PWD" "$(dirname "$self")")
while (($#)); do
    case $1 in
    --hosts) count=$2 && shift 2 ;;
    --slurm) slurm=yes && shift ;;
    --cpus) cpus=$2 && shift 2 ;;
    --delay) delay=$2 && shift 2 ;;
    --clock) clocks+=("$2") && shift 2 ;;
    --share) shares+=("$(readlink -f "$2")") && shift 2 ;;
    --limit) limit=$2 && shift 2 ;;
    --done) written=$2 && shift 2 ;;
    --) shift && break ;;
    *) die "unknown option $1; see the first lines of $self" ;;
    esac
done
(($#)) || die "no command; see the first lines of $self"

# The state is outside of /tmp, which each host has its own of.
export CLUSTER=/media
mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs "$CLUSTER"
# The first process of a namespace ends by no signal that it does not handle.
trap 'exit 130' INT TERM HUP
(sleep "$limit" && echo "cluster: stopped after $limit s" >&2 && kill -TERM 1) &
if [[ -n $written ]]; then
    (
        until [[ -e $written ]]; do sleep 0.5; done
        sleep 10
        echo "cluster: stopped 10 s after $written was there" >&2
        kill -TERM 1
    ) &
fi

{
    echo "127.0.0.1 localhost"
    for ((i = 0; i <= count; i++)); do echo "10.77.0.$((i + 1)) h$i"; done
} >"$CLUSTER/hosts"

# Starts a host. Those below h0 have processes of their own; h0 sees all, to find the others.
start() {
    local host=$1 kinds=(--net --uts --ipc --mount) clock
    if [[ $host != h0 && $host != switch ]]; then kinds+=(--pid --mount-proc); fi
    for clock in "${clocks[@]}"; do
        [[ ${clock%%=*} == "$host" ]] || continue
        kinds+=(--time --monotonic "${clock#*=}" --boottime "${clock#*=}")
        : >"$CLUSTER/$host.clock"
    done
    unshare "${kinds[@]}" --fork --kill-child=KILL -- \
        bash "$(dirname "$self")/cluster/host.sh" "$host" "${shares[@]}" </dev/null &
    local outer=$! inner
    until [[ -e $CLUSTER/$host.up ]]; do
        kill -0 "$outer" 2>/dev/null || die "$host did not start"
        sleep 0.01
    done
    inner=$(<"/proc/$outer/task/$outer/children")
    echo "${inner% }" >"$CLUSTER/$host.pid"
}

in_network_of() {
    local host=$1
    shift
    nsenter --target "$(<"$CLUSTER/$host.pid")" --net -- "$@"
}

# A bridge that the hosts are plugged into.
bridge() {
    in_network_of switch ip link add bridge type bridge
    in_network_of switch ip link set bridge up
    for ((i = 0; i <= count; i++)); do
        in_network_of switch ip link add "port$i" type veth peer name eth0 netns "$(<"$CLUSTER/h$i.pid")"
        in_network_of switch ip link set "port$i" master bridge up
    done
}

# A switch that delays, in front of ranks that poll: not every kernel has netem.
delayed() {
    local i pids=()
    for ((i = 0; i <= count; i++)); do pids+=("$(<"$CLUSTER/h$i.pid")"); done
    chrt --fifo 10 python3 "$(dirname "$self")/cluster/switch.py" "$delay" "$CLUSTER/switched" "${pids[@]}" &
    until [[ -e $CLUSTER/switched ]]; do
        kill -0 $! 2>/dev/null || die "no switch that delays: it needs python3, chrt and /dev/net/tun"
        sleep 0.01
    done
}

for ((i = 0; i <= count; i++)); do start "h$i"; done
if [[ -n $delay ]]; then delayed; else start switch && bridge; fi
for ((i = 0; i <= count; i++)); do
    in_network_of "h$i" ip address add "10.77.0.$((i + 1))/24" dev eth0
    in_network_of "h$i" ip link set eth0 up
done

mkdir "$CLUSTER/bin"
for name in ssh rsh; do
    printf '#!/bin/sh\nexec %q on "$@"\n' "$self" >"$CLUSTER/bin/$name"
    chmod 755 "$CLUSTER/bin/$name"
done
export PATH=$CLUSTER/bin:$PATH

if [[ -n $slurm ]]; then
    # shellcheck source=scripts/cluster/slurm.sh
    source "$(dirname "$self")/cluster/slurm.sh"
    slurm_start "$count" "$cpus"
fi

# h0 is where the user is: with the whole environment.
printf -v line '%q ' "$@"
# shellcheck disable=SC2016
nsenter --target "$(<"$CLUSTER/h0.pid")" --mount --uts --net --ipc -- \
    bash -c 'cd "$0" && eval "$1"' "$PWD" "$line" <&0 &
# In the background, so that signals reach this script.
wait $!
