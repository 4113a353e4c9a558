#include "report/text_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>

#include "base/say.h"
#include "report/device_report.h"
#include "report/headline.h"
#include "report/rank_rows.h"
#include "report/units.h"

namespace pleat::report {
namespace {

using analysis::BubbleCause;
using analysis::OverlapFigures;
using analysis::RankSummary;

std::string known(std::int32_t value) { return value < 0 ? "-" : fmt::format("{}", value); }

std::string fractionOrNone(std::optional<double> fraction) {
    return fraction ? percent(*fraction) : "none moved";
}

std::string renderIterations(const analysis::IterationStatistics& iterations) {
    const std::size_t count = iterations.indices.size();
    if (count == 0) return "Iteration time: none, see the notes below\n";
    std::string text = fmt::format(
        "Iteration time: {} ms median, {} ms p90, {} ms mean over {} iteration{} ({} to {})\n",
        milliseconds(iterations.median), milliseconds(iterations.p90),
        milliseconds(iterations.mean), count, count == 1 ? "" : "s", iterations.indices.front(),
        iterations.indices.back());
    if (iterations.ci95) {
        text += fmt::format("                95 % interval of the mean {} to {} ms\n",
                            milliseconds(iterations.ci95->first),
                            milliseconds(iterations.ci95->second));
    }
    if (iterations.warmUp > 0) {
        text += fmt::format(
            "                {} took {:.1f} x the median: warm-up? --iterations {}:{} leaves {} "
            "out\n",
            iterations.warmUp == 1 ? fmt::format("iteration {}", iterations.indices.front())
                                   : fmt::format("the first {}", iterations.warmUp),
            iterations.warmUpRatio, iterations.indices[iterations.warmUp],
            iterations.indices.back(), iterations.warmUp == 1 ? "it" : "them");
    }
    return text;
}

// "3"; "0 (cuda:1)" where its process worked on several devices.
std::string withDevice(std::int32_t number, const std::string& device) {
    return device.empty() ? known(number)
                          : fmt::format("{} ({})", known(number), base::printable(device));
}

std::string renderWaits(const std::vector<RankSummary>& ranks) {
    constexpr std::size_t kMostLines = 8;
    struct Line {
        const RankSummary* rank;
        analysis::WaitSummary wait;
        bool idle;
    };
    std::vector<Line> waits;
    for (const RankSummary& rank : ranks) {
        const auto add = [&](const std::vector<analysis::WaitSummary>& of, bool idle) {
            for (const analysis::WaitSummary& wait : of) {
                // Shorter ones would stand there as 0.000 ms.
                if (wait.duration.ns >= 500) waits.push_back({&rank, wait, idle});
            }
        };
        add(rank.waits, false);
        add(rank.idleWaits, true);
    }
    if (waits.empty()) return {};
    std::stable_sort(waits.begin(), waits.end(), [](const Line& a, const Line& b) {
        return a.wait.duration > b.wait.duration;
    });
    std::string text = "\nCollective waits, by late rank\n";
    bool anyIdle = false;
    for (std::size_t i = 0; i < std::min(waits.size(), kMostLines); ++i) {
        const Line& line = waits[i];
        const RankSummary& rank = *line.rank;
        text += fmt::format("  rank {} waited {} ms for rank {} ({}{})\n",
                            withDevice(rank.number, rank.oneOfSeveralDevices ? rank.device : ""),
                            milliseconds(line.wait.duration),
                            withDevice(line.wait.lateRank, line.wait.lateDevice),
                            toString(line.wait.dimension), line.idle ? ", idle" : "");
        anyIdle = anyIdle || line.idle;
    }
    if (waits.size() > kMostLines)
        text += fmt::format("  and {} shorter ones\n", waits.size() - kMostLines);
    if (anyIdle)
        text +=
            "  idle: counted as bubble, because this timer starts only when the last rank has "
            "arrived\n";
    return text;
}

std::string figures(const OverlapFigures& row) {
    return fmt::format("{:>8} {:>12} {:>10} {:>10} {:>10} {:>10} {:>11}\n", row.count, row.bytes,
                       milliseconds(row.total()), milliseconds(row.hidden),
                       milliseconds(row.moving), milliseconds(row.waiting),
                       fractionOrNone(row.overlapFraction()));
}

std::string figureHead(std::string_view first) {
    return fmt::format("{:<18} {:>8} {:>12} {:>10} {:>10} {:>10} {:>10} {:>11}\n", first, "count",
                       "bytes", "total ms", "hidden", "moving", "waiting", "overlap");
}

std::string renderTransfers(const analysis::RunAnalysis& analysis) {
    if (analysis.transfers.empty())
        return "\nCommunication: none was recorded, so overlap cannot be computed\n";
    std::string text = "\nCommunication (all ranks, per iteration; hidden = while computing)\n";
    text += figureHead("dimension, kind");
    for (const analysis::TransferRow& row : analysis.transfers) {
        text += fmt::format("{:<18} ", fmt::format("{} {}", toString(row.key.dimension),
                                                   toString(row.key.operation)));
        text += figures(row.figures);
    }
    if (analysis.gradientSync.empty()) return text;
    text += "\nGradient sync by chunk (all ranks, per iteration)\n" + figureHead("chunk");
    for (const analysis::GradientSyncRow& row : analysis.gradientSync)
        text += fmt::format("{:<18} ", known(row.chunk)) + figures(row.figures);
    return text;
}

// Its share is of that shorter iteration, so that it is not the sum of fill and drain below.
constexpr const char* kIdealRun = " with balanced stages and free messages";

std::string minimumOf(const analysis::BubbleSummary& bubble) {
    if (bubble.theoreticalFraction) {
        return fmt::format("this schedule alone would idle for {} of an iteration",
                           percent(*bubble.theoreticalFraction)) +
               kIdealRun;
    }
    if (bubble.replayedMinimum) {
        return fmt::format("this task order alone would idle for {} of a replayed iteration",
                           percent(*bubble.replayedMinimum)) +
               kIdealRun;
    }
    return "the minimum for this task order is unknown";
}

// Tenths of a percent that add up as printed: each is what the running sum gains.
base::PerEnum<BubbleCause, analysis::kBubbleCauseCount, std::int64_t> tenthsOf(
    const analysis::BubbleSummary& bubble, std::span<const BubbleCause> order) {
    base::PerEnum<BubbleCause, analysis::kBubbleCauseCount, std::int64_t> tenths;
    double sum = 0;
    std::int64_t reached = 0;
    for (const BubbleCause cause : order) {
        sum += bubble.byCause[cause];
        const std::int64_t now = std::llround(1000 * sum);
        tenths[cause] = now - reached;
        reached = now;
    }
    return tenths;
}

std::string renderBubble(const analysis::BubbleSummary& bubble) {
    if (!bubble.fraction) return {};
    constexpr std::array kOwn = {BubbleCause::Fill, BubbleCause::Drain};
    constexpr std::array kOrder = {BubbleCause::Fill,         BubbleCause::Drain,
                                   BubbleCause::Imbalance,    BubbleCause::ReplicaImbalance,
                                   BubbleCause::LatePeer,     BubbleCause::MessageLatency,
                                   BubbleCause::GradientSync, BubbleCause::DataLoading,
                                   BubbleCause::HostLate,     BubbleCause::UntracedWork,
                                   BubbleCause::Unknown};
    static_assert(kOrder.size() == analysis::kBubbleCauseCount);
    std::string text =
        "\n" + wrapped("Bubble: ", fmt::format("{} of all ranks' time; {}",
                                               percent(*bubble.fraction), minimumOf(bubble)));
    const auto tenths = tenthsOf(bubble, kOrder);
    const auto sumOf = [&](std::span<const BubbleCause> causes) {
        std::int64_t sum = 0;
        for (const BubbleCause cause : causes) sum += tenths[cause];
        return static_cast<double>(sum) / 1000;
    };
    const auto lines = [&](std::string_view head, std::span<const BubbleCause> causes) {
        const double sum = sumOf(causes);
        std::string part;
        for (const BubbleCause cause : causes) {
            if (bubble.byCause[cause] <= 0) continue;
            part += fmt::format("    {:<20} {:>8}\n", toString(cause),
                                percent(sumOf(std::span(&cause, 1))));
        }
        return part.empty() ? part : fmt::format("  {:<22} {:>8}\n", head, percent(sum)) + part;
    };
    text += lines("due to the schedule", kOwn);
    text += lines("due to other causes", std::span(kOrder).subspan(kOwn.size()));
    return text;
}

// "kind 12.346 ms (40.1 %), …", the largest first; the smallest of many as one: "40 others …".
template <class Key, class Name>
std::string shares(const std::map<Key, base::Duration>& parts, base::Duration whole, Name name) {
    std::vector<std::pair<Key, base::Duration>> sorted(parts.begin(), parts.end());
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    constexpr std::size_t kMostNamed = 12;
    std::string text;
    const auto add = [&](const std::string& what, base::Duration duration) {
        const double share =
            whole.ns > 0 ? static_cast<double>(duration.ns) / static_cast<double>(whole.ns) : 0;
        text += fmt::format("{}{} {} ms ({})", text.empty() ? "" : ", ", what,
                            milliseconds(duration), percent(share));
    };
    const std::size_t named = sorted.size() > kMostNamed ? kMostNamed - 1 : sorted.size();
    base::Duration rest;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        if (i < named)
            add(name(sorted[i].first), sorted[i].second);
        else
            rest += sorted[i].second;
    }
    if (named < sorted.size()) add(fmt::format("{} others", sorted.size() - named), rest);
    return text;
}

// "4 ranks, 2 stages, 6 operations".
std::string renderCompared(const analysis::StragglerSearch& search) {
    std::string text;
    for (const analysis::ComparedKind& kind : search.compared)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", kind.count, pluralOf(kind.kind));
    return text;
}

// Times that have no ideal to compare with, such as pauses, have no ratio.
std::string ratio(double times) {
    return times > 0 ? fmt::format("{:.2f} x", times) : std::string();
}

std::string renderStragglers(const analysis::RunAnalysis& analysis) {
    constexpr std::size_t kMostLines = 10;
    const auto& stragglers = analysis.stragglers;
    const analysis::StragglerSearch& search = analysis.stragglerSearch;
    if (search.compared.empty()) {
        return "\n" +
               wrapped("Stragglers: ",
                       fmt::format("not looked for: {}",
                                   search.missing.empty() ? "nothing to compare" : search.missing));
    }
    const std::string threshold = percent(analysis::kLeastSlowdown);
    if (stragglers.empty()) {
        const double pauses = analysis.replay ? analysis.replay->pauseShare : 0;
        // Who waits for a message that was not matched seems to pause, and hides whom it waits for.
        const std::string hidden =
            pauses > analysis::kLargePauseShare
                ? fmt::format(
                      "; but {} of the replayed critical path is pauses, which are kept as "
                      "recorded, and a slow rank may be behind them",
                      percent(pauses))
                : std::string();
        return "\n" +
               wrapped("Stragglers: ",
                       fmt::format("{}: compared {}; none of them costs {} of the iteration "
                                   "on its own ({} for pauses){}",
                                   hidden.empty() ? "none" : "none found", renderCompared(search),
                                   threshold, percent(analysis::kLeastPauseSlowdown), hidden));
    }
    std::string text =
        "\n" + wrapped("Stragglers: ",
                       fmt::format("each makes the iteration at least {} longer on its own "
                                   "(compared: {})",
                                   threshold, renderCompared(search)));
    text += wrapped("  slowdown   ",
                    "how many times as long the iteration takes with this one as recorded and "
                    "everything else at its usual speed") +
            wrapped("  saves      ",
                    "what the iteration gains if only this one runs at its usual "
                    "speed") +
            wrapped("  operation  ",
                    "the one furthest above its usual time: on average, in its "
                    "slowest tenth, and at worst");
    text += fmt::format("{:>8} {:>9}  {:<20} {:<24} {:>8} {:>8} {:>8}\n", "slowdown", "saves ms",
                        "what", "operation", "average", "tenth", "worst");
    for (std::size_t i = 0; i < std::min(stragglers.size(), kMostLines); ++i) {
        const analysis::Straggler& one = stragglers[i];
        text += fmt::format("{:>6.3f} x {:>9}  {:<20} {:<24} {:>8} {:>8} {:>8}\n", one.slowdown,
                            milliseconds(one.gain), toString(one.suspect), one.operation,
                            ratio(one.timesIdeal), ratio(one.slowestTenth), ratio(one.slowest));
    }
    if (stragglers.size() > kMostLines)
        text += fmt::format("  and {} smaller ones\n", stragglers.size() - kMostLines);
    return text;
}

}  // namespace

