#include "unit/analyzer/made/made_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <vector>

#include "analysis/run_analysis.h"
#include "annotate/annotate.h"
#include "opening/open_trace.h"
#include "store/writer.h"
#include "support/temporary_folder.h"

namespace pleat::testing {
namespace {

using analysis::RankSummary;
using analysis::RunAnalysis;
using analysis::Straggler;

// Of two slowdowns that differ by less, neither is the larger one.
constexpr double kEqual = 0.01;

std::string nameOf(const Straggler& straggler) { return toString(straggler.suspect); }

// The first of the list, and those that are as slow.
std::vector<const Straggler*> firstOf(const RunAnalysis& analysis) {
    std::vector<const Straggler*> first;
    for (const Straggler& straggler : analysis.stragglers) {
        if (straggler.slowdown >= analysis.stragglers.front().slowdown - kEqual)
            first.push_back(&straggler);
    }
    return first;
}

// What the run's ranks are called in the answer: ndtimeline's have no number but a place.
class Numbers {
  public:
    Numbers(const MadeRun& run, const RunAnalysis& analysis) {
        const std::int32_t pipeline = run.options.schedule.ranks();
        for (const RankSummary& rank : analysis.ranks) {
            const bool placed = run.recorder == Recorder::Timers;
            const std::int32_t own =
                placed ? rank.coordinates.dp * pipeline + rank.coordinates.pp : rank.number;
            m_own[rank.number] = own;
            m_said[own] = rank.number;
        }
    }
    // -1 for a rank that there is not.
    [[nodiscard]] std::int32_t own(std::int32_t said) const { return find(m_own, said); }
    [[nodiscard]] std::int32_t said(std::int32_t own) const { return find(m_said, own); }

