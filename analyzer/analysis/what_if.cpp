#include "analysis/what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "analysis/replay_model.h"

namespace pleat::analysis {
namespace {

base::Result<ReplayModel> modelOf(const graph::RunIndex& run, const WhatIfOptions& options,
                                  base::Diagnostics& diagnostics) {
    const auto all = run.windows();
    if (const auto usable = checkTimes(run.trace(), all); !usable) return usable.error();
    const auto windows = selectIterations(all, options.iterations, diagnostics);
    if (!windows) return windows.error();
    ReplayModel model = replayModel(run, *windows, diagnostics);
    if (!model.iterations.empty()) return model;
    return base::Error{base::ErrorCode::Input,
                       all.empty() ? "no pipeline tasks in the trace, so there is nothing to "
                                     "replay; pleat info shows what was recorded"
                                   : "none of the iterations asked for was recorded completely "
                                     "and can be replayed; pleat info lists the complete ones"};
}

base::Result<Covers> covers(const ReplayModel& model, const std::vector<Suspect>& known,
                            const std::string& option, const std::string& key) {
    const auto suspect = parseSuspect(key, known);
    if (!suspect) return suspect.error().within(fmt::format("{} {}", option, key));
    return coverage(model, *suspect);
}

// What an iteration's work may last together, in ns, so that times can be added up.
constexpr double kLongest = 0x1p61;

base::Result<void> checkLengths(const ReplayModel& model, const DurationOf& duration) {
    for (const ReplayIteration& iteration : model.iterations) {
        double sum = 0;
        for (std::size_t node = 0; node < iteration.operation.size(); ++node) {
            if (iteration.operation[node] != kNone)
                sum += static_cast<double>(duration(iteration, node).ns);
        }
        if (sum >= kLongest) {
            return base::Error{base::ErrorCode::Usage,
                               fmt::format("--scale: iteration {} would last for decades; take "
                                           "smaller factors",
                                           iteration.iteration)};
        }
    }
    return {};
}

DurationOf scaled(DurationOf duration, double factor) {
    return [duration = std::move(duration), factor](const ReplayIteration& iteration,
                                                    std::size_t node) -> base::Duration {
        const auto ns = static_cast<double>(duration(iteration, node).ns) * factor;
        return {std::llround(std::min(ns, kLongest))};
    };
}

base::Result<DurationOf> changedDurations(const ReplayModel& model, const WhatIfOptions& options) {
    const std::vector<Suspect> known = suspectsIn(model);
    DurationOf duration = recordedDurations();
    for (const std::string& key : options.ideal) {
        auto which = covers(model, known, "--ideal", key);
        if (!which) return which.error();
        duration = choose(std::move(*which), idealDurations(model), std::move(duration));
    }
    for (const ScaledKey& change : options.scale) {
        auto which = covers(model, known, "--scale", change.key);
        if (!which) return which.error();
        if (!(change.factor >= 0 && change.factor <= kLargestFactor)) {
            return base::Error{base::ErrorCode::Usage,
                               fmt::format("--scale {}={}: a factor is from 0 to {}", change.key,
                                           change.factor, kLargestFactor)};
        }
        DurationOf other = scaled(duration, change.factor);
        duration = choose(std::move(*which), std::move(other), std::move(duration));
    }
    for (const std::string& key : options.keep) {
        auto which = covers(model, known, "--keep", key);
        if (!which) return which.error();
        duration = choose(std::move(*which), recordedDurations(), std::move(duration));
    }
    return duration;
}

void summarise(WhatIf& result, const ReplaySummary& recorded,
               const std::vector<base::Duration>& replays,
               const std::vector<base::Duration>& predicted) {
    const double replay = meanOf(replays), changed = meanOf(predicted);
    result.measured = recorded.measured;
    result.replay = recorded.predicted;
    result.replayError = recorded.errorFraction;
    result.predicted = {std::llround(changed)};
    result.gain = replay > 0 ? 1 - changed / replay : 0;
    result.slowdown = changed > 0 ? replay / changed : 0;
    result.ci95 = meanInterval(predicted);
}

}  // namespace

base::Result<WhatIf> analyseWhatIf(const graph::RunIndex& run, const WhatIfOptions& options) {
    WhatIf result;
    result.asked = options;
    result.diagnostics.add(run.trace().diagnostics());
    const auto model = modelOf(run, options, result.diagnostics);
    if (!model) return model.error();
    const auto duration = changedDurations(*model, options);
    if (!duration) return duration.error();
    if (const auto usable = checkLengths(*model, *duration); !usable) return usable.error();
    const auto replay = replayed(*model, recordedDurations());
    const auto predicted = replayed(*model, *duration);
    result.ofTimers = model->ofTimers;
    for (std::size_t i = 0; i < model->iterations.size(); ++i) {
        result.iterations.push_back({model->iterations[i].iteration, model->iterations[i].measured,
                                     replay[i], predicted[i]});
    }
    summarise(result, replaySummary(*model), replay, predicted);
    return result;
}

}  // namespace pleat::analysis
