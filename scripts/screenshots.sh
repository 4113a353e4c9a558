#!/usr/bin/env bash
# Makes the pictures in docs/images: of published runs where ../shared/traces has them, and of demo.pleat where a
# demo lies in the current folder.
set -euo pipefail
here=$PWD
root=$(cd "$(dirname "$0")/.." && pwd)
"$root/scripts/build.sh" release pleat-gui
gui=$root/build/release/bin/pleat-gui
images=$root/docs/images
mkdir -p "$images"

picture() {  # NAME VIEW TRACE
    [ -e "$3" ] || { echo "screenshots: $3 is not there; leaving out $1.png"; return; }
    "$gui" --screenshot "$images/$1.png" --view "$2" --trace "$3" --size 1400x800
}
straggler=$root/../shared/traces/straggler/timeline-ST.json.gz
dlrm=$root/../shared/traces/dlrm_8rank
picture pipeline_straggler pipeline "$straggler"
picture timeline_straggler timeline "$straggler"
picture answer_straggler answer "$straggler"
picture timeline_dlrm timeline "$dlrm"
picture answer_dlrm answer "$dlrm"
picture pipeline_demo pipeline "$here/demo.pleat"
picture timeline_demo timeline "$here/demo.pleat"
picture answer_demo answer "$here/demo.pleat"
