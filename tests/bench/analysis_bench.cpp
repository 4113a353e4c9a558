// The analysis of a recorded pipeline of kernels: accounting, bubbles by cause, overlap, replay and
// critical path of ten million events, beside a bare pass over the same columns. "analysis_bench
// N" makes about N events instead.
#include <sys/resource.h>

#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

#include "analysis/run_analysis.h"
#include "annotate/annotate.h"
#include "base/memory.h"
#include "bench/ratio.h"
#include "schedule/generators.h"
#include "trace/categories.h"
#include "trace/trace_builder.h"

namespace {

using namespace pleat;
namespace categories = trace::categories;

constexpr std::int32_t kRanks = 8, kMicrobatches = 16;
constexpr int kKernels = 200;  // a task

// 1F1B without communication delays: every task is a range of the host and its kernels, each with
// the call that launched it.
class Maker {
  public:
    explicit Maker(std::size_t events)
        : m_schedule(*schedule::makeSchedule("1f1b", {kRanks, kMicrobatches, 1, 0})) {
        m_builder.reserveEvents(events);
        for (std::int32_t number = 0; number < kRanks; ++number) {
            trace::Rank rank;
            rank.number = number;
            rank.coordinates.pp = number;
            rank.coordinates.dp = 0;
            const trace::RankId id = m_builder.addRank(rank);
            m_host[number] = m_builder.addLane({id, trace::LaneKind::HostThread, 1, ""});
            m_device[number] = m_builder.addLane({id, trace::LaneKind::DeviceStream, 7, ""});
        }
        for (std::int32_t iteration = 0; m_builder.eventCount() < events; ++iteration)
            addIteration(iteration);
    }
    trace::Trace build() && {
        return annotate::annotate(std::move(m_builder).build().trace).value();
    }

  private:
    void addIteration(std::int32_t iteration) {
        const std::int64_t begin = iteration * std::int64_t{60'000'000};
        for (std::int32_t rank = 0; rank < kRanks; ++rank) {
            add(m_host[rank], "pleat", "iteration", begin, begin + 59'000'000, iteration);
            std::int64_t time = begin + rank * 1'000'000;
            for (const schedule::Action& action :
                 m_schedule.order[static_cast<std::size_t>(rank)]) {
                if (!isCompute(action.kind)) continue;
                const std::int64_t length =
                    action.kind == schedule::ActionKind::Forward ? 900'000 : 1'900'000;
                add(m_host[rank], "pleat", schedule::toString(action), time, time + length,
                    iteration);
                for (int kernel = 0; kernel < kKernels; ++kernel) {
                    const std::int64_t start = time + 2'000 + kernel * (length / kKernels);
                    add(m_host[rank], categories::kRuntimeCall, "cudaLaunchKernel", start - 1'500,
                        start - 1'000, -1);
                    add(m_device[rank], categories::kKernel, kernel % 2 == 0 ? "gemm" : "softmax",
                        start, start + length / kKernels - 300, -1);
                    m_builder.addDependency(m_builder.eventCount() - 2, m_builder.eventCount() - 1,
                                            trace::DependencyKind::Launch);
                }
                time += length + 50'000;
            }
        }
    }
    void add(trace::LaneId lane, std::string_view domain, std::string_view name, std::int64_t begin,
             std::int64_t end, std::int32_t iteration) {
        m_builder.addEvent(
            {lane,
             m_builder.intern(name),
             m_builder.intern(domain),
             trace::EventKind::Range,
             trace::EventFlag::None,
             {{begin}, {end}}},
            iteration < 0 ? std::string() : "{\"iteration\":" + std::to_string(iteration) + "}");
    }

    const schedule::Schedule m_schedule;
    trace::TraceBuilder m_builder;
    trace::LaneId m_host[kRanks], m_device[kRanks];
};

std::int64_t barePass(const trace::Trace& trace) {
    const trace::EventColumns& columns = trace.columns();
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < columns.startNs.size(); ++i)
        sum += columns.startNs[i] + columns.durationNs[i] + columns.name[i].index() +
               (columns.domain[i].valid() ? 1 : 0);
    return sum;
}

double peakBytes() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return static_cast<double>(used.ru_maxrss) * 1'024;
}

}  // namespace

int main(int count, char** arguments) {
    base::keepFreedMemory();
    std::size_t events = 10'000'000;
    if (count > 1) {
        const std::string_view given = arguments[1];
        std::from_chars(given.data(), given.data() + given.size(), events);
    }
    const trace::Trace trace = Maker(events).build();
    const auto million = static_cast<double>(trace.eventCount()) / 1e6;
    const double before = peakBytes();
    std::int64_t sum = 0;
    const double bare = bench::secondsOf([&] { sum = barePass(trace); });
    double path = 0;
    const double analysis = bench::secondsOf([&] {
        const auto run = analysis::analyseRun(trace, {});
        if (!run || run->ranks.size() != kRanks || !run->criticalPath) std::exit(1);
        path = static_cast<double>(run->criticalPath->length.ns);
    });
    bench::printInfo("million events", million);
    bench::printInfo("a bare pass / the analysis", bare / analysis);
    bench::printAtLeast("million events a second", million / analysis, 5.0);
    bench::printAtMost("bytes an event above the trace's own",
                       (peakBytes() - before) / (million * 1e6), 100.0);
    return sum != 0 && path > 0 ? 0 : 1;
}
