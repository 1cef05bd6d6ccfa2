#!/usr/bin/env bash
# Writes pages of profiles of several kinds with `tinyprof html`, and clicks through them in
# Chromium. With --pictures screenshots are in target/browser/screenshots afterwards, and one of
# them becomes that of iterations in the README; scripts/readme-pictures.sh takes the others. Installs
# Chromium, Node.js and npm if they are missing.
#
# With --matrix it takes pictures of all views at three sizes, in light and dark, and compares them
# with those in web/tests/pictures, which takes minutes; with --matrix --keep they become those. With
# --measure it measures the pages for docs/html.md.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/rust.sh
source scripts/mpi.sh

web=crates/tinyprof-cli/web
out=$PWD/target/browser
shared=${TINYPROF_SHARED_DATA:-$PWD/../shared/data}

rust_find
bash scripts/setup.sh --browser
# Node.js trusts its own list of authorities; a company's network may need those of the machine, as
# all other programs here use.
machine_authorities=/etc/ssl/certs/ca-certificates.crt
if [[ -z ${NODE_EXTRA_CA_CERTS:-} && -f $machine_authorities ]]; then export NODE_EXTRA_CA_CERTS=$machine_authorities; fi
npm ci --prefix "$web" --silent --ignore-scripts --no-audit --no-fund
# The committed files are equal to those of the registry.
bash "$web/vendor.sh" --check

rm -rf "$out"
mkdir -p "$out"

