# What the scripts of this directory share. Each is called with the command of a program.
set -euo pipefail
if (($# == 0)); then
    echo "usage: bash $0 mpiexec -n 4 ./program" >&2
    exit 2
fi
job=${JOB:-steered}

# start SETTING... -- COMMAND...: starts the program, and waits until it can be given commands.
start() {
    local settings=()
    while [[ $1 != -- ]]; do
        settings+=(-o "$1")
        shift
    done
    tinyprof run --out "$job" "${settings[@]}" "$@" &
    until tinyprof ctl status --job "$job" >/dev/null 2>&1; do
        kill -0 $! 2>/dev/null || { echo "the program has ended already" >&2 && exit 1; }
        sleep 0.1
    done
}
