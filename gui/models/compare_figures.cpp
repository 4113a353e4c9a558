#include "models/compare_figures.h"

#include <QCoreApplication>
#include <vector>

#include "models/answer_figures.h"
#include "report/units.h"

namespace pleat::models {
namespace {

struct Text {
    Q_DECLARE_TR_FUNCTIONS(CompareFigures)
};

// By part of a bar; sums to the mean iteration but for rounding down.
std::vector<base::Duration> meanParts(const analysis::RunAnalysis& run) {
    std::vector<base::Duration> parts(barPartCount());
    if (run.ranks.empty()) return parts;
    for (const analysis::RankSummary& rank : run.ranks) {
        parts[0] += rank.compute;
        parts[1] += rank.moving;
        parts[2] += rank.waiting;
        parts[3] += rank.copy;
        for (std::size_t cause = 0; cause < analysis::kBubbleCauseCount; ++cause)
            parts[kFirstCause + cause] += rank.bubbleByCause.of[cause];
    }
    for (base::Duration& part : parts)
        part = {part.ns / static_cast<std::int64_t>(run.ranks.size())};
    return parts;
}

Cell timeCell(base::Duration time, const Place& place) {
    return {QString::fromStdString(report::milliseconds(time)), qlonglong{time.ns}, place};
}

void addRow(Figures& figures, const QString& name, base::Duration base, base::Duration other,
            base::Duration iteration, const Place& place) {
    const base::Duration difference = other - base;
    const double share =
        iteration.ns > 0 ? static_cast<double>(difference.ns) / static_cast<double>(iteration.ns)
                         : 0;
    const QString sign = difference.ns > 0 ? QStringLiteral("+") : QString();
    Cell change = timeCell(difference, place);
    change.text.prepend(sign);
    change.tone = difference.ns > 0   ? Tone::Longer
                  : difference.ns < 0 ? Tone::Shorter
                                      : Tone::Plain;
    figures.rows.push_back({{name, {}, place},
                            timeCell(base, place),
                            timeCell(other, place),
                            change,
                            {sign + QString::fromStdString(report::percent(share)), share, place}});
}

}  // namespace

Figures compareFigures(const RunResults& base, const RunResults& other) {
    Figures figures;
    figures.columns = {Text::tr("Mean iteration"), Text::tr("This ms"), Text::tr("Other ms"),
                       Text::tr("Difference ms"), Text::tr("of this iteration")};
    const Place place = typicalIteration(base);
    const base::Duration iteration = base.run.iterations.mean;
    addRow(figures, Text::tr("whole"), iteration, other.run.iterations.mean, iteration, place);
    const std::vector<base::Duration> ours = meanParts(base.run), theirs = meanParts(other.run);
    for (std::size_t part = 0; part < ours.size(); ++part) {
        if (ours[part].ns == 0 && theirs[part].ns == 0) continue;
        addRow(figures, barPartName(part), ours[part], theirs[part], iteration, place);
    }
    return figures;
}

}  // namespace pleat::models
