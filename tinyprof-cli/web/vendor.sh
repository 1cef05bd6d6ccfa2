#!/usr/bin/env bash
# Fetches the libraries of the page anew, as they are published, with their licences. Run after a change of package.json
# (`npm install --package-lock-only`); what it writes is committed, so that building needs no npm.
set -euo pipefail
cd "$(dirname "$0")"
npm ci --silent --ignore-scripts --no-audit --no-fund
rm -rf vendor
mkdir vendor
cp node_modules/uplot/dist/uPlot.iife.min.js vendor/uplot.js
cp node_modules/uplot/dist/uPlot.min.css vendor/uplot.css
cp node_modules/uplot/LICENSE vendor/uplot.LICENSE
for name in d3-color d3-interpolate d3-scale-chromatic d3-hierarchy; do
    cp "node_modules/$name/dist/$name.min.js" "vendor/$name.js"
    cp "node_modules/$name/LICENSE" "vendor/$name.LICENSE"
done
