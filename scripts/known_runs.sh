#!/usr/bin/env bash
# Runs every program of known duration under the recorder and prints what the analysis makes of it: the culprit it names
# first, and the iteration times it predicts beside those that were then measured. `scripts/known_runs.sh literal` takes
# the cases whose names hold "literal". With PLEAT_KNOWN_RUNS_FOLDER=FOLDER the recordings stay there.
set -euo pipefail
cd "$(dirname "$0")/.."
cmake --preset release >/dev/null
cmake --build --preset release --target known_runs_test
PLEAT_KNOWN_RUNS="${1:-all}" build/release/bin/known_runs_test
