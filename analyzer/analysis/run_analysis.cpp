#include "analysis/run_analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/iteration_account.h"
#include "analysis/run_totals.h"
#include "annotate/advice.h"
#include "schedule/family.h"

namespace pleat::analysis {
namespace {

// Sums over all iterations: what the means are made of.
struct Totals {
    std::vector<RankTotals> ranks;
    PathTotals path;
    bool withIdeal = false;  // where no closed form gives the schedule's minimum
    IdealIdle ideal;

    [[nodiscard]] std::optional<double> idealFraction() const {
        if (ideal.whole.ns <= 0) return std::nullopt;
        return static_cast<double>(std::max<std::int64_t>(0, ideal.idle.ns)) /
               static_cast<double>(ideal.whole.ns);
    }
};

void addIteration(const graph::RunIndex& run, const IdleExplainer& explainer,
                  const graph::IterationWindow& window, const std::vector<RankActivity>& activities,
                  Totals& totals, base::Diagnostics& diagnostics) {
    const IterationAccount account =
        accountIteration(run, explainer, window, activities, diagnostics);
    const trace::Trace& trace = run.trace();
    if (account.graph) totals.path.add(trace, *account.graph, window);
    if (account.graph && totals.withIdeal) {
        const IdealIdle ideal = idealIdle(run.trace(), *account.graph, activities);
        totals.ideal.idle += ideal.idle;
        totals.ideal.whole += ideal.whole;
    }
    for (std::size_t i = 0; i < activities.size(); ++i)
        totals.ranks[i].add(activities[i], account.partitions[i], account.causes[i],
                            account.idleWaits[i]);
}

// Only for orders whose share of idle time does not depend on the times, which no closed form needs
// then: a forward that takes 1 and a backward that takes nothing give the same share as any.
std::optional<double> closedFormFraction(const trace::RecognisedSchedule& schedule) {
    const pleat::schedule::Family* family = pleat::schedule::findFamily(schedule.name);
    if (family == nullptr || family->splitsBackward || family->forms.idleTime == nullptr ||
        schedule.ranks < 1 || schedule.chunks < 1 || schedule.microbatches < 1)
        return std::nullopt;
    const double idle = family->forms.idleTime(
        {schedule.ranks, schedule.microbatches, schedule.chunks, schedule.group}, {1, 0, 0});
    return idle / (schedule.microbatches + idle);
}

// `sums` are of all ranks, `whole` is their time.
BubbleSummary bubbleOf(const CauseDurations& sums, double whole) {
    BubbleSummary bubble;
    if (whole <= 0) return bubble;
    for (const BubbleCause cause : kBubbleCauses)
        bubble.byCause[cause] = static_cast<double>(sums[cause].ns) / whole;
    bubble.fraction = static_cast<double>(sums.total().ns) / whole;
    return bubble;
}

void noteTransfers(const RunAnalysis& analysis,
                   const std::vector<std::vector<RankActivity>>& activities,
                   base::Diagnostics& diagnostics) {
    std::int64_t unmatched = 0, unsure = 0;
    for (const auto& window : activities) {
        for (const RankActivity& activity : window) {
            for (const TransferPart& part : activity.transfers) {
                unmatched += !part.matched;
                unsure += part.lateUnsure && part.isCollective() && part.endsHere;
            }
        }
    }
    if (unmatched > 0) {
        diagnostics.add("transfer_without_partner",
                        "counted as moving data for its whole length, because the partner's ready "
                        "time is unknown",
                        unmatched);
    }
    if (unsure > 0) {
        diagnostics.add("late_peer_unsure",
                        "a rank waited in a collective no longer than clocks and timers resolve "
                        "(clock_bound, timer_resolution), or another member arrived that shortly "
                        "before the last one, so the late rank is unknown",
                        unsure);
    }
    if (analysis.transfers.empty()) {
        diagnostics.add("no_transfers",
                        "no communication was recorded, so overlap cannot be computed; record "
                        "NCCL kernels (torch.profiler with CUDA activities, or nsys profile -t "
                        "cuda,nvtx), or mark the transfers of your program with ranges "
                        "(docs/instrumenting.md)");
    }
}

void noteRanksWithoutTasks(const trace::Trace& trace, base::Diagnostics& diagnostics) {
    std::vector<bool> hasTasks(trace.ranks().size(), false), transfers(trace.ranks().size(), false);
    for (const trace::Task& task : trace.annotations().tasks) hasTasks[task.rank.index()] = true;
    for (const trace::Transfer& transfer : trace.annotations().transfers)
        transfers[transfer.rank.index()] = true;
    for (std::size_t i = 0; i < transfers.size(); ++i) {
        const trace::Rank& rank = trace.ranks()[trace::RankId::at(i)];
        if (hasTasks[i] || !transfers[i] || rank.number < 0) continue;
        diagnostics.add(
            "rank_without_tasks",
            fmt::format("rank {} communicates, but none of its events names a forward or backward "
                        "pass, so it is not in the figures; name them as on the other ranks: {}",
                        rank.number, annotate::kHowToNameActions));
    }
}

void noteMissing(const trace::Trace& trace, bool anyWindow, base::Diagnostics& diagnostics) {
    if (trace.annotations().tasks.empty() && anyWindow) {
        diagnostics.add("no_tasks",
                        fmt::format("{}, so the figures are of device work, not of stages and "
                                    "microbatches; {}",
                                    annotate::kNoActionNamed, annotate::kHowToNameActions));
    } else if (trace.annotations().tasks.empty()) {
        diagnostics.add("nothing_to_analyse",
                        fmt::format("{}, and no iteration of device work was found, so no times "
                                    "can be accounted for; {}",
                                    annotate::kNoActionNamed, annotate::kHowToNameActions));
    } else {
        noteRanksWithoutTasks(trace, diagnostics);
    }
    if (!trace.annotations().tasks.empty() && !anyWindow) {
        diagnostics.add("no_complete_iteration",
                        "no iteration was recorded completely on every rank; record more "
                        "iterations, or let the run finish");
    }
}

// Stragglers are found by many replays.
std::vector<graph::IterationWindow> spread(const trace::Trace& trace,
                                           std::span<const graph::IterationWindow> windows) {
    const trace::Annotations& found = trace.annotations();
    const std::size_t nodes = found.tasks.size() + found.transfers.size() + found.phases.size();
    const std::size_t perWindow = std::max<std::size_t>(1, nodes / windows.size());
    const std::size_t count =
        std::clamp<std::size_t>(kMostReplayedNodes / perWindow, 1, windows.size());
    std::vector<graph::IterationWindow> chosen;
    for (std::size_t i = 0; i < count; ++i) chosen.push_back(windows[i * windows.size() / count]);
    return chosen;
}

void fillIn(RunAnalysis& analysis, const trace::Trace& trace,
            std::span<const graph::IterationWindow> windows, std::span<const trace::RankId> ranks,
            const Totals& totals) {
    const auto count = static_cast<std::int64_t>(windows.size());
    RankTotals all;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        analysis.ranks.push_back(totals.ranks[i].mean(trace, trace.ranks()[ranks[i]], count));
        all += totals.ranks[i];
    }
    analysis.transfers = meanRows(all.transfers, count);
    analysis.gradientSync = meanRows(all.gradientSync, count);
    base::Duration whole;
    for (const graph::IterationWindow& window : windows) whole += window.window.length();
    analysis.bubble = bubbleOf(all.time.causes,
                               static_cast<double>(whole.ns) * static_cast<double>(ranks.size()));
    if (totals.path.iterations > 0) {
        analysis.criticalPath = totals.path.meanPath();
        analysis.replay = totals.path.meanReplay();
    }
}

// Of coarse timers the replay by their rules; else that of all iterations, with what the iterations
// replayed for stragglers say of pauses.
void addReplay(RunAnalysis& analysis, const ReplayModel& model) {
    if (model.iterations.empty()) return;
    const ReplaySummary ofModel = replaySummary(model);
    if (model.ofTimers || !analysis.replay) {
        analysis.replay = ofModel;
        return;
    }
    const double share = ofModel.predicted.ns > 0 ? static_cast<double>(ofModel.withoutPauses.ns) /
                                                        static_cast<double>(ofModel.predicted.ns)
                                                  : 0;
    analysis.replay->withoutPauses = {
        std::llround(static_cast<double>(analysis.replay->predicted.ns) * share)};
    analysis.replay->pauseShare = ofModel.pauseShare;
}

}  // namespace

