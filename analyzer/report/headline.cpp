#include "report/headline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "report/diff_report.h"
#include "report/units.h"

namespace pleat::report {
namespace {

// A diagnostic that spoils figures whatever its severity. With a noun the text follows its count:
// "3 ranges" + " have no end".
struct Spoiler {
    std::string_view code, one, many, text;
};
constexpr std::array kSpoilers = {
    Spoiler{"truncated", "", "", "a file is cut off: what came after the cut is missing"},
    Spoiler{"damaged_file", "", "", "a file is damaged: only a part of it could be read"},
    Spoiler{"damaged_event", "damaged event was", "damaged events were", " left out"},
    Spoiler{"process_killed", "process was", "processes were",
            " killed: what came after is missing"},
    Spoiler{"device_recording_ended", "", "",
            "the device's recording ended before the host's: the last iteration is incomplete"},
    Spoiler{"open_range", "range has", "ranges have", " no end in the data"},
    Spoiler{"open_task", "task has", "tasks have", " no end in the data (left out)"},
    Spoiler{"unmatched_end", "range end has", "range ends have", " no begin in the data"},
    Spoiler{"timer_incomplete", "timer was", "timers were",
            " left out because required fields are missing"},
    Spoiler{"untimed_device_work", "piece of device work has", "pieces of device work have",
            " no usable times"},
    Spoiler{"unreadable_time", "event was", "events were", " left out (unreadable times)"},
    Spoiler{"time_out_of_range", "time was", "times were", " out of range and changed"},
    Spoiler{"write_failed", "write", "writes", " to the recording failed"},
    Spoiler{"unreadable_record", "record", "records", " of the recording could not be read"},
    Spoiler{"unreadable_ring", "buffer", "buffers", " of the recording could not be read"},
    Spoiler{"iteration_incomplete", "iteration is", "iterations are",
            " left out: not recorded completely on every rank"},
    Spoiler{"iteration_bounds_unsure", "iteration has", "iterations have",
            " uncertain bounds: their times may be wrong"},
    Spoiler{"iterations_unmarked", "", "",
            "nothing marks iterations: the whole recording is counted as one"},
    Spoiler{"rank_without_tasks", "rank has", "ranks have",
            " communication but no tasks (not in the figures)"},
    Spoiler{"clock_unknown", "", "",
            "clocks of the files could not be related: times of different ranks do not compare"},
    Spoiler{"clock_disagrees", "message ends", "messages end",
            " before the send began: clocks disagree"},
    Spoiler{"impossible_duration", "duration is", "durations are", " impossible"},
    Spoiler{"task_twice", "task is", "tasks are", " in the data twice"},
};

std::string textOf(const Spoiler& spoiler, std::int64_t count) {
    if (spoiler.one.empty()) return std::string(spoiler.text);
    return fmt::format("{} {}{}", count, count == 1 ? spoiler.one : spoiler.many, spoiler.text);
}

std::string capitalised(std::string text) {
    if (!text.empty() && text[0] >= 'a' && text[0] <= 'z')
        text[0] = static_cast<char>(text[0] - 'a' + 'A');
    return text;
}

std::string joined(const std::vector<std::string>& parts) {
    std::string text;
    for (const std::string& part : parts) text += (text.empty() ? "" : "; ") + part;
    return text;
}

void addReplay(const analysis::ReplaySummary& replay, std::vector<std::string>& problems) {
    if (replay.errorFraction > analysis::kLargeReplayError) {
        problems.push_back(
            fmt::format("the replay differs from the measured iterations by {}: causes, "
                        "stragglers and predictions are doubtful",
                        percent(replay.errorFraction)));
    }
    if (replay.pauseShare > analysis::kLargePauseShare) {
        problems.push_back(fmt::format("unexplained pauses make up {} of the critical path",
                                       percent(replay.pauseShare)));
    }
}

void addUnknown(const analysis::BubbleSummary& bubble, std::vector<std::string>& problems) {
    const double share = bubble.byCause[analysis::BubbleCause::Unknown];
    if (share > kLargeUnknownShare) {
        problems.push_back(
            fmt::format("{} of all ranks' time is idle for no known cause", percent(share)));
    }
}

struct Cost {
    std::string name;
    double share = 0;  // of all ranks' time
};

// The largest first. Not knowing is a problem of the answer, not a loss to act on; fill and drain
// are one decision, the schedule.
std::vector<Cost> costsOf(const analysis::RunAnalysis& analysis) {
    using analysis::BubbleCause;
    using analysis::TimePart;
    analysis::TimeParts parts;
    for (const analysis::RankSummary& rank : analysis.ranks) {
        parts += rank.time.parts;
    }
    const auto total = static_cast<double>(parts.total().ns);
    if (total <= 0) return {};
    const auto shareOf = [&](TimePart part) { return static_cast<double>(parts[part].ns) / total; };
    const analysis::CauseFractions& causes = analysis.bubble.byCause;
    std::vector<Cost> costs{
        {"exposed communication", shareOf(TimePart::Moving)},
        {"waiting in collectives", shareOf(TimePart::Waiting)},
        {"exposed copies", shareOf(TimePart::Copy)},
        {"the schedule's fill and drain", causes[BubbleCause::Fill] + causes[BubbleCause::Drain]},
    };
    for (const BubbleCause cause : analysis::kBubbleCauses) {
        if (cause == BubbleCause::Unknown || cause == BubbleCause::Fill ||
            cause == BubbleCause::Drain)
            continue;
        costs.push_back({fmt::format("idle time ({})", toString(cause)), causes[cause]});
    }
    std::stable_sort(costs.begin(), costs.end(),
                     [](const Cost& a, const Cost& b) { return a.share > b.share; });
    return costs;
}

// "Largest losses: idle time (imbalance) 25.0 % of all ranks' time (25.000 ms per iteration), …"
std::string lossesOf(const analysis::RunAnalysis& analysis) {
    constexpr std::size_t kMostNamed = 2;
    constexpr double kLeastNamed = 0.005;
    const std::vector<Cost> costs = costsOf(analysis);
    const auto mean = static_cast<double>(analysis.iterations.mean.ns);
    std::string text;
    for (std::size_t i = 0; i < std::min(costs.size(), kMostNamed); ++i) {
        if (costs[i].share < kLeastNamed) break;
        const base::Duration time{std::llround(costs[i].share * mean)};
        text +=
            fmt::format("{}{} {}{} ({} ms{})", i == 0 ? "Largest losses: " : ", ", costs[i].name,
                        percent(costs[i].share), i == 0 ? " of all ranks' time" : "",
                        milliseconds(time), i == 0 ? " per iteration" : "");
    }
    return text;
}

// "stage 3"; of an operation "differences in forward-compute".
std::string titleOf(const analysis::Suspect& suspect) {
    const std::string device = suspect.name.empty() ? std::string() : " " + suspect.name;
    switch (suspect.kind) {
        case analysis::SuspectKind::Pause:
            return fmt::format("pauses of rank {}{}", suspect.number, device);
        case analysis::SuspectKind::Link:
            return fmt::format("the link between ranks {} and {}", suspect.number, suspect.other);
        case analysis::SuspectKind::Rank:
            return fmt::format("rank {}{}", suspect.number, device);
        case analysis::SuspectKind::Stage:
            return fmt::format("stage {}", suspect.number);
        case analysis::SuspectKind::DpRank:
            return fmt::format("data-parallel replica {}", suspect.number);
        case analysis::SuspectKind::Microbatch:
            return fmt::format("microbatch {}", suspect.number);
        case analysis::SuspectKind::Operation:
            return fmt::format("uneven times of {}", suspect.name);
        case analysis::SuspectKind::Everything:
            break;
    }
    return "all work";
}

// "Stage 3's forward-compute takes 1.64 x its usual time; on its own this makes the iteration …"
std::string worstOf(const analysis::RunAnalysis& analysis) {
    using analysis::SuspectKind;
    // One that saves nothing is not the reason, and pauses of all ranks together name nobody.
    const auto worst = std::find_if(
        analysis.stragglers.begin(), analysis.stragglers.end(), [](const auto& straggler) {
            const analysis::Suspect& suspect = straggler.suspect;
            return straggler.gain > base::Duration{} &&
                   (suspect.kind != SuspectKind::Pause || suspect.number >= 0);
        });
    if (worst == analysis.stragglers.end()) return {};
    const SuspectKind kind = worst->suspect.kind;
    const std::string title = titleOf(worst->suspect), longer = percent(worst->slowdown - 1);
    const double mean = static_cast<double>(analysis.iterations.mean.ns);
    // Where others are as slow, putting one right saves little of what each costs on its own.
    const std::string saves = mean > 0
                                  ? fmt::format(" (fixing only this saves {})",
                                                percent(static_cast<double>(worst->gain.ns) / mean))
                                  : std::string();
    const bool oneOfThem = kind == SuspectKind::Rank || kind == SuspectKind::Stage ||
                           kind == SuspectKind::DpRank || kind == SuspectKind::Microbatch;
    constexpr double kLeastTold = 1.02;  // "1.00 x" would read as nothing
    if (oneOfThem && worst->timesIdeal >= kLeastTold) {
        return fmt::format(
            "{}'s {} takes {:.2f} x its usual time; on its own this makes the iteration {} "
            "longer{}",
            title, worst->operation, worst->timesIdeal, longer, saves);
    }
    const bool many = kind == SuspectKind::Pause || kind == SuspectKind::Operation;
    return fmt::format("{} {} the iteration {} longer on {} own{}", title, many ? "make" : "makes",
                       longer, many ? "their" : "its", saves);
}

std::string answerOf(const analysis::RunAnalysis& analysis) {
    const std::string worst = capitalised(worstOf(analysis)), losses = lossesOf(analysis);
    return worst + (worst.empty() || losses.empty() ? "" : ". ") + losses;
}

double pauseShareOf(const analysis::PathSummary& path) {
    const auto pause = path.byKind.find("pause");
    if (pause == path.byKind.end() || path.length.ns <= 0) return 0;
    return static_cast<double>(pause->second.ns) / static_cast<double>(path.length.ns);
}

// "forward, 62.1 % of the iteration"
std::string mostOf(const std::map<std::string, base::Duration>& kinds, base::Duration whole) {
    const auto most =
        std::max_element(kinds.begin(), kinds.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most == kinds.end() || whole.ns <= 0) return {};
    return fmt::format(
        "Most of the critical path is {}: {} of {} ms ({})", most->first,
        milliseconds(most->second), milliseconds(whole),
        percent(static_cast<double>(most->second.ns) / static_cast<double>(whole.ns)));
}

}  // namespace

std::string Headline::sentence() const {
    const std::string text = problems.empty() ? answer : capitalised(joined(problems));
    return text.empty() || text.back() == '.' ? text : text + ".";
}

std::vector<std::string> dataProblems(const base::Diagnostics& diagnostics) {
    std::vector<std::string> problems;
    for (const base::Diagnostic& entry : diagnostics.entries()) {
        const bool known = std::any_of(kSpoilers.begin(), kSpoilers.end(),
                                       [&](const Spoiler& one) { return one.code == entry.code; });
        if (entry.severity == base::Severity::Error && !known)
            problems.push_back(
                fmt::format("figures may be wrong, see {} in the notes", entry.code));
    }
    for (const Spoiler& spoiler : kSpoilers) {
        if (const base::Diagnostic* found = diagnostics.find(spoiler.code))
            problems.push_back(textOf(spoiler, found->count));
    }
    return problems;
}

Headline headlineOf(const analysis::RunAnalysis& analysis) {
    Headline head{dataProblems(analysis.diagnostics), answerOf(analysis)};
    if (analysis.replay) {
        analysis::ReplaySummary replay = *analysis.replay;
        // Of the measured path, as the shares by kind are. Without a path the pauses are the
        // bubbles that the figures name by cause.
        replay.pauseShare = analysis.criticalPath ? pauseShareOf(*analysis.criticalPath) : 0;
        addReplay(replay, head.problems);
    }
    addUnknown(analysis.bubble, head.problems);
    return head;
}

Headline headlineOf(const analysis::PathAnalysis& path) {
    Headline head{dataProblems(path.diagnostics), mostOf(path.summary.byKind, path.summary.length)};
    analysis::ReplaySummary replay = path.replay;
    replay.pauseShare = pauseShareOf(path.summary);
    addReplay(replay, head.problems);
    return head;
}

Headline headlineOf(const analysis::RankPath& path) {
    return {dataProblems(path.diagnostics), mostOf(path.byKind, path.length)};
}

Headline headlineOf(const analysis::RunInfo& info) {
    const std::size_t complete = info.completeIterations.size();
    return {dataProblems(info.diagnostics),
            fmt::format("{} events, {} complete iteration{}", info.events, complete,
                        complete == 1 ? "" : "s")};
}

Headline headlineOf(const analysis::WhatIf& answer) {
    Headline head{dataProblems(answer.diagnostics), {}};
    addReplay({answer.replay, answer.measured, answer.replayError, answer.withoutPauses,
               answer.pauseShare},
              head.problems);
    head.answer = fmt::format("The iteration would take {} ms, {} {} than replayed",
                              milliseconds(answer.predicted), percent(std::abs(answer.gain)),
                              answer.gain < 0 ? "more" : "less");
    return head;
}

Headline headlineOf(const analysis::Comparison& comparison) {
    Headline head;
    head.problems = dataProblems(comparison.diagnostics);
    for (const auto& [name, run] :
         {std::pair("BASE", &comparison.base), std::pair("NEW", &comparison.other)}) {
        for (const std::string& problem : dataProblems(run->diagnostics))
            head.problems.push_back(fmt::format("{}: {}", name, problem));
    }
    head.answer = renderAnswer(comparison);
    return head;
}

std::string renderProblems(const std::vector<std::string>& problems) {
    std::string text;
    for (const std::string& problem : problems) text += wrapped("WARNING: ", problem);
    return text.empty() ? text : text + "\n";
}

}  // namespace pleat::report
