#include "report/what_if_report.h"

#include <fmt/format.h>

#include <cmath>

#include "report/headline.h"
#include "report/text_report.h"
#include "report/units.h"

namespace pleat::report {
namespace {

// "F ideal, stage:2 x 0.5, rank:1 as recorded".
std::string describe(const analysis::WhatIfOptions& asked) {
    std::string text;
    const auto add = [&](const std::string& change) {
        text += (text.empty() ? "" : ", ") + change;
    };
    for (const std::string& key : asked.ideal) add(key + " ideal");
    for (const analysis::ScaledKey& change : asked.scale)
        add(fmt::format("{} x {}", change.key, change.factor));
    for (const std::string& key : asked.keep) add(key + " as recorded");
    return text.empty() ? "nothing changed" : text;
}

// What spoils the prediction stands before it.
std::string renderReplay(const analysis::WhatIf& answer) {
    const std::size_t count = answer.iterations.size();
    const analysis::ReplaySummary replay{answer.replay, answer.measured, answer.replayError,
                                         answer.withoutPauses, answer.pauseShare};
    return renderReplayWarnings(replay, "") +
           wrapped(
               "Replay:     ",
               fmt::format("{} ms, {} ms measured, error {} over {} iteration{} ({} to {}); {}{}",
                           milliseconds(answer.replay), milliseconds(answer.measured),
                           percent(answer.replayError), count, count == 1 ? "" : "s",
                           answer.iterations.front().iteration, answer.iterations.back().iteration,
                           describePauses(replay),
                           !answer.ofTimers        ? ""
                           : answer.pauseShare > 0 ? "; from coarse timers"
                                                   : "; from coarse timers, launch delays left "
                                                     "out"));
}

// "; 1.050 x faster"
std::string renderRatio(double replayOverPrediction) {
    if (replayOverPrediction <= 0) return {};
    return replayOverPrediction < 1 ? fmt::format("; {:.3f} x slower", 1 / replayOverPrediction)
                                    : fmt::format("; {:.3f} x faster", replayOverPrediction);
}

}  // namespace

std::string renderText(const analysis::WhatIf& answer) {
    std::string text = renderProblems(dataProblems(answer.diagnostics)) + renderReplay(answer);
    text += wrapped("Changed:    ", describe(answer.asked));
    text += fmt::format("Prediction: {} ms, {} {} than the replay{}\n",
                        milliseconds(answer.predicted), percent(std::abs(answer.gain)),
                        answer.gain < 0 ? "more" : "less", renderRatio(answer.slowdown));
    if (answer.ci95) {
        text += wrapped(
            "            ",
            fmt::format("95 % interval {} to {} ms (covers the spread over iterations, the replay "
                        "error, and pauses that may change too)",
                        milliseconds(answer.ci95->first), milliseconds(answer.ci95->second)));
    }
    return text + renderDiagnostics(answer.diagnostics);
}

}  // namespace pleat::report
