// The recorded runs that the reports of these tests are made from.
#pragma once

#include "analysis/run_series.h"
#include "annotate/annotate.h"
#include "schedule/generators.h"
#include "support/synthetic_run.h"

namespace pleat::testing {

// dp 2 x pp 2, folded, two chunks, eight microbatches, four iterations; the last stage is slow,
// rank 3 stalls in one microbatch, the sync is long.
[[nodiscard]] inline SyntheticOptions foldedOptions() {
    SyntheticOptions options;
    options.schedule = *schedule::makeSchedule("folded", {2, 8, 2, 0});
    options.dp = 2;
    options.iterations = 4;
    for (const std::int64_t stage : {10, 10, 10, 13}) {
        options.forward.push_back({stage * 100'000});
        options.backward.push_back({stage * 200'000});
    }
    options.extra = {{3, 5, {2'500'000}}};
    options.link = {150'000};
    options.sync = {9'000'000};
    options.data = {400'000};
    options.optimizer = {700'000};
    return options;
}

[[nodiscard]] inline trace::Trace tracedRun(const SyntheticOptions& options) {
    return *annotate::annotate(traceOf(makeSyntheticRun(options)));
}

[[nodiscard]] inline trace::Trace foldedRun() { return tracedRun(foldedOptions()); }

// The same run before and after a change: six iterations each, with a balanced last stage, no
// stalls and a shorter sync after it, but messages that take twice as long.
struct BeforeAndAfter {
    analysis::RunSeries before, after;
};
[[nodiscard]] inline BeforeAndAfter changedRun() {
    SyntheticOptions before = foldedOptions();
    before.iterations = 6;
    SyntheticOptions after = before;
    after.forward[3] = {1'000'000};
    after.backward[3] = {2'000'000};
    after.extra.clear();
    after.sync = {6'000'000};
    after.link = {300'000};
    return {*analysis::seriesOf(tracedRun(before), {}), *analysis::seriesOf(tracedRun(after), {})};
}

}  // namespace pleat::testing
