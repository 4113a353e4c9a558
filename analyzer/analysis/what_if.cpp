#include "analysis/what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "analysis/ideal_times.h"
#include "analysis/replay_model.h"

namespace pleat::analysis {
namespace {

base::Result<ReplayModel> modelOf(const graph::RunIndex& run, const WhatIfOptions& options,
                                  base::Diagnostics& diagnostics) {
    const auto all = run.windows();
    if (const auto usable = checkTimes(run, all); !usable) return usable.error();
    const auto windows = selectIterations(all, options.iterations, diagnostics);
    if (!windows) return windows.error();
    ReplayModel model = replayModel(run, *windows, diagnostics);
    if (!model.iterations.empty()) return model;
    return base::Error{base::ErrorCode::Input,
                       all.empty() ? "no pipeline tasks in the trace, so there is nothing to "
                                     "replay; pleat info shows what was recorded"
                       : run.trace().annotations().tasks.empty()
                           ? "nothing names tasks and only one rank with device work was recorded, "
                             "so there is nothing to compare it with; open the files of all ranks "
                             "together"
                           : "none of the requested iterations was recorded completely "
                             "and can be replayed; pleat info lists the complete ones"};
}

// `change` is what was to be done to the key.
base::Result<Suspect> suspectOf(const std::vector<Suspect>& known, const std::string& key,
                                const std::string& change) {
    auto suspect = parseSuspect(key, known);
    if (!suspect) return suspect.error().within("cannot " + change);
    return suspect;
}

// What an iteration's work may last together, in ns, so that times can be added up.
constexpr double kLongest = 0x1p61;

base::Result<void> checkLengths(const ReplayModel& model, const TimeOf& time) {
    for (const ReplayIteration& iteration : model.iterations) {
        double sum = 0;
        for (std::size_t node = 0; node < iteration.operation.size(); ++node) {
            const NodeTime taken = time(iteration, node);
            if (iteration.operation[node] != kNone) sum += static_cast<double>(taken.duration.ns);
            sum += static_cast<double>(taken.delay.ns);
        }
        if (sum >= kLongest) {
            return base::Error{
                base::ErrorCode::Usage,
                fmt::format("iteration {} would last for decades; use smaller factors",
                            iteration.windows.front().iteration)};
        }
    }
    return {};
}

base::Duration times(base::Duration duration, double factor) {
    return {std::llround(std::min(static_cast<double>(duration.ns) * factor, kLongest))};
}

TimeOf scaled(TimeOf time, double factor) {
    return [time = std::move(time), factor](const ReplayIteration& iteration, std::size_t node) {
        const NodeTime taken = time(iteration, node);
        return NodeTime{times(taken.duration, factor), times(taken.delay, factor)};
    };
}

// A factor says how long work takes. Pauses are scaled only where they are named.
Coverage scaledPart(const ReplayModel& model, const Suspect& suspect) {
    Coverage covers = coverage(model, suspect);
    if (suspect.kind != SuspectKind::Pause)
        covers.pauses = [](const auto&, std::size_t) { return false; };
    return covers;
}

base::Result<TimeOf> changedTimes(const ReplayModel& model, const WhatIfOptions& options) {
    const std::vector<Suspect> known = suspectsIn(model);
    TimeOf time = recordedTimes();
    for (const std::string& key : options.ideal) {
        const auto suspect = suspectOf(known, key, fmt::format("make {} ideal", key));
        if (!suspect) return suspect.error();
        time = choose(coverage(model, *suspect), idealTimes(model, *suspect), std::move(time));
    }
    for (const ScaledKey& change : options.scale) {
        const auto suspect = suspectOf(known, change.key, "scale " + change.key);
        if (!suspect) return suspect.error();
        if (!(change.factor >= 0 && change.factor <= kLargestFactor)) {
            return base::Error{base::ErrorCode::Usage,
                               fmt::format("cannot scale {} by {}: a factor is from 0 to {}",
                                           change.key, change.factor, kLargestFactor)};
        }
        TimeOf other = scaled(time, change.factor);
        time = choose(scaledPart(model, *suspect), std::move(other), std::move(time));
    }
    for (const std::string& key : options.keep) {
        const auto suspect = suspectOf(known, key, "keep " + key);
        if (!suspect) return suspect.error();
        time = choose(coverage(model, *suspect), recordedTimes(), std::move(time));
    }
    return time;
}

using Range = std::optional<std::pair<base::Duration, base::Duration>>;

// A pause stays as recorded in the prediction. Where it stands for a dependency that nothing
// recorded, it would change along with the rest: the other end of what may come. So the interval
// holds the bootstrap intervals of both, and is wider by the replay's own error.
Range intervalOf(const std::vector<base::Duration>& predicted,
                 const std::vector<base::Duration>& replays,
                 const std::vector<base::Duration>& changedWork,
                 const std::vector<base::Duration>& work, double replayError) {
    std::vector<base::Duration> along;
    for (std::size_t i = 0; i < predicted.size(); ++i) {
        const double ratio = work[i].ns > 0 ? static_cast<double>(changedWork[i].ns) /
                                                  static_cast<double>(work[i].ns)
                                            : 1;
        along.push_back(times(replays[i], ratio));
    }
    const Range stays = meanInterval(predicted), follows = meanInterval(along);
    if (!stays || !follows) return stays;
    const auto low = std::min(stays->first, follows->first);
    const auto high = std::max(stays->second, follows->second);
    return std::pair(low - times(low, std::min(1.0, replayError)), high + times(high, replayError));
}

void summarise(WhatIf& result, const ReplaySummary& recorded,
               const std::vector<base::Duration>& replays,
               const std::vector<base::Duration>& predicted) {
    const double replay = meanOf(replays), changed = meanOf(predicted);
    result.measured = recorded.measured;
    result.replay = recorded.predicted;
    result.replayError = recorded.errorFraction;
    result.withoutPauses = recorded.withoutPauses;
    result.pauseShare = recorded.pauseShare;
    result.predicted = {std::llround(changed)};
    result.gain = replay > 0 ? 1 - changed / replay : 0;
    result.slowdown = changed > 0 ? replay / changed : 0;
}

}  // namespace

base::Result<WhatIf> analyseWhatIf(const graph::RunIndex& run, const WhatIfOptions& options) {
    WhatIf result;
    result.asked = options;
    result.diagnostics.add(run.trace().diagnostics());
    result.diagnostics.add(run.diagnostics());
    const auto model = modelOf(run, options, result.diagnostics);
    if (!model) return model.error();
    const auto time = changedTimes(*model, options);
    if (!time) return time.error();
    if (const auto usable = checkLengths(*model, *time); !usable) return usable.error();
    const auto replay = replayed(*model, recordedTimes());
    const auto predicted = replayed(*model, *time);
    result.ofTimers = model->ofTimers;
    const std::vector<ReplayWindow> windows = model->windows();
    for (std::size_t i = 0; i < windows.size(); ++i) {
        result.iterations.push_back(
            {windows[i].iteration, windows[i].measured, replay[i], predicted[i]});
    }
    summarise(result, replaySummary(*model), replay, predicted);
    result.ci95 = intervalOf(predicted, replay, replayedWithoutPauses(*model, *time),
                             replayedWithoutPauses(*model, recordedTimes()), result.replayError);
    return result;
}

}  // namespace pleat::analysis