std::string renderKinds(const std::map<std::string, base::Duration>& kinds, base::Duration whole) {
    return wrapped("  by kind   ",
                   shares(kinds, whole, [](const std::string& kind) { return kind; }));
}

std::string renderPathShares(const analysis::PathSummary& path) {
    const auto number = [](std::int32_t value) {
        return value < 0 ? std::string("none") : fmt::format("{}", value);
    };
    return renderKinds(path.byKind, path.length) +
           wrapped("  by rank   ", shares(path.byRank, path.length, number)) +
           wrapped("  by stage  ", shares(path.byStage, path.length, number));
}

std::string describeSchedule(const trace::RecognisedSchedule& schedule) {
    if (schedule.ranks == 0)
        return "unknown: nothing recorded shows which pipeline stage each rank runs (see "
               "stages_unknown in the notes)";
    const auto plural = [](std::int32_t count) { return count == 1 ? "" : "s"; };
    std::string text = fmt::format(
        "{}{}, {} pipeline rank{}, {} chunk{}, {} microbatch{}", trace::scheduleTitle(schedule),
        schedule.also.empty()       ? ""
        : schedule.also.size() == 1 ? " (the recorded order fits both)"
                                    : " (the recorded order fits all)",
        schedule.ranks, plural(schedule.ranks), schedule.chunks, plural(schedule.chunks),
        schedule.microbatches, schedule.microbatches == 1 ? "" : "es");
    if (schedule.group > 0) text += fmt::format(", groups of {}", schedule.group);
    if (schedule.name != "unknown")
        text += fmt::format(" ({} of recorded task orders match)", percent(schedule.confidence));
    return text;
}

