#include "analysis/run_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "analysis/device_work.h"
#include "analysis/iteration_account.h"
#include "analysis/run_totals.h"
#include "annotate/advice.h"
#include "schedule/action.h"

namespace pleat::analysis {
namespace {

using Windows = std::vector<graph::IterationWindow>;

// Sums in floating point: what runs side by side in a damaged trace may not fit in 64 bits. Series
// are written as integers again, so there is a bound.
constexpr double kLongest = 0x1p61;

struct Sample {
    double count = 0;
    double time = 0;  // ns
};

class SeriesBuilder {
  public:
    explicit SeriesBuilder(std::size_t iterations) : m_iterations(iterations) {}

    // What an iteration has of something; 0 where this is not called.
    void total(SeriesKey key, Unit unit, bool isCost, std::size_t iteration, double value) {
        Series& series = at(std::move(key), unit, isCost);
        series.values.resize(m_iterations);
        series.values[iteration] += value;
    }
    // What only some iterations have.
    void sample(SeriesKey key, Unit unit, bool isCost, double value) {
        at(std::move(key), unit, isCost).values.push_back(value);
    }
    std::map<SeriesKey, Series> take() { return std::move(m_series); }

  private:
    Series& at(SeriesKey key, Unit unit, bool isCost) {
        Series& series = m_series[std::move(key)];
        series.unit = unit;
        series.isCost = isCost;
        return series;
    }

    std::size_t m_iterations;
    std::map<SeriesKey, Series> m_series;
};

double share(double sum, std::size_t ranks) { return sum / static_cast<double>(ranks); }
double share(std::int64_t sum, std::size_t ranks) { return share(static_cast<double>(sum), ranks); }

// Adds the series of iteration after iteration, and sums up what their mean is made of.
class AccountSeries {
  public:
    AccountSeries(const trace::Trace& trace, std::span<const trace::RankId> ranks,
                  SeriesBuilder& builder)
        : m_trace(trace), m_ranks(ranks), m_builder(builder) {}

    void add(std::size_t iteration, const graph::IterationWindow& window,
             std::span<const RankActivity> activities, const IterationAccount& account) {
        RankTotals all;
        for (std::size_t i = 0; i < activities.size(); ++i) {
            RankTotals rank;
            rank.add(activities[i], account.partitions[i], account.causes[i], account.idleWaits[i]);
            const trace::Rank& about = m_trace.ranks()[m_ranks[i]];
            addParts({Level::Rank, about.number, trace::rankTitle(about), {}}, iteration, rank, 1);
            all += rank;
        }
        m_builder.total({Level::Iteration, -1, "iteration", "time"}, Unit::Nanoseconds, true,
                        iteration, static_cast<double>(window.window.length().ns));
        addParts({Level::Accounting, -1, "all ranks", {}}, iteration, all, m_ranks.size());
        for (const BubbleCause cause : kBubbleCauses) {
            m_builder.total({Level::BubbleCause, static_cast<std::int32_t>(cause),
                             std::string(toString(cause)), "time"},
                            Unit::Nanoseconds, true, iteration,
                            share(all.time[cause].ns, m_ranks.size()));
        }
        for (const auto& [key, figures] : all.transfers) addTransfer(key, iteration, figures);
        m_totals += all;
    }

    [[nodiscard]] RankSummary mean(std::size_t iterations) const {
        return m_totals.mean(m_trace, {}, static_cast<std::int64_t>(iterations * m_ranks.size()));
    }

  private:
    void addParts(SeriesKey key, std::size_t iteration, const RankTotals& sums, std::size_t ranks) {
        const auto add = [&](std::string_view quantity, base::Duration sum, bool isCost) {
            key.quantity = quantity;
            m_builder.total(key, Unit::Nanoseconds, isCost, iteration, share(sum.ns, ranks));
        };
        for (const TimePart part : kTimeParts) add(toString(part), sums.time[part], true);
        add("hidden", sums.time.hidden, false);
    }

    void addTransfer(const TransferKey& transfer, std::size_t iteration,
                     const OverlapFigures& figures) {
        SeriesKey key{Level::Transfer,
                      -1,
                      fmt::format("{} {}", trace::toString(transfer.dimension),
                                  trace::toString(transfer.operation)),
                      {}};
        const auto add = [&](const char* quantity, Unit unit, bool isCost, std::int64_t sum) {
            key.quantity = quantity;
            m_builder.total(key, unit, isCost, iteration, share(sum, m_ranks.size()));
        };
        add("hidden", Unit::Nanoseconds, false, figures.hidden.ns);
        add("moving", Unit::Nanoseconds, true, figures.moving.ns);
        add("waiting", Unit::Nanoseconds, true, figures.waiting.ns);
        add("count", Unit::Count, false, figures.count);
        key.quantity = "overlap";
        if (const auto fraction = figures.overlapFraction())
            m_builder.sample(key, Unit::Fraction, false, *fraction);
    }

