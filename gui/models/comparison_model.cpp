#include "models/comparison_model.h"

#include <utility>

#include "models/text.h"

namespace pleat::models {
namespace {

// One of the two, and what it is called.
struct Run {
    std::shared_ptr<const graph::RunIndex> index;
    QString name;
};

Answer<analysis::Comparison> compared(const Run& base, const Run& other,
                                      const std::stop_token& stop) {
    const auto problem = [](const Run& run, const base::Error& error) {
        return Answer<analysis::Comparison>{
            nullptr,
            QStringLiteral("%1: %2").arg(run.name, shownError(error))};
    };
    const auto ours = analysis::seriesOf(*base.index, {});
    if (!ours) return problem(base, ours.error());
    if (stop.stop_requested()) return {};
    const auto theirs = analysis::seriesOf(*other.index, {});
    if (!theirs) return problem(other, theirs.error());
    return {std::make_shared<const analysis::Comparison>(analysis::compareRuns(*ours, *theirs)),
            {}};
}

}  // namespace

ComparisonModel::ComparisonModel(const TraceSession& base, const TraceSession& other,
                                 QObject* parent)
    : QObject(parent), m_base(base), m_other(other) {
    for (const TraceSession* either : {&base, &other})
        connect(either, &TraceSession::traceChanged, this, &ComparisonModel::compare);
}

void ComparisonModel::compare() {
    m_answer.clear();
    const Run base{m_base.index(), m_base.name()}, other{m_other.index(), m_other.name()};
    if (base.index && other.index) {
        m_answer.start(
            [base, other](const std::stop_token& stop) { return compared(base, other, stop); },
            [this] { emit changed(); });
    }
    emit changed();
}

}  // namespace pleat::models
