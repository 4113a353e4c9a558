#!/usr/bin/env bash
# Builds and runs the tests. `scripts/test.sh fast` leaves out the slow ones; `scripts/test.sh all` adds all
# fast tests but the runtime's under the address, leak and undefined-behaviour sanitizers with the library's assertions
# on, and those of core and collector under the thread sanitizer.
set -euo pipefail
cd "$(dirname "$0")/.."
mode=${1:-full}
scripts/build.sh release
cmake --build --preset release --target bench # not run here, but it has to compile
case "$mode" in
    fast) ctest --preset release --label-exclude slow ;;
    full) ctest --preset release ;;
    all)
        scripts/build.sh asan-ubsan
        ctest --preset asan-ubsan
        # Only what these tests need: instrumented code takes long to build.
        scripts/build.sh tsan base_test schedule_test trace_test store_test collector_test record_failure_test \
            several_recordings_test
        ctest --preset tsan
        ctest --preset release
        ;;
    *) echo "test.sh: unknown mode \"$mode\"; use fast, full or all" >&2; exit 2 ;;
esac
