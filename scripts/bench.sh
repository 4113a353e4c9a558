#!/usr/bin/env bash
# Builds and runs the benchmarks of the budgets; ratios are of two things measured in one run.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
cmake --preset release
cmake --build --preset release --target bench
bin=build/release/bin
"$bin/store_bench"
"$bin/import_bench"  # "import_bench large" imports a file of 5 GB
"$bin/analysis_bench"
"$bin/scaling_bench"
"$bin/timeline_bench"
[ ! -x "$bin/viewer_bench" ] || "$bin/viewer_bench"
if [ -x "$bin/record_bench" ]; then
    recording=$(mktemp -u --suffix=.pleat)
    "$bin/pleat" record -o "$recording" -- "$bin/record_bench"
    rm -f "$recording"
fi
[ ! -x "$bin/schedule_bench" ] || "$bin/schedule_bench"
