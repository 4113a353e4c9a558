#include "models/answer_figures.h"

#include <QCoreApplication>
#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "models/text.h"
#include "report/headline.h"
#include "report/text_report.h"
#include "report/units.h"

namespace pleat::models {
namespace {

using analysis::BubbleCause;
using analysis::TimePart;

struct Text {
    Q_DECLARE_TR_FUNCTIONS(AnswerFigures)
};

QString fromUtf8(const std::string& text) { return QString::fromStdString(text); }

QString milliseconds(base::Duration duration) { return fromUtf8(report::milliseconds(duration)); }
QString percent(double fraction) { return fromUtf8(report::percent(fraction)); }

Cell textCell(const QString& text, const Place& place = {}) { return {text, {}, place}; }
Cell numberCell(std::int64_t number, const Place& place = {}) {
    return {number < 0 ? Text::tr("unknown") : QString::number(number), qlonglong{number}, place};
}
Cell timeCell(base::Duration time, const Place& place = {}) {
    return {milliseconds(time), qlonglong{time.ns}, place};
}
Cell shareCell(double share, const Place& place = {}) { return {percent(share), share, place}; }

QString stragglerName(const analysis::Straggler& straggler) {
    return fromUtf8(analysis::toString(straggler.suspect));
}

}  // namespace

std::size_t barPartCount() { return kFirstCause + analysis::kBubbleCauseCount; }

QString barPartName(std::size_t part) {
    switch (part) {
        case 0:
            return Text::tr("compute");
        case 1:
            return Text::tr("moving");
        case 2:
            return Text::tr("waiting");
        case 3:
            return Text::tr("copy");
        default:
            break;
    }
    switch (static_cast<BubbleCause>(part - kFirstCause)) {
        case BubbleCause::DataLoading:
            return Text::tr("bubble: data_loading");
        case BubbleCause::Fill:
            return Text::tr("bubble: fill");
        case BubbleCause::Drain:
            return Text::tr("bubble: drain");
        case BubbleCause::Imbalance:
            return Text::tr("bubble: imbalance");
        case BubbleCause::ReplicaImbalance:
            return Text::tr("bubble: replica_imbalance");
        case BubbleCause::LatePeer:
            return Text::tr("bubble: late_peer");
        case BubbleCause::GradientSync:
            return Text::tr("bubble: gradient_sync");
        case BubbleCause::MessageLatency:
            return Text::tr("bubble: p2p_latency");
        case BubbleCause::HostLate:
            return Text::tr("bubble: host_late");
        case BubbleCause::UntracedWork:
            return Text::tr("bubble: untraced_device_work");
        case BubbleCause::Unknown:
            return Text::tr("bubble: unknown");
    }
    return {};
}

Place typicalIteration(const RunResults& results) {
    Place place;
    std::int64_t nearest = 0;
    for (const graph::IterationWindow& window : results.windows) {
        if (!window.complete) continue;
        const std::int64_t distance =
            std::abs((window.window.length() - results.run.iterations.median).ns);
        if (place.range && distance >= nearest) continue;
        nearest = distance;
        place.range = window.window;
        place.iteration = window.iteration;
    }
    return place;
}

QStringList headlines(const RunResults& results) {
    const analysis::RunAnalysis& run = results.run;
    QStringList lines;
    const report::Headline head = report::headlineOf(run);
    for (const std::string& problem : head.problems)
        lines << Text::tr("Warning: %1").arg(shownText(problem, 4'000));
    if (!head.answer.empty()) lines << shownText(head.answer + ".", 4'000);
    if (run.replay) {
        lines << Text::tr("Replay error %1: %2 ms predicted, %3 ms measured")
                     .arg(percent(run.replay->errorFraction), milliseconds(run.replay->predicted),
                          milliseconds(run.replay->measured));
    }
    const auto& iterations = run.iterations;
    lines << (iterations.indices.empty()
                  ? Text::tr("No complete iteration: see the diagnostics")
                  : Text::tr("Iteration time %1 ms median, %2 ms p90, %3 ms mean over %n "
                             "iteration(s)",
                             nullptr, static_cast<int>(iterations.indices.size()))
                        .arg(milliseconds(iterations.median), milliseconds(iterations.p90),
                             milliseconds(iterations.mean)));
    lines << (run.schedule
                  ? Text::tr("Schedule: %1").arg(fromUtf8(report::describeSchedule(*run.schedule)))
                  : Text::tr("Schedule: not recognised (no pipeline tasks)"));
    if (run.bubble.fraction) {
        lines
            << (run.bubble.theoreticalFraction
                    ? Text::tr("Bubble %1 of all ranks' time; this schedule's minimum is %2 "
                               "(balanced stages, free messages)")
                          .arg(percent(*run.bubble.fraction),
                               percent(*run.bubble.theoreticalFraction))
                    : Text::tr("Bubble %1 of all ranks' time").arg(percent(*run.bubble.fraction)));
    }
    return lines;
}

std::vector<Bar> rankBars(const RunResults& results) {
    std::vector<Bar> bars;
    Place place = typicalIteration(results);
    for (const analysis::RankSummary& rank : results.run.ranks) {
        const auto& of = rank.time.parts.of;
        std::vector<base::Duration> parts(of.begin(), of.begin() + kFirstCause);
        std::copy(rank.time.causes.of.begin(), rank.time.causes.of.end(),
                  std::back_inserter(parts));
        const std::vector<std::int32_t> tenths = report::tenthsOfPercent(parts);
        place.rank = rank.number;
        Bar& bar = bars.emplace_back();
        bar.title = Text::tr("rank %1").arg(rank.number);
        if (rank.oneOfSeveralDevices) bar.title += ' ' + shownText(rank.device);
        for (std::size_t part = 0; part < parts.size(); ++part) {
            if (parts[part].ns > 0)
                bar.segments.push_back({part, parts[part], tenths[part], place});
        }
    }
    return bars;
}

Figures rankFigures(const RunResults& results) {
    Figures figures;
    figures.columns = {Text::tr("Rank"),       Text::tr("dp"),        Text::tr("pp"),
                       Text::tr("Compute ms"), Text::tr("Hidden ms"), Text::tr("Moving ms"),
                       Text::tr("Waiting ms"), Text::tr("Copy ms"),   Text::tr("Bubble ms"),
                       Text::tr("Total ms")};
    Place place = typicalIteration(results);
    for (const analysis::RankSummary& rank : results.run.ranks) {
        place.rank = rank.number;
        figures.rows.push_back(
            {numberCell(rank.number, place), numberCell(rank.coordinates.dp, place),
             numberCell(rank.coordinates.pp, place), timeCell(rank.time[TimePart::Compute], place),
             timeCell(rank.time.hidden, place), timeCell(rank.time[TimePart::Moving], place),
             timeCell(rank.time[TimePart::Waiting], place),
             timeCell(rank.time[TimePart::Copy], place),
             timeCell(rank.time[TimePart::Bubble], place), timeCell(rank.time.total(), place)});
    }
    return figures;
}

Figures iterationFigures(const RunResults& results) {
    Figures figures;
    figures.columns = {Text::tr("Iteration"), Text::tr("Time ms"), Text::tr("of the median"),
                       Text::tr("Recorded")};
    const auto median = static_cast<double>(results.run.iterations.median.ns);
    for (const graph::IterationWindow& window : results.windows) {
        Place place;
        place.range = window.window;
        place.iteration = window.iteration;
        const base::Duration length = window.window.length();
        const double ratio = median > 0 ? static_cast<double>(length.ns) / median : 0;
        figures.rows.push_back(
            {numberCell(window.iteration, place), timeCell(length, place),
             window.complete ? shareCell(ratio, place) : textCell(QStringLiteral("-"), place),
             textCell(window.complete ? Text::tr("completely")
                                      : Text::tr("incomplete; excluded from the figures"),
                      place)});
    }
    return figures;
}

Figures stragglerFigures(const RunResults& results) {
    Figures figures;
    figures.columns = {Text::tr("What"),        Text::tr("Slowdown"), Text::tr("Operation"),
                       Text::tr("x its ideal"), Text::tr("p90"),      Text::tr("worst")};
    for (const analysis::Straggler& straggler : results.run.stragglers) {
        Place place = typicalIteration(results);
        place.rank = straggler.rank;
        const auto ratio = [&place](double times) {
            // Pauses have no usual time to be a multiple of.
            return Cell{times > 0 ? QString::number(times, 'f', 2) : QString(), times, place};
        };
        figures.rows.push_back(
            {textCell(stragglerName(straggler), place),
             {QString::number(straggler.slowdown, 'f', 3), straggler.slowdown, place},
             textCell(shownText(straggler.operation), place),
             ratio(straggler.timesIdeal),
             ratio(straggler.slowestTenth),
             ratio(straggler.slowest)});
    }
    return figures;
}

Figures causeFigures(const RunResults& results) {
    Figures figures;
    figures.columns = {Text::tr("Cause"), Text::tr("of all ranks' time")};
    const Place place = typicalIteration(results);
    for (const BubbleCause cause : analysis::kBubbleCauses) {
        const double share = results.run.bubble.byCause[cause];
        if (share <= 0) continue;
        const std::size_t part = kFirstCause + static_cast<std::size_t>(cause);
        figures.rows.push_back({textCell(barPartName(part), place), shareCell(share, place)});
    }
    return figures;
}

Figures transferFigures(const RunResults& results, const trace::Trace& trace) {
    std::map<analysis::TransferKey, const trace::Transfer*> longest;
    for (const trace::Transfer& transfer : trace.annotations().transfers) {
        const trace::Transfer*& known = longest[{transfer.dimension, transfer.operation}];
        if (known == nullptr || known->span.length() < transfer.span.length()) known = &transfer;
    }
    Figures figures;
    figures.columns = {Text::tr("Dimension"), Text::tr("Operation"),  Text::tr("Count"),
                       Text::tr("Bytes"),     Text::tr("Total ms"),   Text::tr("Hidden ms"),
                       Text::tr("Moving ms"), Text::tr("Waiting ms"), Text::tr("Overlap")};
    for (const analysis::TransferRow& row : results.run.transfers) {
        Place place;
        if (const auto found = longest.find(row.key); found != longest.end()) {
            place.event = found->second->event;
            place.range = found->second->span;
            place.rank = trace.ranks()[found->second->rank].number;
        }
        const auto overlap = row.figures.overlapFraction();
        figures.rows.push_back(
            {textCell(shownText(trace::toString(row.key.dimension)), place),
             textCell(shownText(trace::toString(row.key.operation)), place),
             numberCell(row.figures.count, place), numberCell(row.figures.bytes, place),
             timeCell(row.figures.total(), place), timeCell(row.figures.hidden, place),
             timeCell(row.figures.moving, place), timeCell(row.figures.waiting, place),
             overlap ? shareCell(*overlap, place) : textCell(Text::tr("none moved"), place)});
    }
    return figures;
}

Figures waitFigures(const RunResults& results) {
    Figures figures;
    figures.columns = {Text::tr("Rank"), Text::tr("waited for"), Text::tr("Dimension"),
                       Text::tr("Time ms")};
    for (const analysis::RankSummary& rank : results.run.ranks) {
        Place place = typicalIteration(results);
        place.rank = rank.number;
        Place late = place;
        for (const auto* waits : {&rank.waits, &rank.idleWaits}) {
            for (const analysis::WaitSummary& wait : *waits) {
                late.rank = wait.lateRank;
                figures.rows.push_back({numberCell(rank.number, place),
                                        numberCell(wait.lateRank, late),
                                        textCell(shownText(trace::toString(wait.dimension)), place),
                                        timeCell(wait.duration, place)});
            }
        }
    }
    return figures;
}

}  // namespace pleat::models
