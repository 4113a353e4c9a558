#!/usr/bin/env bash
# Trains a small GPT on a folded pipeline (2 data-parallel replicas of 2 pipeline ranks, 2 chunks each, 8 microbatches)
# under the collector, prints where the iteration went, and leaves demo.pleat in the current folder.
set -euo pipefail
here=$PWD
root=$(cd "$(dirname "$0")/.." && pwd)
"$root/scripts/build.sh" release pleat pleat-train pleat_inject
bin=$root/build/release/bin
[ -f "$root/build/release/lib/libpleat_inject.so" ] || {
    echo "demo: built without recording; NVTX 3 headers (CUDA toolkit) are missing" >&2
    exit 1
}
if [ -e "$here/demo.pleat" ]; then
    echo "demo: replacing the demo.pleat that is here"
    rm -f "$here/demo.pleat" "$here/demo.pleat-wal" "$here/demo.pleat-shm"
fi
"$bin/pleat" record -o "$here/demo.pleat" -- \
    "$bin/pleat-train" --dp 2 --pp 2 --schedule folded --chunks 2 --microbatches 8 --microbatch-size 4 \
    --layers 4 --hidden 64 --heads 4 --sequence 64 --steps 12 --link-bandwidth 40000000 --loss-log "$here/demo-loss.csv"
"$bin/pleat" report "$here/demo.pleat"
echo
echo "The trace is demo.pleat, the losses are in demo-loss.csv. Next, with $bin in your PATH:"
echo "  pleat critical-path demo.pleat    pleat info demo.pleat    pleat export demo.pleat -o demo.json"
