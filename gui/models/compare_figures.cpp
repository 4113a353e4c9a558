#include "models/compare_figures.h"

#include <QCoreApplication>

#include "models/answer_figures.h"
#include "models/text.h"
#include "report/diff_report.h"
#include "report/units.h"

namespace pleat::models {
namespace {

using analysis::Level;
using analysis::Verdict;

constexpr std::size_t kMostAnswerBytes = 4'000;

struct Text {
    Q_DECLARE_TR_FUNCTIONS(CompareFigures)
};

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

QString titleOf(Level level) {
    switch (level) {
        case Level::Iteration:
            return Text::tr("iteration");
        case Level::Accounting:
            return Text::tr("part");
        case Level::BubbleCause:
            return Text::tr("bubble");
        case Level::Rank:
            return Text::tr("rank");
        case Level::Stage:
            return Text::tr("stage");
        case Level::Microbatch:
            return Text::tr("microbatch");
        case Level::Transfer:
            return Text::tr("communication");
        case Level::Kernel:
            return Text::tr("device work");
    }
    return {};
}

Tone toneOf(Verdict verdict) {
    if (verdict == Verdict::Slower) return Tone::Longer;
    return verdict == Verdict::Faster ? Tone::Shorter : Tone::Plain;
}

}  // namespace

QString comparisonAnswer(const analysis::Comparison& comparison) {
    return shownText(report::renderAnswer(comparison), kMostAnswerBytes);
}

Figures meanFigures(const analysis::Comparison& comparison, const Place& iteration) {
    Figures figures;
    figures.columns = {Text::tr("Mean iteration"), Text::tr("BASE ms"), Text::tr("NEW ms"),
                       Text::tr("Difference ms"), Text::tr("of BASE")};
    const analysis::MeanPart& whole = comparison.mean;
    addRow(figures, Text::tr("whole"), whole.base, whole.other, whole.base, iteration);
    // The parts of a comparison are those of a bar, in the same order.
    for (std::size_t part = 0; part < comparison.parts.size(); ++part) {
        const analysis::MeanPart& mean = comparison.parts[part];
        if (mean.base.ns == 0 && mean.other.ns == 0) continue;
        addRow(figures, barPartName(part), mean.base, mean.other, whole.base, iteration);
    }
    return figures;
}

Figures comparedFigures(const analysis::Comparison& comparison, const Place& iteration) {
    Figures figures;
    figures.columns = {Text::tr("Level"),  Text::tr("What"),         Text::tr("Verdict"),
                       Text::tr("BASE"),   Text::tr("NEW"),          Text::tr("Difference"),
                       Text::tr("Change"), Text::tr("95 % interval")};
    for (const analysis::ComparedSeries& row : comparison.rows) {
        const report::RowText text = report::rowText(row);
        Place place = iteration;
        if (row.key.level == Level::Rank) place.rank = row.key.number;
        const Tone tone = toneOf(row.verdict);
        const auto figure = [&place](const std::string& shown, const std::optional<double>& value) {
            return Cell{QString::fromStdString(shown), value ? QVariant(*value) : QVariant(),
                        place};
        };
        Cell difference = figure(text.difference, row.difference);
        difference.tone = tone;
        figures.rows.push_back({{titleOf(row.key.level), {}, place},
                                {shownText(text.name), {}, place},
                                {QString::fromStdString(text.verdict), {}, place, tone},
                                figure(text.base, row.base),
                                figure(text.other, row.other),
                                difference,
                                figure(text.change, row.ratio),
                                {QString::fromStdString(text.interval), {}, place}});
    }
    return figures;
}

}  // namespace pleat::models
