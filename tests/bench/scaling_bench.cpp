// How the time of the analyses grows with the length of a run: the same pipeline for 1,000, 4,000,
// 16,000 and 64,000 iterations, each analysis beside itself on a quarter of the iterations. Growth
// is time(4 n) / (4 time(n)), of processor time: 1 where it is linear. "scaling_bench N" stops at N
// iterations.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <functional>
#include <string_view>
#include <vector>

#include "analysis/compare.h"
#include "analysis/iteration_analysis.h"
#include "analysis/run_analysis.h"
#include "analysis/run_info.h"
#include "analysis/run_series.h"
#include "analysis/what_if.h"
#include "annotate/annotate.h"
#include "base/memory.h"
#include "bench/ratio.h"
#include "support/synthetic_run.h"

namespace {

using namespace pleat;

constexpr std::array<std::int32_t, 4> kIterations = {1'000, 4'000, 16'000, 64'000};

trace::Trace runOf(std::int32_t iterations) {
    auto options = testing::balancedOptions("1f1b", 1);
    options.dp = 1;
    options.iterations = iterations;
    return testing::traceOf(testing::makeSyntheticRun(options));
}

template <class T>
void require(const base::Result<T>& result) {
    if (!result) std::exit(1);
}

struct Measured {
    const char* name;
    std::function<void(const trace::Trace&)> work;
    std::vector<double> seconds = {};  // by length
};

std::vector<Measured> analyses() {
    return {
        {"report", [](const trace::Trace& trace) { require(analysis::analyseRun(trace, {})); }},
        {"diff",
         [](const trace::Trace& trace) {
             const auto series = analysis::seriesOf(trace, {});
             require(series);
             if (analysis::compareRuns(*series, *series).rows.empty()) std::exit(1);
         }},
        {"whatif",
         [](const trace::Trace& trace) {
             require(analysis::analyseWhatIf(trace, {.ideal = {"stage:1"}}));
         }},
        {"info",
         [](const trace::Trace& trace) {
             if (analysis::describeRun(trace).completeIterations.empty()) std::exit(1);
         }},
        {"the viewer's pipeline page",
         [](const trace::Trace& trace) {
             require(analysis::analyseIteration(graph::RunIndex(trace), std::nullopt));
         }},
    };
}

// A short run's trace would stay in the processor's caches from round to round, a long one's not:
// the step between is no growth of an analysis, and a file that was just opened is in no cache.
void emptyCaches() {
    static std::vector<std::int64_t> other(std::size_t{1} << 26);  // 512 MiB
    for (std::int64_t& one : other) ++one;
}

double secondsOf(const trace::Trace& trace, const Measured& one) {
    std::vector<double> times;
    // The first round also pays for memory that no round before has touched.
    constexpr int kRounds = 5;
    for (int i = 0; i < kRounds; ++i) {
        emptyCaches();
        times.push_back(bench::processorSecondsOf([&] { one.work(trace); }));
    }
    return *std::min_element(times.begin(), times.end());
}

}  // namespace

int main(int count, char** arguments) {
    base::keepFreedMemory();
    std::int32_t most = kIterations.back();
    if (count > 1) {
        const std::string_view given = arguments[1];
        std::from_chars(given.data(), given.data() + given.size(), most);
    }
    std::vector<Measured> all = analyses();
    Measured annotation{
        "annotation", [](const trace::Trace& trace) { require(annotate::annotate(trace)); }};
    std::size_t lengths = 0;
    for (const std::int32_t iterations : kIterations) {
        if (iterations > most) break;
        ++lengths;
        const trace::Trace raw = runOf(iterations);
        annotation.seconds.push_back(secondsOf(raw, annotation));
        const trace::Trace trace = annotate::annotate(raw).value();
        for (Measured& one : all) one.seconds.push_back(secondsOf(trace, one));
        fmt::print("{:>6} iterations, {:.2f} million events\n", iterations,
                   static_cast<double>(trace.eventCount()) / 1e6);
    }
    all.push_back(std::move(annotation));
    for (const Measured& one : all) {
        fmt::print("{:<28}", one.name);
        for (const double seconds : one.seconds) fmt::print(" {:8.3f} s", seconds);
        fmt::print("\n");
    }
    for (const Measured& one : all) {
        for (std::size_t i = 1; i < lengths; ++i) {
            bench::printAtMost(
                fmt::format("growth of {}, {} to {}", one.name, kIterations[i - 1], kIterations[i])
                    .c_str(),
                one.seconds[i] / one.seconds[i - 1] / 4, 1.2);
        }
    }
    return 0;
}
