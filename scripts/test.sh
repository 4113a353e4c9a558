#!/usr/bin/env bash
# Builds and runs the tests. `scripts/test.sh fast` leaves out the slow ones; `scripts/test.sh all` adds the core,
# collector and viewer tests under the address, leak and undefined-behaviour sanitizers.
set -euo pipefail
cd "$(dirname "$0")/.."
mode=${1:-full}
scripts/build.sh release
case "$mode" in
    fast) ctest --preset release --label-exclude slow ;;
    full) ctest --preset release ;;
    all)
        # Only what these tests need: instrumented code takes long to build.
        scripts/build.sh asan-ubsan base_test schedule_test trace_test store_test collector_test \
            pipeline_geometry_test timeline_test gui_models_test timeline_gui_test gui_test
        ctest --preset asan-ubsan
        ctest --preset release
        ;;
    *) echo "test.sh: unknown mode \"$mode\"; use fast, full or all" >&2; exit 2 ;;
esac
