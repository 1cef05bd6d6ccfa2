#!/usr/bin/env bash
# Annotates three programs from crates.io with the patches in scripts/porting, runs each with and
# without TinyProf in pairs, and prints overhead and profile, which are the content of
# docs/porting.md. Not a part of `make test`.
#     scripts/porting.sh [PAIRS [NAME...]]      NAME: tokei, prover, octree
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/rust.sh
source scripts/mpi.sh

pairs=${1:-9}
shift $(($# ? 1 : 0))
names=("$@")
((${#names[@]})) || names=(tokei prover octree)
patches=$PWD/scripts/porting
# The patches name TinyProf by a path from here, independent of the target directory.
work=$PWD/target/porting

rust_find
# Each MPI builds in its own directory; the programs without MPI use that one as well.
mpi_use_yielding
target=$CARGO_TARGET_DIR
mkdir -p "$work/time"

# Has cargo fetch crate $1 in version $2 and prints the path of its source.
fetch() {
    mkdir -p "$work/fetch-$1/src"
    : >"$work/fetch-$1/src/lib.rs"
    printf '[package]\nname = "fetch"\nedition = "2024"\n[workspace]\n[dependencies]\n%s = "=%s"\n' "$1" "$2" \
        >"$work/fetch-$1/Cargo.toml"
    cargo metadata --quiet --format-version 1 --manifest-path "$work/fetch-$1/Cargo.toml" |
        grep -o "\"manifest_path\":\"[^\"]*/$1-$2/Cargo.toml\"" | head -n 1 | sed 's/.*:"//; s|/Cargo.toml"||'
}

# Copies the source of crate $1 in version $2 twice, as $3/plain and as $3/annotated, appends $4 (a
# file, if given) to both manifests, and annotates the second. The crate's own lock file stays:
# users have one, too.
copies() {
    local source copy
    source=$(fetch "$1" "$2")
    rm -rf "${work:?}/$3"
    for copy in plain annotated; do
        mkdir -p "$work/$3"
        cp -r "$source" "$work/$3/$copy"
        printf '\n[workspace]\n' >>"$work/$3/$copy/Cargo.toml"
        if [[ -f $4 ]]; then cat "$4" >>"$work/$3/$copy/Cargo.toml"; fi
    done
    patch --quiet --directory "$work/$3/annotated" --strip 1 <"$patches/$3.patch"
}

# Builds both copies of $1 with the further arguments of cargo, and keeps the executable $2 of each.
build() {
    local name=$1 file=$2 copy
    shift 2
    for copy in plain annotated; do
        # The warnings of these programs are not relevant here.
        cargo build --quiet --release --manifest-path "$work/$name/$copy/Cargo.toml" --target-dir "$target" "$@" \
            2>"$work/stderr" || { cat "$work/stderr" >&2; return 1; }
        cp "$target/release/$file" "$work/$name/$copy.exe"
    done
}

# Runs a command; appends its elapsed seconds and its processor seconds to file $1.
timed() {
    local file=$1 TIMEFORMAT='%R %U %S'
    shift
    { time "$@" >"$work/stdout" 2>"$work/stderr" </dev/null; } 2>"$work/timed" ||
        { cat "$work/stderr" >&2; return 1; }
    awk '{ print $1, $2 + $3 }' "$work/timed" >>"$file"
}

median() {
    sort -n | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

# Runs both executables of $1 in pairs, in alternating order, and prints the overhead and the last
# report. In the command, which is the further arguments, EXE is replaced by the executable.
compare() {
    local name=$1 pair copy what order times=$work/time/$1
    shift
    rm -f "$times".*
    export TINYPROF_OUT=$work/$name/profile COLUMNS=110
    # The first run of each fills the disk caches.
    for ((pair = -1; pair < pairs; pair++)); do
        order=(plain annotated)
        ((pair % 2 == 0)) || order=(annotated plain)
        for copy in "${order[@]}"; do
            rm -rf "$TINYPROF_OUT.tprof"
            timed "$times.$copy" "${@/EXE/$work/$name/$copy.exe}"
            if [[ $copy == annotated ]]; then cp "$work/stderr" "$work/$name/report"; fi
            if ((pair < 0)); then rm "$times.$copy"; fi
        done
    done
    printf '\n== %s, %s pairs\n' "$name" "$pairs"
    paste -d ' ' "$times.plain" "$times.annotated" | awk '{ print 100 * ($4 / $2 - 1) }' >"$times.cpu"
    paste -d ' ' "$times.plain" "$times.annotated" | awk '{ print 100 * ($3 / $1 - 1) }' >"$times.wall"
    printf 'without: %s s, of the processor %s s (medians)\n' \
        "$(cut -d ' ' -f 1 "$times.plain" | median)" "$(cut -d ' ' -f 2 "$times.plain" | median)"
    for what in cpu wall; do
        printf 'overhead by pairs, %s time: median %.2f %%, from %.2f to %.2f %%\n' "$what" \
            "$(median <"$times.$what")" "$(sort -n "$times.$what" | head -n 1)" "$(sort -n "$times.$what" | tail -n 1)"
    done
    # The table that the program itself printed at the end of the last run.
    sed -n '/^profile\.tprof: /,$p' "$work/$name/report"
}

printf '%s, %s processors, load %s, %s\n' "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)" "$(nproc)" \
    "$(cut -d ' ' -f 1 /proc/loadavg)" "$(rustc --version)"
for name in "${names[@]}"; do
    case $name in
    # Counts lines of code, with the rayon of its own dependencies, pinned by its lock file.
    tokei)
        copies tokei 15.0.0 tokei ''
        if [[ ! -d $work/sources ]]; then
            (cd "$work/tokei/plain" && cargo vendor --quiet --locked "$work/sources" >/dev/null)
        fi
        build tokei tokei
        compare tokei EXE "$work/sources"
        ;;
    # Proves hashes, with spans and logs of tracing.
    prover)
        copies p3-keccak-air 0.8.0 prover "$patches/prover.toml"
        build prover examples/prove_goldilocks_keccak --example prove_goldilocks_keccak
        compare prover EXE
        ;;
    # Builds an octree of points, with MPI.
    octree)
        copies bempp-octree 0.1.1 octree ''
        build octree examples/mpi_complete_tree --example mpi_complete_tree
        compare octree "${MPIEXEC[@]}" -n 4 EXE
        ;;
    *)
        echo "porting: no program $name; there are tokei, prover, octree" >&2
        exit 1
        ;;
    esac
done