std::string renderReplayWarnings(const analysis::ReplaySummary& replay, const std::string& indent) {
    std::string text;
    if (replay.errorFraction > analysis::kLargeReplayError) {
        text += wrapped(indent,
                        fmt::format("WARNING: the replay error is above {}: the replay differs "
                                    "from the measured run, so causes, stragglers and predictions "
                                    "are doubtful",
                                    percent(analysis::kLargeReplayError)));
    }
    if (replay.pauseShare > analysis::kLargePauseShare) {
        text += wrapped(
            indent, fmt::format("WARNING: unexplained pauses make up {} of the replayed critical "
                                "path (more than {}). The replay repeats them as recorded, so its "
                                "small error does not explain them, and predictions keep them",
                                percent(replay.pauseShare), percent(analysis::kLargePauseShare)));
    }
    return text;
}

std::string describePauses(const analysis::ReplaySummary& replay) {
    return fmt::format("{} ms without the recorded pauses ({} of the replayed critical path)",
                       milliseconds(replay.withoutPauses), percent(replay.pauseShare));
}

namespace {

std::string renderReplay(const analysis::ReplaySummary& replay) {
    return wrapped("Replay:         ",
                   fmt::format("{} ms predicted, {} ms measured, error {}; {}",
                               milliseconds(replay.predicted), milliseconds(replay.measured),
                               percent(replay.errorFraction), describePauses(replay)));
}

}  // namespace

std::string renderText(const analysis::RunAnalysis& analysis, const TextOptions& options) {
    const Headline head = headlineOf(analysis);
    std::string text = renderProblems(head.problems);
    if (!head.answer.empty()) text += wrapped("", head.answer + ".") + "\n";
    text += renderIterations(analysis.iterations);
    text += wrapped("Schedule:       ", analysis.schedule ? describeSchedule(*analysis.schedule)
                                                          : "not recognised, no pipeline tasks");
    if (analysis.replay) text += renderReplay(*analysis.replay);
    if (!analysis.ranks.empty()) {
        text += renderRanks(analysis.ranks, options.allRanks) + renderBubble(analysis.bubble);
        text += renderTransfers(analysis) + renderWaits(analysis.ranks);
    }
    if (analysis.criticalPath) {
        text += fmt::format("\nCritical path: {} ms, the whole iteration\n",
                            milliseconds(analysis.criticalPath->length));
        text += renderPathShares(*analysis.criticalPath);
    }
    if (!analysis.ranks.empty()) text += renderStragglers(analysis);
    if (analysis.devices) text += renderText(*analysis.devices);
    return text + renderDiagnostics(analysis.diagnostics);
}

}  // namespace pleat::report
