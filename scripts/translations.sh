#!/usr/bin/env bash
# Collects the viewer's texts for translators: translations.sh [LANGUAGE]. Every gui/translations/pleat_*.ts is brought up to
# date; a LANGUAGE ("de", "pt_BR") that has none yet gets one. English has only what depends on a number.
set -euo pipefail
cd "$(dirname "$0")/.."
lupdate=$(command -v lupdate || echo /usr/lib/qt6/bin/lupdate)
update() { "$lupdate" -silent -locations none -no-obsolete -source-language en "${@:2}" -recursive gui -ts "gui/translations/pleat_$1.ts"; }
update en -target-language en -pluralonly
for file in gui/translations/pleat_*.ts ${1:+"gui/translations/pleat_$1.ts"}; do
    language=$(basename "$file" .ts)
    [ "$language" = pleat_en ] || update "${language#pleat_}" -target-language "${language#pleat_}"
done
