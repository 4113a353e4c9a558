#!/usr/bin/env bash
# Installs the Debian packages Pleat needs that are not installed yet; says what it does. Nothing else is changed.
set -euo pipefail

packages=(
    g++ cmake ninja-build ccache sqlite3
    libfmt-dev libsqlite3-dev nlohmann-json3-dev libcli11-dev
    libsimdjson-dev zlib1g-dev libzstd-dev libpcre2-dev pkg-config
    libtorch-dev libgloo-dev
    libopenblas0-serial  # without it LibTorch multiplies matrices with the reference BLAS, ten times slower
    qt6-base-dev qt6-svg-dev qt6-tools-dev qt6-l10n-tools
    libgtest-dev libbenchmark-dev
    fonts-dejavu-core  # the fonts of the viewer's pictures
    xvfb xdotool  # the test of the viewer in a real X server
)

missing=()
for package in "${packages[@]}"; do
    status=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
    echo "setup: every package is installed"
else
    echo "setup: installing ${missing[*]}"
    as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || { echo "setup: not root and no sudo; install by hand: ${missing[*]}" >&2; exit 1; }
        as_root=(sudo)
    fi
    "${as_root[@]}" apt-get update -qq
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
fi

if [ ! -e /usr/local/cuda/include/nvtx3/nvToolsExtPayload.h ]; then
    echo "setup: NVTX 3 headers (part of the CUDA toolkit) are not in /usr/local/cuda; without them Pleat" \
         "builds without recording and pleat-train (the configure summary says so)"
fi
