#!/usr/bin/env bash
# Installs what is missing and builds one preset (default: release). Shared by demo.sh and test.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}
scripts/setup.sh
cmake --preset "$preset"
cmake --build --preset "$preset"