base::Result<RunAnalysis> analyseRun(const graph::RunIndex& run, const AnalysisOptions& options) {
    const trace::Trace& trace = run.trace();
    RunAnalysis analysis;
    analysis.diagnostics.add(trace.diagnostics());
    analysis.diagnostics.add(run.diagnostics());
    const auto all = run.windows();
    if (const auto usable = checkTimes(run, all); !usable) {
        analysis.diagnostics.add("times_unusable", usable.error().message);
        return analysis;
    }
    const auto windows = selectIterations(all, options.iterations, analysis.diagnostics);
    if (!windows) return windows.error();
    analysis.iterations = iterationStatistics(*windows);
    analysis.schedule = trace.annotations().schedule;
    analysis.devices = catalogueDevices(run);
    noteMissing(trace, !windows->empty(), analysis.diagnostics);
    if (windows->empty()) return analysis;

    const std::vector<trace::RankId> ranks = trainingRanks(run);
    const auto activities = collectActivities(run, *windows, ranks);
    const IdleExplainer explainer(run);
    const std::optional<double> closedForm =
        analysis.schedule ? closedFormFraction(*analysis.schedule) : std::nullopt;
    Totals totals{std::vector<RankTotals>(ranks.size()), {}, {}, {}};
    totals.withIdeal = !closedForm;
    for (std::size_t w = 0; w < windows->size(); ++w)
        addIteration(run, explainer, (*windows)[w], activities[w], totals, analysis.diagnostics);
    fillIn(analysis, trace, *windows, ranks, totals);
    const ReplayModel model = replayModel(run, spread(trace, *windows), analysis.diagnostics);
    addReplay(analysis, model);
    analysis.stragglers = findStragglers(model);
    analysis.stragglerSearch = searchOf(model);
    analysis.bubble.theoreticalFraction = closedForm;
    analysis.bubble.replayedMinimum = totals.idealFraction();
    noteTransfers(analysis, activities, analysis.diagnostics);
    return analysis;
}

}  // namespace pleat::analysis
