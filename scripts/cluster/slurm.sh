# shellcheck shell=bash
# Slurm on the hosts of scripts/cluster.sh. To be sourced by it.

# Starts Slurm on $1 hosts of $2 processors each, and waits until all are idle.
slurm_start() {
    local count=$1 cpus=$2 i state=$CLUSTER/slurm munge=$CLUSTER/munge tool
    for tool in slurmctld slurmd munged srun; do
        command -v "$tool" >/dev/null ||
            die "it needs $tool (Debian: slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge)"
    done
    mkdir -p "$state/state" "$munge"
    chmod 755 "$state" "$munge"
    (umask 277 && head -c 128 /dev/urandom >"$munge/key")
    cat >"$state/slurm.conf" <<CONF
ClusterName=one
SlurmctldHost=h0
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$munge/socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
StateSaveLocation=$state/state
SlurmdSpoolDir=$state/%n
SlurmctldPidFile=$state/slurmctld.pid
SlurmdPidFile=$state/%n.pid
SlurmctldLogFile=$state/slurmctld.log
SlurmdLogFile=$state/%n.log
KillWait=5
MessageTimeout=30
NodeName=h[1-$count] CPUs=$cpus State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
    export SLURM_CONF=$state/slurm.conf
    # One daemon for all hosts: its socket has a path, and paths are shared.
    munged --force --foreground --key-file "$munge/key" --socket "$munge/socket" \
        --pid-file "$munge/pid" --seed-file "$munge/seed" >"$munge/log" 2>&1 &
    until [[ -S $munge/socket ]]; do
        kill -0 $! 2>/dev/null || die "munged did not start: $(tail -1 "$munge/log")"
        sleep 0.02
    done
    "$self" on h0 exec slurmctld -D -i >/dev/null 2>&1 &
    for ((i = 1; i <= count; i++)); do
        mkdir -p "$state/h$i"
        "$self" on "h$i" exec slurmd -D >/dev/null 2>&1 &
    done
    # slurmd reports to slurmctld, which counts those that are ready.
    for ((i = 0; i < 300; i++)); do
        if [[ $("$self" on h0 sinfo -h -t idle -o %D 2>/dev/null) == "$count" ]]; then return; fi
        sleep 0.1
    done
    die "Slurm did not start: $(tail -1 "$state/slurmctld.log")"
}
