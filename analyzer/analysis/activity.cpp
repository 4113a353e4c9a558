#include "analysis/activity.h"

#include <algorithm>
#include <cstdint>

#include "analysis/device_work.h"

namespace pleat::analysis {
namespace {

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
// that their clocks may be wrong by as much. Found out when first asked of a match.
class UnsureLast {
  public:
    explicit UnsureLast(const trace::Trace& trace)
        : m_trace(trace), m_known(trace.annotations().matches.size(), Known::NotYet) {}

    bool of(trace::MatchId id) {
        Known& known = m_known[id.index()];
        if (known == Known::NotYet) known = findOut(id) ? Known::Unsure : Known::Sure;
        return known == Known::Unsure;
    }

  private:
    enum class Known : std::uint8_t { NotYet, Sure, Unsure };

    [[nodiscard]] bool findOut(trace::MatchId id) const {
        const trace::Annotations& annotations = m_trace.annotations();
        const trace::Match& match = annotations.matches[id];
        return std::any_of(
            match.members.begin(), match.members.end(), [&](const trace::TransferId member) {
                const trace::Transfer& transfer = annotations.transfers[member];
                if (transfer.rank == match.lastRank) return false;
                const base::Duration error =
                    clockError(m_trace.ranks()[transfer.rank], m_trace.ranks()[match.lastRank]);
                return error.ns > 0 && match.ready - transfer.span.begin <= error;
            });
    }

    const trace::Trace& m_trace;
    std::vector<Known> m_known;
};

// The unclipped parts of a transfer.
TransferPart partsOf(const graph::RunIndex& run, const trace::Transfer& transfer,
                     UnsureLast& unsureLast) {
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
            (waiting.ns > 0 && match.members.size() > 2 && unsureLast.of(transfer.match));
        if (!part.lateUnsure) part.lateRank = match.lastRank;
    }
    part.waiting = {transfer.span.begin, ready};
    part.moving = {ready, transfer.span.end};
    return part;
}

void addPart(const TransferPart& whole, base::TraceTime end, RankActivity& activity) {
    TransferPart part = whole;
    part.waiting = clippedOrEmpty(whole.waiting, activity.window);
    part.moving = clippedOrEmpty(whole.moving, activity.window);
    part.endsHere = end > activity.window.begin && end <= activity.window.end;
    if (part.endsHere || !part.waiting.empty() || !part.moving.empty())
        activity.transfers.push_back(part);
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
    if (windows.empty()) return activities;
    const base::Interval all{windows.front().window.begin, windows.back().window.end};
    const trace::Annotations& annotations = trace.annotations();
    UnsureLast unsure(trace);
    for (std::size_t r = 0; r < ranks.size(); ++r) {
        const bool onDevice = run.onDevice()[ranks[r].index()];
        const auto forEachPlace = [&](base::Interval span, auto visit) {
            forEachWindow(windows, span, [&](std::size_t w) { visit(activities[w][r]); });
        };
        const auto [firstTask, lastTask] =
            run.tasksTouching().range(annotations.tasks, ranks[r], all);
        for (std::size_t i = firstTask; i < lastTask && !onDevice; ++i) {
            const base::Interval span = annotations.tasks[trace::TaskId::at(i)].span;
            forEachPlace(span, [&](RankActivity& activity) {
                addClipped(activity.compute, span, activity.window);
            });
        }
        const auto [firstPhase, lastPhase] =
            run.phasesTouching().range(annotations.phases, ranks[r], all);
        for (std::size_t i = firstPhase; i < lastPhase; ++i) {
            const trace::Phase& phase = annotations.phases[i];
            const bool isData = phase.kind == trace::PhaseKind::DataLoading;
            if (!isData && onDevice) continue;
            forEachPlace(phase.span, [&](RankActivity& activity) {
                addClipped(isData ? activity.data : activity.compute, phase.span, activity.window);
            });
        }
        const auto [firstTransfer, lastTransfer] =
            run.transfersTouching().range(annotations.transfers, ranks[r], all);
        for (std::size_t i = firstTransfer; i < lastTransfer; ++i) {
            const trace::Transfer& transfer = annotations.transfers[trace::TransferId::at(i)];
            const TransferPart whole = partsOf(run, transfer, unsure);
            forEachPlace(transfer.span, [&](RankActivity& activity) {
                addPart(whole, transfer.span.end, activity);
            });
        }
    }
    addDeviceWork(run, windows, ranks, activities);
    return activities;
}

}  // namespace pleat::analysis
