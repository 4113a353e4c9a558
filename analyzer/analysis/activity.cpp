#include "analysis/activity.h"

#include <algorithm>
#include <optional>

#include "analysis/device_work.h"

namespace pleat::analysis {
namespace {

constexpr std::size_t kNotAnalysed = static_cast<std::size_t>(-1);

// Position of every rank of the trace among the analysed ones.
std::vector<std::size_t> positionsOf(const trace::Trace& trace,
                                     std::span<const trace::RankId> ranks) {
    std::vector<std::size_t> positions(trace.ranks().size(), kNotAnalysed);
    for (std::size_t i = 0; i < ranks.size(); ++i) positions[ranks[i].index()] = i;
    return positions;
}

// Calls visit(window position) for every window that the closed interval touches.
template <class Visit>
void forEachWindow(std::span<const graph::IterationWindow> windows, base::Interval span,
                   Visit visit) {
    auto first = std::partition_point(windows.begin(), windows.end(), [&](const auto& candidate) {
        return candidate.window.end <= span.begin;
    });
    for (; first != windows.end() && first->window.begin <= span.end; ++first)
        visit(static_cast<std::size_t>(first - windows.begin()));
}

void addClipped(std::vector<base::Interval>& list, base::Interval span, base::Interval window) {
    const base::Interval clipped = intersect(span, window);
    if (!clipped.empty()) list.push_back(clipped);
}

base::Interval clippedOrEmpty(base::Interval span, base::Interval window) {
    const base::Interval clipped = intersect(span, window);
    return clipped.empty() ? base::Interval{window.begin, window.begin} : clipped;
}

// Whether the two ranks' clocks and timers could be so wrong that who came last is not known.
bool withinError(const graph::RunIndex& run, trace::RankId first, trace::RankId second,
                 base::Duration waiting) {
    if (first == second || waiting.ns <= 0) return false;
    const trace::Trace& trace = run.trace();
    const base::Duration error =
        run.resolution().value + clockError(trace.ranks()[first], trace.ranks()[second]);
    return waiting <= error;
}

// Matches of which clocks leave open who came last: another member came so shortly before that one
// that their clocks may be wrong by as much.
std::vector<bool> withoutSureLast(const trace::Trace& trace) {
    const trace::Annotations& annotations = trace.annotations();
    std::vector<bool> unsure;
    for (const trace::Match& match : annotations.matches) {
        unsure.push_back(std::any_of(
            match.members.begin(), match.members.end(), [&](const trace::TransferId member) {
                const trace::Transfer& transfer = annotations.transfers[member];
                const base::Duration error =
                    transfer.rank == match.lastRank
                        ? base::Duration{}
                        : clockError(trace.ranks()[transfer.rank], trace.ranks()[match.lastRank]);
                return error.ns > 0 && match.ready - transfer.span.begin <= error;
            }));
    }
    return unsure;
}

// The unclipped parts of a transfer.
TransferPart partsOf(const graph::RunIndex& run, const trace::Transfer& transfer,
                     const std::vector<bool>& withoutSureLast) {
    const trace::Annotations& annotations = run.trace().annotations();
    TransferPart part;
    part.dimension = transfer.dimension;
    part.operation = transfer.operation;
    part.chunk = transfer.chunk;
    part.gradientSync = transfer.action == schedule::ActionKind::ReduceGradient;
    part.bytes = transfer.bytes;
    part.matched = transfer.match.valid();
    base::TraceTime ready = transfer.span.begin;
    if (part.matched) {
        const trace::Match& match = annotations.matches[transfer.match];
        ready = std::clamp(match.ready, transfer.span.begin, transfer.span.end);
        const base::Duration waiting = ready - transfer.span.begin;
        part.lateUnsure =
            withinError(run, transfer.rank, match.lastRank, waiting) ||
            (waiting.ns > 0 && match.members.size() > 2 && withoutSureLast[transfer.match.index()]);
        if (!part.lateUnsure) part.lateRank = match.lastRank;
    }
    part.waiting = {transfer.span.begin, ready};
    part.moving = {ready, transfer.span.end};
    return part;
}

}  // namespace

std::vector<trace::RankId> trainingRanks(const graph::RunIndex& run) {
    return {run.trainingRanks().begin(), run.trainingRanks().end()};
}

std::vector<std::vector<RankActivity>> collectActivities(
    const graph::RunIndex& run, std::span<const graph::IterationWindow> windows,
    std::span<const trace::RankId> ranks) {
    const trace::Trace& trace = run.trace();
    std::vector<std::vector<RankActivity>> activities(windows.size());
    for (std::size_t w = 0; w < windows.size(); ++w) {
        for (const trace::RankId rank : ranks)
            activities[w].push_back({rank, windows[w].window, {}, {}, {}, {}});
    }
    const std::vector<std::size_t> position = positionsOf(trace, ranks);
    const auto forEachPlace = [&](trace::RankId rank, base::Interval span, auto visit) {
        const std::size_t at = position[rank.index()];
        if (at == kNotAnalysed) return;
        forEachWindow(windows, span, [&](std::size_t w) { visit(activities[w][at]); });
    };
    const std::vector<bool>& onDevice = run.onDevice();
    for (const trace::Task& task : trace.annotations().tasks) {
        if (onDevice[task.rank.index()]) continue;
        forEachPlace(task.rank, task.span, [&](RankActivity& activity) {
            addClipped(activity.compute, task.span, activity.window);
        });
    }
    for (const trace::Phase& phase : trace.annotations().phases) {
        const bool isData = phase.kind == trace::PhaseKind::DataLoading;
        if (!isData && onDevice[phase.rank.index()]) continue;
        forEachPlace(phase.rank, phase.span, [&](RankActivity& activity) {
            addClipped(isData ? activity.data : activity.compute, phase.span, activity.window);
        });
    }
    const auto unsure = withoutSureLast(trace);
    for (const trace::Transfer& transfer : trace.annotations().transfers) {
        const TransferPart whole = partsOf(run, transfer, unsure);
        forEachPlace(transfer.rank, transfer.span, [&](RankActivity& activity) {
            TransferPart part = whole;
            part.waiting = clippedOrEmpty(whole.waiting, activity.window);
            part.moving = clippedOrEmpty(whole.moving, activity.window);
            part.endsHere = transfer.span.end > activity.window.begin &&
                            transfer.span.end <= activity.window.end;
            if (part.endsHere || !part.waiting.empty() || !part.moving.empty())
                activity.transfers.push_back(part);
        });
    }
    addDeviceWork(run, windows, ranks, activities);
    return activities;
}

}  // namespace pleat::analysis