mpi_find
if ((${#MPI_FOUND[@]})); then
    mpi_use "${MPI_FOUND[0]}"
    rust_build -p tinyprof-example-fft -p tinyprof-example-tc
    TINYPROF_OUT=$out/fft TINYPROF_REPORT=off \
        "${MPIEXEC[@]}" -n 4 "$CARGO_TARGET_DIR/debug/fft" </dev/null >/dev/null
    TINYPROF_OUT=$out/tc TINYPROF_REPORT=off "${MPIEXEC[@]}" -n 4 "$CARGO_TARGET_DIR/debug/tc" \
        --generate powerlaw --vertices 20000 --edges 24000 </dev/null >/dev/null
fi

rust_build -p tinyprof-cli -p tinyprof-format --bins --examples
bin=${CARGO_TARGET_DIR:-$PWD/target}/debug

# Pages of profiles with messages, and the messages that they should show; pages with metrics
# and with events.
rust_select -p tinyprof-cli
TINYPROF_PAGES=$out cargo test --quiet "${SELECTED[@]}" --bin tinyprof -- --ignored --exact \
    html::communication::tests::pages_with_messages html::iterations::tests::page_with_metrics \
    html::timeline::tests::pages_with_events >/dev/null
# Profiles of level `messages` with three and with thirty classes of ranks.
rust_select -p tinyprof-structure
TINYPROF_PAGES=$out cargo test --quiet "${SELECTED[@]}" --test structure -- \
    --ignored --exact structure::profiles_with_structure >/dev/null

"$bin/examples/story" "$out/wide" 4096 100 50
"$bin/examples/story" "$out/other" 4 12 20
"$bin/examples/story" "$out/later" 4 13 30
"$bin/examples/story" "$out/one" 1 12 20
"$bin/examples/story" "$out/many" 64 12 20
# Profiles with everything: those of 64 ranks have as many events as a page shows.
"$bin/examples/everything" "$out/all-1" 1 100 50
"$bin/examples/everything" "$out/all-4" 4 100 50
"$bin/examples/everything" "$out/all-64" 64 100 100
"$bin/examples/everything" "$out/all-4096" 4096 100 20
"$bin/examples/story" "$out/empty" 0 0 0
"$bin/examples/hostile" "$out/hostile"
# Ranks that ran together, an invalid number, a file that was cut off: the remaining data is a
# profile.
printf '%s\n' '"id","parent","tag","is_loop","times"' \
    '"main","null","COMP","0","0.300000|0.310000|0.290000"' \
    '"main-a","main","COMM","0","0.100000,0.285482|0.200000"' \
    '"main-b","main","IO","0","0.100000|0.0x|0.2' >"$out/damaged.csv"
"$bin/tinyprof" import "$out/damaged.csv" -o "$out/damaged" >"$out/import.txt" 2>&1 || (($? == 3))
# Four ranks, five executions of three iterations: execution 3 is slow, rank 1 is slow once, and
# rank 3 never visits "rare".
{
    echo '"id","parent","tag","is_loop","times"'
    awk 'BEGIN {
        printf "\"step\",\"null\",\"COMP\",\"1\",\""
        for (r = 0; r < 4; r++) for (e = 0; e < 5; e++) for (i = 0; i < 3; i++) {
            slow = (e == 3 ? 1.6 : 1) * (r == 1 && e == 1 && i == 2 ? 3 : 1)
            delimiter = i > 0 ? "+" : e > 0 ? "-" : r > 0 ? "|" : ""
            printf "%s%.6f", delimiter, 0.01 * (1 + 0.02 * r) * slow
        }
        print "\""
    }'
    echo '"rare","null","IO","1","0.001-0.001-0.001-0.001-0.001|0.001-0.001|0.001|"'
} >"$out/executions.csv"
"$bin/tinyprof" import "$out/executions.csv" -o "$out/executions" >>"$out/import.txt" 2>&1 || (($? == 3))
# The region "work" takes most time, over three callpaths, none of which is the costliest.
printf '%s\n' 'id,parent,tag,is_loop,times' 'main,null,COMP,0,1.0|1.1' 'main<a,main,COMP,0,0.3|0.3' \
    'main<b,main,COMP,0,0.3|0.3' 'main<c,main,COMP,0,0.3|0.4' 'main<a<work,main<a,COMP,0,0.25|0.25' \
    'main<b<work,main<b,COMP,0,0.25|0.25' 'main<b<work<work,main<b<work,COMP,0,0.05|0.05' >"$out/recursive.csv"
"$bin/tinyprof" import "$out/recursive.csv" -o "$out/recursive" >>"$out/import.txt"
if [[ -f $shared/sim_vis_512_1_1_512.csv ]]; then
    "$bin/tinyprof" import "$shared/sim_vis_512_1_1_512.csv" -o "$out/authors" >>"$out/import.txt" 2>&1 || (($? == 3))
else
    echo "browser: the authors' profile is not in $shared (see TINYPROF_SHARED_DATA): its page is not tested"
fi

for profile in "$out"/*.tprof; do
    "$bin/tinyprof" html "$profile" -o "${profile%.tprof}.html"
    "$bin/tinyprof" report --json "$profile" >"${profile%.tprof}.json"
done

"$bin/tinyprof" report --by region --json "$out/recursive.tprof" >"$out/recursive.regions.json"

for name in other one hostile; do
    "$bin/tinyprof" export "$out/$name.tprof" --to chrome -o "$out/$name.trace.json" 2>>"$out/export.txt"
done

"$bin/tinyprof" html "$out/other.tprof" "$out/later.tprof" -o "$out/compared.html"
"$bin/tinyprof" diff --json "$out/other.tprof" "$out/later.tprof" >"$out/compared.json"
"$bin/tinyprof" diff --width 1000 --all "$out/other.tprof" "$out/later.tprof" >"$out/compared.txt"

# Two runs with a region that one rank never visits.
sed 's/0[.]001/0.002/g' "$out/executions.csv" >"$out/again.csv"
"$bin/tinyprof" import "$out/again.csv" -o "$out/again" >>"$out/import.txt" 2>&1 || (($? == 3))
"$bin/tinyprof" html "$out/executions.tprof" "$out/again.tprof" -o "$out/rare.html"
"$bin/tinyprof" diff --json "$out/executions.tprof" "$out/again.tprof" >"$out/rare.json"

# Three runs a side. They come after the pages of single profiles, as nobody looks at them alone.
for run in 1 2 3; do
    "$bin/examples/story" "$out/base-$run" 4 12 $((19 + run))
    "$bin/examples/story" "$out/new-$run" 4 13 $((28 + run))
done
sides=(--base "$out"/base-?.tprof --new "$out"/new-?.tprof)
"$bin/tinyprof" html "${sides[@]}" -o "$out/several.html"
"$bin/tinyprof" diff --json "${sides[@]}" >"$out/several.json"
"$bin/tinyprof" diff --width 1000 --all "${sides[@]}" >"$out/several.txt"

export TINYPROF_PAGES=$out TINYPROF_PROGRAMS=$bin
case ${1:-} in
--matrix) node "$web/tests/matrix.js" "${@:2}" ;;
--measure)
    "$bin/examples/everything" "$out/all" 4096 100 100
    "$bin/tinyprof" html "$out/all.tprof" -o "$out/all.html"
    node "$web/tests/measure.js" all-4 all-64 wide all
    ;;
*)
    if [[ ${1:-} == --pictures ]]; then export TINYPROF_SCREENSHOTS=1; fi
    node --test --test-concurrency=2 "$web"/tests/*.test.js
    if [[ ${1:-} == --pictures ]]; then
        cp "$out/screenshots/tc-iterations.png" docs/images/iterations.png
    fi
    ;;
esac