    const trace::Trace& m_trace;
    std::span<const trace::RankId> m_ranks;
    SeriesBuilder& m_builder;
    RankTotals m_totals;
};

// The mean time of a task, which does not depend on how many there are.
void addTasks(const trace::Trace& trace, const Windows& windows, SeriesBuilder& builder) {
    std::unordered_map<std::int32_t, std::size_t> positions;
    for (std::size_t w = 0; w < windows.size(); ++w) positions[windows[w].iteration] = w;
    std::map<SeriesKey, std::vector<Sample>> samples;
    const auto add = [&](Level level, std::string_view word, std::int32_t number,
                         const trace::Task& task, std::size_t position) {
        if (number < 0) return;
        SeriesKey key{level, number, fmt::format("{} {}", word, number),
                      std::string(schedule::toString(task.kind))};
        std::vector<Sample>& list = samples[std::move(key)];
        list.resize(windows.size());
        ++list[position].count;
        list[position].time += static_cast<double>(task.span.length().ns);
    };
    for (const trace::Task& task : trace.annotations().tasks) {
        const auto position = positions.find(task.iteration);
        if (position == positions.end() || trace.ranks()[task.rank].number < 0) continue;
        add(Level::Stage, "stage", task.stage, task, position->second);
        add(Level::Microbatch, "microbatch", task.microbatch, task, position->second);
    }
    for (const auto& [key, list] : samples) {
        for (const Sample& one : list) {
            if (one.count == 0) continue;
            builder.sample(key, Unit::Nanoseconds, true, one.time / one.count);
        }
    }
}

// The window (begin, end] that contains a time. Like a transfer, work counts in the window in which
// it ends. `windows` ascend and are disjoint.
std::optional<std::size_t> windowOf(const Windows& windows, base::TraceTime end) {
    const auto after = std::lower_bound(windows.begin(), windows.end(), end,
                                        [](const graph::IterationWindow& window,
                                           base::TraceTime t) { return window.window.end < t; });
    if (after == windows.end() || end <= after->window.begin) return std::nullopt;
    return static_cast<std::size_t>(after - windows.begin());
}

void addKernels(const graph::RunIndex& index, const Windows& windows,
                std::span<const trace::RankId> ranks, SeriesBuilder& builder) {
    const trace::Trace& trace = index.trace();
    const DeviceWorkKinds& kinds = index.kinds();
    std::unordered_map<base::StringId, std::vector<Sample>> samples;
    for (std::size_t i = 0; i < trace.lanes().size(); ++i) {
        const auto lane = trace::LaneId::at(i);
        if (trace.lanes()[lane].kind != trace::LaneKind::DeviceStream ||
            std::find(ranks.begin(), ranks.end(), trace.lanes()[lane].rank) == ranks.end())
            continue;
        const auto events = trace.eventsOf(lane);
        for (trace::EventId id = events.first; id < events.last;
             id = trace::EventId(id.index() + 1)) {
            if (kinds.of(id) == DeviceWork::None) continue;
            const base::Interval span = trace.event(id).span;
            const auto window = windowOf(windows, span.end);
            if (!window) continue;
            std::vector<Sample>& list = samples[trace.columns().name[id.index()]];
            list.resize(windows.size());
            ++list[*window].count;
            list[*window].time += static_cast<double>(span.length().ns);
        }
    }
    for (const auto& [name, list] : samples) {
        for (std::size_t w = 0; w < list.size(); ++w) {
            SeriesKey key{Level::Kernel, -1, std::string(trace.text(name)), "time"};
            builder.total(key, Unit::Nanoseconds, true, w,
                          std::min(share(list[w].time, ranks.size()), kLongest));
            key.quantity = "count";
            builder.total(key, Unit::Count, false, w, share(list[w].count, ranks.size()));
        }
    }
}

base::Error nothingToCompare(const trace::Trace& trace, bool anyWindow) {
    if (anyWindow) {
        return {base::ErrorCode::Input,
                "none of the requested iterations was recorded completely on every rank; pleat "
                "info lists the complete ones"};
    }
    if (!trace.annotations().tasks.empty()) {
        return {base::ErrorCode::Input,
                "no iteration was recorded completely on every rank, so there is nothing to "
                "compare; record more iterations, or let the run finish"};
    }
    return {base::ErrorCode::Input,
            fmt::format("{}, and no device work was recorded, so there is nothing to compare; {}",
                        annotate::kNoActionNamed, annotate::kHowToNameActions)};
}

}  // namespace

std::string_view toString(Level level) {
    static constexpr std::array<std::string_view, kLevelCount> kNames = {
        "iteration", "accounting", "bubble_cause", "rank",
        "stage",     "microbatch", "transfer",     "kernel"};
    return kNames[static_cast<std::size_t>(level)];
}

bool RunSeries::has(Level level) const {
    const auto first = series.lower_bound(SeriesKey{level, -1, {}, {}});
    return first != series.end() && first->first.level == level;
}

base::Result<RunSeries> seriesOf(const graph::RunIndex& index, const AnalysisOptions& options) {
    const trace::Trace& trace = index.trace();
    RunSeries run;
    run.diagnostics.add(trace.diagnostics());
    run.diagnostics.add(index.diagnostics());
    const auto all = index.windows();
    if (const auto usable = checkTimes(index, all); !usable) return usable.error();
    const auto windows = selectIterations(all, options.iterations, run.diagnostics);
    if (!windows) return windows.error();
    if (windows->empty()) return nothingToCompare(trace, !all.empty());
    const std::vector<trace::RankId> ranks = trainingRanks(index);
    if (ranks.empty()) return nothingToCompare(trace, false);
    run.iterations = iterationStatistics(*windows);
    run.schedule = trace.annotations().schedule;
    for (const trace::RankId rank : ranks) run.ranks.push_back(trace.ranks()[rank]);

    const auto activities = collectActivities(index, *windows, ranks);
    const IdleExplainer explainer(index);
    SeriesBuilder builder(windows->size());
    AccountSeries accounts(trace, ranks, builder);
    for (std::size_t w = 0; w < windows->size(); ++w) {
        const graph::IterationWindow& window = (*windows)[w];
        accounts.add(w, window, activities[w],
                     accountIteration(index, explainer, window, activities[w], run.diagnostics));
    }
    run.mean = accounts.mean(windows->size());
    addTasks(trace, *windows, builder);
    addKernels(index, *windows, ranks, builder);
    run.series = builder.take();
    return run;
}

}  // namespace pleat::analysis
