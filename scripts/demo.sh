#!/usr/bin/env bash
# Trains a small GPT on a folded pipeline (2 data-parallel replicas of 2 pipeline ranks, 2 chunks each, 8 microbatches)
# under the collector, prints where the iteration went, and leaves demo.pleat in the current folder.
set -euo pipefail
here=$PWD
root=$(cd "$(dirname "$0")/.." && pwd)
"$root/scripts/build.sh" release
bin=$root/build/release/bin
rm -f "$here/demo.pleat"
"$bin/pleat" record -o "$here/demo.pleat" -- \
    "$bin/pleat-train" --dp 2 --pp 2 --schedule folded --chunks 2 --microbatches 8 --microbatch-size 4 \
    --layers 4 --hidden 64 --heads 4 --sequence 64 --steps 12 --link-bandwidth 40000000 --loss-log "$here/demo-loss.csv"
"$bin/pleat" report "$here/demo.pleat"
echo
echo "The trace is demo.pleat. Next: pleat critical-path demo.pleat, pleat info demo.pleat, pleat sql demo.pleat"