  private:
    static std::int32_t find(const std::map<std::int32_t, std::int32_t>& of, std::int32_t number) {
        const auto found = of.find(number);
        return found == of.end() ? -1 : found->second;
    }
    std::map<std::int32_t, std::int32_t> m_own, m_said;
};

bool isOperation(const Straggler& straggler, std::string_view part) {
    return straggler.operation.find(part) != std::string::npos ||
           nameOf(straggler).find(part) != std::string::npos;
}

// Whether every one of the first is the culprit, or part of it, and the culprit is among them.
bool leadsTo(const MadeRun& run, const Numbers& numbers,
             const std::vector<const Straggler*>& first) {
    const std::int32_t pipeline = run.options.schedule.ranks(), tp = run.options.tp;
    const auto stageOf = [&](std::int32_t rank) { return rank / tp % pipeline; };
    const std::string top = nameOf(*first.front());
    const std::int32_t rank = numbers.own(first.front()->rank);
    const auto among = [&](const std::string& name) {
        return std::any_of(first.begin(), first.end(),
                           [&](const Straggler* each) { return nameOf(*each) == name; });
    };
    const bool oneRankOfStage = run.options.dp * tp == 1, oneRankOfReplica = pipeline * tp == 1;
    switch (run.cause) {
        case Cause::LateData:
            // What was slow is named as well as who: the one or the other may come first.
            if (top == "data" && among(fmt::format("rank:{}", run.rank))) return true;
            [[fallthrough]];
        case Cause::SlowRank:
        case Cause::Pauses:
            return rank == run.rank ||
                   (oneRankOfStage && top == fmt::format("stage:{}", stageOf(run.rank))) ||
                   (oneRankOfReplica && top == fmt::format("dp:{}", run.rank));
        case Cause::SlowStage:
            return (rank >= 0 && stageOf(rank) == run.stage &&
                    (oneRankOfStage || among(fmt::format("stage:{}", run.stage)))) ||
                   top == fmt::format("stage:{}", run.stage);
        case Cause::SlowReplica:
            return (rank >= 0 && rank / tp / pipeline == run.replica &&
                    among(fmt::format("dp:{}", run.replica))) ||
                   top == fmt::format("dp:{}", run.replica);
        case Cause::SlowMicrobatch:
            return top == fmt::format("microbatch:{}", run.microbatch);
        case Cause::SlowLink:
            return top == fmt::format("link:{}-{}",
                                      std::min(numbers.said(run.rank), numbers.said(run.peer)),
                                      std::max(numbers.said(run.rank), numbers.said(run.peer)));
        case Cause::LongSync:
            return (isOperation(*first.front(), "dp") || isOperation(*first.front(), "reduce")) &&
                   (rank < 0 || stageOf(rank) == run.stage);
        default:
            return false;
    }
}

std::string listOf(const RunAnalysis& analysis) {
    std::string list;
    for (std::size_t i = 0; i < std::min<std::size_t>(4, analysis.stragglers.size()); ++i) {
        const Straggler& straggler = analysis.stragglers[i];
        list += fmt::format("{}{} {:.3f} ({} {:.2f})", i > 0 ? ", " : "", nameOf(straggler),
                            straggler.slowdown, straggler.operation, straggler.timesIdeal);
    }
    return list.empty() ? "none" : list;
}

std::string blameOf(const MadeRun& run, const RunAnalysis& analysis) {
    if (analysis.stragglers.empty() != (run.cause == Cause::None))
        return "said: " + listOf(analysis);
    if (run.cause == Cause::None || leadsTo(run, Numbers(run, analysis), firstOf(analysis)))
        return {};
    return "said: " + listOf(analysis);
}

double milliseconds(double ns) { return ns / 1e6; }

// By how much the sum of so many parts, both of whose ends are wrong by up to the noise, may be
// wrong, clocks included; `share` is how much of what one iteration is wrong by counts. Hosts that
// run ahead begin before their devices.
double allowed(const MadeRun& run, std::int64_t parts, double share) {
    const auto noise = static_cast<double>(run.noise.ns);
    double ofRun = static_cast<double>(run.lost.ns);
    if (!run.host.empty()) {
        const base::TraceTime device = run.happened.iterations.front().front().begin;
        ofRun += static_cast<double>((device - run.host.front().front().span.begin).ns);
        ofRun += static_cast<double>(run.options.data.ns) * run.options.iterations;
    }
    return noise * (4 + static_cast<double>(parts)) + ofRun * share + 1'000;
}

std::string accountOf(const MadeRun& run, const RunAnalysis& analysis) {
    if (analysis.ranks.size() != run.accounts.size())
        return fmt::format("{} ranks instead of {}", analysis.ranks.size(), run.accounts.size());
    const double ofMean = 1.0 / run.options.iterations;
    std::string worst;
    double most = 0;
    const auto compare = [&](const std::string& what, double ours, double truth, std::int64_t parts,
                             double share) {
        const double over = std::abs(ours - truth) - allowed(run, parts, share);
        if (over <= most) return;
        most = over;
        worst = fmt::format("{}: {:.3f} ms instead of {:.3f} ms", what, milliseconds(ours),
                            milliseconds(truth));
    };
    compare("iteration", static_cast<double>(analysis.iterations.mean.ns),
            static_cast<double>(run.iteration.ns), 0, ofMean);
    // All iterations take the same time.
    compare("median iteration", static_cast<double>(analysis.iterations.median.ns),
            static_cast<double>(run.iteration.ns), 0, 1);
    compare("longest iterations", static_cast<double>(analysis.iterations.p90.ns),
            static_cast<double>(run.iteration.ns), 0, 1);
    const Numbers numbers(run, analysis);
    for (const RankSummary& rank : analysis.ranks) {
        const TrueAccount& truth =
            run.accounts.at(static_cast<std::size_t>(numbers.own(rank.number)));
        const auto of = [&](const char* what, base::Duration ours, std::int64_t expected) {
            compare(fmt::format("rank {} {}", rank.number, what), static_cast<double>(ours.ns),
                    static_cast<double>(expected), truth.parts, ofMean);
        };
        of("compute", rank.time[analysis::TimePart::Compute], truth.compute_ns);
        of("moving", rank.time[analysis::TimePart::Moving], truth.moving_ns);
        of("copy", rank.time[analysis::TimePart::Copy], truth.copy_ns);
        // Digested timers do not tell since when a rank waited in a collective.
        if (run.feature == Feature::Digested) {
            of("waiting and bubble",
               rank.time[analysis::TimePart::Waiting] + rank.time[analysis::TimePart::Bubble],
               truth.waiting_ns + truth.bubble_ns);
            continue;
        }
        of("waiting", rank.time[analysis::TimePart::Waiting], truth.waiting_ns);
        of("bubble", rank.time[analysis::TimePart::Bubble], truth.bubble_ns);
    }
    return worst;
}

trace::Trace opened(const std::vector<std::string>& files) {
    const test::TemporaryFolder folder;
    opening::OpenRequest request;
    for (std::size_t i = 0; i < files.size(); ++i) {
        request.files.push_back(folder.file(fmt::format("rank{}.json", i)));
        test::writeBytes(request.files.back(), files[i]);
    }
    return opening::openTrace(request).value().trace;
}

}  // namespace

trace::Trace traceOf(const MadeRun& run) {
    switch (run.recorder) {
        case Recorder::Markers:
            return annotate::annotate(
                       testing::traceOf(run.recorded, static_cast<std::uint32_t>(run.number)))
                .value();
        case Recorder::Timers:
            return opened({timerTimeline(run.recorded)});
        default:
            return opened(profilerFiles(run.recorded, run.host));
    }
}

void writeFiles(const MadeRun& run, const std::filesystem::path& folder) {
    const auto file = [&](const std::string& ending) {
        return folder / fmt::format("made{}{}", run.number, ending);
    };
    if (run.recorder == Recorder::Markers) {
        (void)store::writeTrace(testing::traceOf(run.recorded), file(".pleat"));
    } else if (run.recorder == Recorder::Timers) {
        test::writeBytes(file(".json"), timerTimeline(run.recorded));
    } else {
        std::filesystem::create_directory(file(""));
        int rank = 0;
        for (const std::string& text : profilerFiles(run.recorded, run.host))
            test::writeBytes(file("") / fmt::format("rank{}.json", rank++), text);
    }
}

MadeVerdict judge(const MadeRun& run) {
    const RunAnalysis analysis = analysis::analyseRun(traceOf(run), {}).value();
    return {blameOf(run, analysis), accountOf(run, analysis),
            analysis.bubble.byCause[analysis::BubbleCause::Unknown]};
}

}  // namespace pleat::testing
