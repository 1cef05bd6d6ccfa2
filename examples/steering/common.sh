# What the scripts of this directory share. Each is called with the command of a program. If its
# ranks are on other hosts, HOSTS names them, with commas between, or JOB_ID the job of Slurm.
set -euo pipefail
if (($# == 0)); then
    echo "usage: bash $0 mpiexec -n 4 ./program" >&2
    exit 2
fi
job=${JOB:-steered}
# Where the job is, for `tinyprof`.
if [[ -n ${HOSTS-} ]]; then
    at=(--hosts "$HOSTS")
elif [[ -n ${JOB_ID-} ]]; then
    at=(--job "$JOB_ID")
else
    at=(--job "$job")
fi

# ranks_of COMMAND...: prints how many ranks a launcher is told to start, as `mpiexec -n 4` is.
ranks_of() {
    while (($# > 1)); do
        if [[ $1 == -n || $1 == -np ]]; then
            echo "$2"
            return
        fi
        shift
    done
    echo 1
}

# start SETTING... -- COMMAND...: starts the program, and waits until all ranks can be given
# commands.
start() {
    local settings=()
    while [[ $1 != -- ]]; do
        settings+=(-o "$1")
        shift
    done
    shift
    local ranks
    ranks=$(ranks_of "$@")
    tinyprof run --out "$job" "${settings[@]}" -- "$@" &
    until (($(tinyprof ctl status "${at[@]}" 2>/dev/null | grep -cE '(^|: )rank ') >= ranks)); do
        kill -0 $! 2>/dev/null || { echo "the program has ended already" >&2 && exit 1; }
        sleep 0.1
    done
}

# at_flush_point VERB [ARGUMENT...]: gives a command of `tinyprof ctl` that is obeyed at the next flush
# point. Ranks that are still in MPI_Init count none.
at_flush_point() {
    until tinyprof ctl "$@" "${at[@]}"; do
        kill -0 $!
        sleep 0.2
    done
}

# Waits for the end of the program, and reports each part of its run.
report_parts() {
    local part
    wait
    for part in "$job"-part-*.tprof; do
        tinyprof report "$part"
    done
}
