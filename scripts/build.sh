#!/usr/bin/env bash
# Installs what is missing and builds one preset (default: release), all of it or the targets named. Shared by demo.sh and
# test.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}
shift || true
scripts/setup.sh
cmake --preset "$preset"
if [ $# -gt 0 ]; then
    available=$(cmake --build --preset "$preset" --target help)
    for target in "$@"; do
        # pleat-train and the recorder are not there without what they need; the configure summary says so.
        if grep -q "^$target:" <<<"$available"; then cmake --build --preset "$preset" --target "$target"; fi
    done
else
    cmake --build --preset "$preset"
fi
