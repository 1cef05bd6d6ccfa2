#!/usr/bin/env bash
# The first process of a host of scripts/cluster.sh, in its namespaces: host.sh NAME SHARED...
# Prepares the host, says so, and takes care of processes that have lost their parent.
set -euo pipefail
host=$1
shift
hostname "$host"
mount --make-rprivate /
kept() { echo "$CLUSTER/shared${1//\//_}"; }
for share; do
    [[ $share == /tmp/* ]] || continue
    mkdir -p "$(kept "$share")"
    mount --bind "$share" "$(kept "$share")"
done
for own in /tmp /dev/shm; do mount -t tmpfs -o mode=1777,size=1g tmpfs "$own"; done
for share; do
    [[ $share == /tmp/* ]] || continue
    mkdir -p "$share"
    mount --bind "$(kept "$share")" "$share"
done
mount --bind "$CLUSTER/hosts" /etc/hosts
# Machines are told apart by a random number of their last start.
cat /proc/sys/kernel/random/uuid >"$CLUSTER/$host.boot"
mount --bind "$CLUSTER/$host.boot" /proc/sys/kernel/random/boot_id
ip link set lo up
: >"$CLUSTER/$host.up"
trap 'exit 0' TERM
while :; do
    sleep 3600 &
    wait $!
done
