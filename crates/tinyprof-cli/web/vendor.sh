#!/usr/bin/env bash
# Fetches the libraries of the page anew, as they are published, with their licences. Run after a change of package.json
# (`npm install --package-lock-only`); what it writes is committed, so that building needs no npm. With --check it compares
# what is committed with what `npm ci` has fetched, and writes nothing.
set -euo pipefail
cd "$(dirname "$0")"

put() {
    if [[ $mode == --check ]]; then
        cmp "node_modules/$1" "vendor/$2" || { echo "vendor.sh: vendor/$2 is not that of package-lock.json; run vendor.sh" >&2; exit 1; }
    else
        cp "node_modules/$1" "vendor/$2"
    fi
}

mode=${1:-}
if [[ $mode != --check ]]; then
    npm ci --silent --ignore-scripts --no-audit --no-fund
    rm -rf vendor
    mkdir vendor
fi
put uplot/dist/uPlot.iife.min.js uplot.js
put uplot/dist/uPlot.min.css uplot.css
put uplot/LICENSE uplot.LICENSE
for name in d3-color d3-interpolate d3-scale-chromatic d3-hierarchy; do
    put "$name/dist/$name.min.js" "$name.js"
    put "$name/LICENSE" "$name.LICENSE"
done
