#include "models/path_figures.h"

#include <QCoreApplication>
#include <algorithm>

#include "models/facts.h"
#include "models/path_marks_maker.h"
#include "models/text.h"
#include "report/units.h"
#include "schedule/action.h"

namespace pleat::models {
namespace {

struct Text {
    Q_DECLARE_TR_FUNCTIONS(PathFigures)
};

std::int32_t numberOf(const trace::Trace& trace, std::int32_t rank) {
    return rank < 0 ? -1 : trace.ranks()[trace::RankId(static_cast<std::uint32_t>(rank))].number;
}

void addShares(Figures& figures, std::vector<std::pair<QString, base::Duration>> parts,
               base::Duration whole) {
    std::stable_sort(parts.begin(), parts.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    for (const auto& [name, time] : parts) {
        const double share =
            whole.ns > 0 ? static_cast<double>(time.ns) / static_cast<double>(whole.ns) : 0;
        figures.rows.push_back({{name, {}, {}},
                                {shownDuration(time), qlonglong{time.ns}, {}},
                                {QString::fromStdString(report::percent(share)), share, {}}});
    }
}

}  // namespace

Figures pathAttribution(const IterationResults& iteration) {
    Figures figures;
    figures.columns = {Text::tr("On the path"), Text::tr("Time"), Text::tr("Share")};
    if (!iteration.analysis.graph) return figures;
    const trace::Trace& trace = *iteration.trace;
    const analysis::PathAttribution shares =
        analysis::attribute(trace, *iteration.analysis.graph, iteration.analysis.path);
    std::vector<std::pair<QString, base::Duration>> kinds, ranks;
    for (const auto& [kind, time] : shares.byKind) kinds.emplace_back(shownText(kind), time);
    for (const auto& [rank, time] : shares.byRank) {
        const std::int32_t number = numberOf(trace, rank);
        ranks.emplace_back(number < 0 ? Text::tr("no rank") : Text::tr("rank %1").arg(number),
                           time);
    }
    addShares(figures, std::move(kinds), shares.length);
    addShares(figures, std::move(ranks), shares.length);
    return figures;
}

Figures pathPieces(const IterationResults& iteration) {
    Figures figures;
    figures.columns = {Text::tr("At"), Text::tr("Time"), Text::tr("What"), Text::tr("Kind"),
                       Text::tr("Rank")};
    if (!iteration.analysis.graph) return figures;
    const trace::Trace& trace = *iteration.trace;
    const graph::TaskGraph& graph = *iteration.analysis.graph;
    for (const analysis::PathPiece& piece : iteration.analysis.path) {
        Place place;
        place.range = piece.span;
        place.rank = numberOf(trace, piece.rank);
        place.iteration = iteration.analysis.window.iteration;
        if (!piece.pause) place.event = eventOf(trace, graph.nodes()[piece.node]);
        const base::Duration at = piece.span.begin - iteration.analysis.window.window.begin;
        figures.rows.push_back(
            {{shownDuration(at), qlonglong{at.ns}, place},
             {shownDuration(piece.span.length()), qlonglong{piece.span.length().ns}, place},
             {place.event.valid() ? shownText(trace.name(place.event)) : QString(), {}, place},
             {shownText(analysis::kindOf(trace, graph, piece)), {}, place},
             {place.rank < 0 ? QStringLiteral("-") : QString::number(place.rank),
              qlonglong{place.rank}, place}});
    }
    return figures;
}

Figures pauseFacts(const Place& pause) {
    Figures figures;
    figures.columns = {Text::tr("What"), Text::tr("Value")};
    const auto add = [&](const QString& what, const QString& value) {
        figures.rows.push_back({{what, {}, pause}, {value, {}, pause}});
    };
    if (pause.range) add(Text::tr("Duration"), shownDuration(pause.range->length()));
    if (pause.rank >= 0) add(Text::tr("Rank"), Text::tr("rank %1").arg(pause.rank));
    add(Text::tr("Pause"), Text::tr("no work was running that later work depends on"));
    return figures;
}

}  // namespace pleat::models
