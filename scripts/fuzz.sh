#!/usr/bin/env bash
# Builds and runs one fuzzer of tests/fuzz for a time: fuzz.sh TARGET [SECONDS]. It starts from the files in
# tests/fuzz/corpus/TARGET, keeps what it learns in build/fuzz/corpus/TARGET, and leaves an input that breaks something in
# build/fuzz/findings. Needs the Debian packages clang and libclang-rt-14-dev.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${1:?"usage: fuzz.sh TARGET [SECONDS]; targets: $(cd tests/fuzz/corpus && echo *)"}
seconds=${2:-480}
if [ ! -d "tests/fuzz/corpus/$target" ]; then
    echo "fuzz.sh: no target \"$target\"; there are $(cd tests/fuzz/corpus && echo *)" >&2
    exit 2
fi
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz --target "fuzz_$target"
# A short quarantine: twice as many inputs a second, and nothing here frees long before it uses.
export ASAN_OPTIONS=quarantine_size_mb=8:malloc_context_size=6:allocator_release_to_os_interval_ms=-1
mkdir -p "build/fuzz/corpus/$target" build/fuzz/findings
exec "build/fuzz/bin/fuzz_$target" -fork=0 -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=10 -max_len=65536 \
    -print_final_stats=1 -dict="tests/fuzz/dictionaries/$target.dict" -artifact_prefix="build/fuzz/findings/$target-" \
    "build/fuzz/corpus/$target" "tests/fuzz/corpus/$target"
