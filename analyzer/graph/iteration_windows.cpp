#include "graph/iteration_windows.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "base/statistics.h"
#include "graph/device_steps.h"
#include "graph/timer_events.h"

namespace pleat::graph {
namespace {

using base::TraceTime;
using trace::RankId;

struct Seen {
    std::int32_t iteration = -1;
    TraceTime firstTask, lastEnd;
    RankId firstRank;                     // invalid before its first task
    std::optional<TraceTime> firstOther;  // of phases and transfers
    base::Duration unsure;
};

// A value for each rank and iteration, the iterations of a rank side by side: annotations come in
// that order.
template <class Value>
class Grid {
  public:
    Grid(std::size_t ranks, std::size_t iterations, Value value)
        : m_iterations(iterations), m_values(ranks * iterations, value) {}

    [[nodiscard]] Value& at(RankId rank, std::size_t iteration) {
        return m_values[rank.index() * m_iterations + iteration];
    }
    [[nodiscard]] const Value& at(RankId rank, std::size_t iteration) const {
        return m_values[rank.index() * m_iterations + iteration];
    }

  private:
    std::size_t m_iterations;
    std::vector<Value> m_values;
};

constexpr TraceTime kNoRange{std::numeric_limits<std::int64_t>::max()};

// Numbers of iterations that have a task; ascending.
std::vector<std::int32_t> iterationsOf(const base::IdVector<trace::TaskTag, trace::Task>& tasks) {
    std::vector<std::int32_t> all, ofRank;
    const auto join = [&] {
        if (!std::is_sorted(ofRank.begin(), ofRank.end())) std::sort(ofRank.begin(), ofRank.end());
        std::vector<std::int32_t> joined;
        std::set_union(all.begin(), all.end(), ofRank.begin(), ofRank.end(),
                       std::back_inserter(joined));
        joined.erase(std::unique(joined.begin(), joined.end()), joined.end());
        all = std::move(joined);
        ofRank.clear();
    };
    RankId rank;
    for (const trace::Task& task : tasks) {
        if (task.iteration < 0) continue;
        if (task.rank != rank) join();
        rank = task.rank;
        if (ofRank.empty() || ofRank.back() != task.iteration) ofRank.push_back(task.iteration);
    }
    join();
    return all;
}

// What was recorded for each iteration that has a task; ascending. O(n) in annotations that are in
// order.
class Gathered {
  public:
    Gathered(const trace::Trace& trace, const std::vector<DeviceStep>& steps)
        : m_numbers(iterationsOf(trace.annotations().tasks)),
          m_seen(m_numbers.size()),
          m_tasks(trace.ranks().size(), m_numbers.size(), 0),
          m_begin(trace.ranks().size(), m_numbers.size(), kNoRange),
          m_hasTasks(trace.ranks().size(), false) {
        const trace::Annotations& found = trace.annotations();
        for (std::size_t i = 0; i < m_seen.size(); ++i) m_seen[i].iteration = m_numbers[i];
        for (const trace::Task& task : found.tasks) addTask(task);
        for (std::size_t i = 0; i < steps.size(); ++i) addRange(found.iterations[i], steps[i]);
        for (const trace::Phase& phase : found.phases) addOther(phase);
        for (const trace::Transfer& transfer : found.transfers) addOther(transfer);
    }

    [[nodiscard]] const std::vector<Seen>& iterations() const { return m_seen; }

    // Of a rank's recorded range of an iteration, as the device saw it; kNoRange without one.
    [[nodiscard]] TraceTime beginOf(RankId rank, std::size_t at) const {
        return m_begin.at(rank, at);
    }

    // By iteration: has every rank with tasks as many of them as in most iterations (of equals the
    // larger), and a range where there are any?
    [[nodiscard]] std::vector<bool> complete(bool hasRanges) const {
        std::vector<bool> complete(m_seen.size(), true);
        for (std::size_t r = 0; r < m_hasTasks.size(); ++r) {
            if (!m_hasTasks[r]) continue;
            const auto rank = RankId::at(r);
            std::map<std::uint32_t, std::size_t> histogram;
            for (std::size_t i = 0; i < m_seen.size(); ++i) {
                if (m_tasks.at(rank, i) > 0) ++histogram[m_tasks.at(rank, i)];
            }
            std::uint32_t usual = 0;
            std::size_t most = 0;
            for (const auto& [count, times] : histogram) {
                if (times < most) continue;
                most = times;
                usual = count;
            }
            for (std::size_t i = 0; i < m_seen.size(); ++i) {
                if (m_tasks.at(rank, i) != usual || (hasRanges && m_begin.at(rank, i) == kNoRange))
                    complete[i] = false;
            }
        }
        return complete;
    }

  private:
    // Annotations come in order of rank and time, so the iteration is often that of the one before.
    [[nodiscard]] std::optional<std::size_t> at(std::int32_t iteration) {
        if (m_near < m_numbers.size() && m_numbers[m_near] == iteration) return m_near;
        if (m_near + 1 < m_numbers.size() && m_numbers[m_near + 1] == iteration) return ++m_near;
        const auto found = std::lower_bound(m_numbers.begin(), m_numbers.end(), iteration);
        if (found == m_numbers.end() || *found != iteration) return std::nullopt;
        return m_near = static_cast<std::size_t>(found - m_numbers.begin());
    }

    void addTask(const trace::Task& task) {
        const auto place = task.iteration < 0 ? std::nullopt : at(task.iteration);
        if (!place) return;
        Seen& seen = m_seen[*place];
        const bool isFirst = !seen.firstRank.valid();
        if (isFirst || task.span.begin < seen.firstTask) {
            seen.firstTask = task.span.begin;
            seen.firstRank = task.rank;
        }
        seen.lastEnd = isFirst ? task.span.end : std::max(seen.lastEnd, task.span.end);
        ++m_tasks.at(task.rank, *place);
        m_hasTasks[task.rank.index()] = true;
    }

    void addRange(const trace::IterationSpan& range, const DeviceStep& step) {
        const auto place = at(range.iteration);
        if (!place) return;
        Seen& seen = m_seen[*place];
        seen.lastEnd = std::max(seen.lastEnd, step.span.end);
        seen.unsure = std::max(seen.unsure, step.unsure);
        TraceTime& begin = m_begin.at(range.rank, *place);
        if (begin == kNoRange) begin = step.span.begin;
    }

    // What a rank did before its own range of the iteration was counted to it for want of another.
    template <class Item>
    void addOther(const Item& item) {
        const auto place = at(item.iteration);
        if (!place) return;
        Seen& seen = m_seen[*place];
        seen.lastEnd = std::max(seen.lastEnd, item.span.end);
        const TraceTime range = m_begin.at(item.rank, *place);
        if (range != kNoRange && item.span.begin < range) return;
        seen.firstOther = std::min(seen.firstOther.value_or(item.span.begin), item.span.begin);
    }

    std::vector<std::int32_t> m_numbers;
    std::vector<Seen> m_seen;
    Grid<std::uint32_t> m_tasks;
    Grid<TraceTime> m_begin;
    std::vector<bool> m_hasTasks;  // by rank
    std::size_t m_near = 0;
};

TraceTime beginOf(const Seen& seen, TraceTime range, std::optional<TraceTime> earlierEnd) {
    const TraceTime begin = std::min(range, seen.firstTask);
    if (!seen.firstOther) return begin;
    return std::min(begin, std::max(*seen.firstOther, earlierEnd.value_or(*seen.firstOther)));
}

std::vector<IterationWindow> windowsOfTasks(const trace::Trace& trace,
                                            const std::vector<DeviceStep>& steps) {
    const trace::Annotations& found = trace.annotations();
    const Gathered gathered(trace, steps);
    const std::vector<bool> complete = gathered.complete(!found.iterations.empty());
    const std::map<std::int32_t, base::Interval> timers = timerSteps(trace);
    std::vector<IterationWindow> windows;
    std::optional<TraceTime> earlierEnd;
    for (std::size_t i = 0; i < gathered.iterations().size(); ++i) {
        const Seen& seen = gathered.iterations()[i];
        TraceTime begin = beginOf(seen, gathered.beginOf(seen.firstRank, i), earlierEnd);
        TraceTime end = seen.lastEnd;
        if (const auto timer = timers.find(seen.iteration); timer != timers.end()) {
            begin = timer->second.begin;
            end = std::max(end, timer->second.end);
        }
        if (!windows.empty()) {
            IterationWindow& before = windows.back();
            begin = std::max(begin, before.window.begin);
            before.window.end = std::min(before.window.end, begin);
        }
        earlierEnd = std::max(earlierEnd.value_or(end), end);
        windows.push_back(
            {seen.iteration, {begin, std::max(begin, end)}, complete[i], seen.unsure});
    }
    return windows;
}

// Calls visit(rank, span) for the device work of ranks with a number, stream by stream.
template <class Visit>
void forEachWork(const trace::Trace& trace, const DeviceWorkKinds& kinds, Visit visit) {
    for (std::size_t i = 0; i < trace.lanes().size(); ++i) {
        const trace::Lane& lane = trace.lanes()[trace::LaneId::at(i)];
        if (lane.kind != trace::LaneKind::DeviceStream || trace.ranks()[lane.rank].number < 0)
            continue;
        const auto events = trace.eventsOf(trace::LaneId::at(i));
        for (std::size_t e = events.first.index(); e < events.last.index(); ++e) {
            const auto id = trace::EventId::at(e);
            if (kinds.of(id) != DeviceWork::None) visit(lane.rank, trace.event(id).span);
        }
    }
}

// The ranges of one iteration on all ranks.
struct Together {
    std::optional<base::Interval> onDevice;  // of the ranks whose device tells
    base::Interval all;
    std::size_t ranks = 0;
    std::int64_t works = 0;
    base::Duration unsure;

    void add(const DeviceStep& step) {
        const auto extended = [&](base::Interval span) {
            return base::Interval{std::min(span.begin, step.span.begin),
                                  std::max(span.end, step.span.end)};
        };
        all = ranks == 0 ? step.span : extended(all);
        if (step.onDevice) onDevice = onDevice ? extended(*onDevice) : step.span;
        ++ranks;
        works += step.works;
        unsure = std::max(unsure, step.unsure);
    }
};

// A recording that begins or ends within an iteration holds less of its work than of others.
bool isCutOff(const std::vector<Together>& all, std::size_t at) {
    constexpr double kLeastShare = 0.8;
    const bool atAnEnd = at == 0 || at + 1 == all.size();
    if (!atAnEnd || all.size() < 4) return false;
    std::vector<std::int64_t> others;
    for (std::size_t i = 1; i + 1 < all.size(); ++i) others.push_back(all[i].works);
    return static_cast<double>(all[at].works) <
           kLeastShare * static_cast<double>(base::medianOf(others));
}

// Without tasks: from one recorded iteration to the next. Without iterations either: all that
// devices did, as one.
std::vector<IterationWindow> windowsOfDevices(const trace::Trace& trace,
                                              const DeviceWorkKinds& kinds,
                                              const std::vector<DeviceStep>& steps) {
    std::optional<base::Interval> work;
    forEachWork(trace, kinds, [&](RankId, base::Interval span) {
        if (!work) work = span;
        work = {std::min(work->begin, span.begin), std::max(work->end, span.end)};
    });
    if (!work) return {};
    if (steps.empty()) return {{0, *work, true}};
    std::map<std::int32_t, Together> iterations;
    for (std::size_t i = 0; i < steps.size(); ++i)
        iterations[trace.annotations().iterations[i].iteration].add(steps[i]);
    std::vector<Together> all;
    std::size_t most = 0;
    for (const auto& [iteration, together] : iterations) {
        all.push_back(together);
        most = std::max(most, together.ranks);
    }
    std::vector<IterationWindow> windows;
    for (const auto& [iteration, together] : iterations) {
        base::Interval window = together.onDevice.value_or(together.all);
        if (!windows.empty()) {
            IterationWindow& before = windows.back();
            window.begin = std::max(window.begin, before.window.begin);
            before.window.end = window.begin;
        }
        const bool complete = together.ranks == most && !isCutOff(all, windows.size());
        windows.push_back({iteration,
                           {window.begin, std::max(window.begin, window.end)},
                           complete,
                           together.unsure});
    }
    return windows;
}

// Device work of earlier iterations that ran while the host was in the first one recorded.
void noteEarlierWork(const trace::Trace& trace, const DeviceWorkKinds& kinds,
                     const IterationWindow& first, base::Diagnostics& diagnostics) {
    std::vector<std::optional<TraceTime>> hostBegin(trace.ranks().size());
    for (const trace::IterationSpan& range : trace.annotations().iterations) {
        auto& begin = hostBegin[range.rank.index()];
        if (!begin) begin = range.span.begin;
    }
    std::int64_t count = 0;
    base::Duration time;
    RankId example;
    forEachWork(trace, kinds, [&](RankId rank, base::Interval span) {
        const auto& begin = hostBegin[rank.index()];
        if (!begin || span.end <= *begin || span.end > first.window.begin) return;
        if (count++ == 0) example = rank;
        time += span.length();
    });
    if (count == 0) return;
    diagnostics.add(
        "work_before_iterations",
        fmt::format("while the host of rank {} was already in iteration {}, devices still ran "
                    "{:.3f} ms of work launched earlier; it belongs to no iteration",
                    trace.ranks()[example].number, first.iteration,
                    static_cast<double>(time.ns) / 1e6),
        count);
}

// The whole recording then stands for an iteration, whatever it holds of how many.
void noteUnmarked(const trace::Trace& trace, base::Diagnostics& diagnostics) {
    if (!trace.annotations().tasks.empty() || !trace.annotations().iterations.empty()) return;
    diagnostics.add("iterations_unmarked",
                    "nothing marks the start of iterations, so the whole recording counts as one; "
                    "call profiler.step() after each step of the training loop, or put "
                    "torch.cuda.nvtx.range_push(f\"iteration {step}\") before and "
                    "torch.cuda.nvtx.range_pop() after each step");
}

void noteUnsure(const std::vector<IterationWindow>& windows, base::Diagnostics& diagnostics) {
    constexpr double kMatters = 0.02;  // of the iteration
    for (const IterationWindow& window : windows) {
        const auto length = static_cast<double>(window.window.length().ns);
        const auto unsure = static_cast<double>(window.unsure.ns);
        if (unsure <= kMatters * length) continue;
        const std::string share =
            length > 0 ? fmt::format(" ({:.0f} % of its time)", 100 * unsure / length) : "";
        diagnostics.add(
            "iteration_bounds_unsure",
            fmt::format(
                "the bounds of iteration {} are uncertain by up to {:.3f} ms{}: the device ran "
                "behind its host, and the calls that launched its work were not recorded",
                window.iteration, unsure / 1e6, share));
    }
}

}  // namespace

std::vector<IterationWindow> iterationWindows(const trace::Trace& trace,
                                              const DeviceWorkKinds& kinds,
                                              base::Diagnostics& diagnostics) {
    const std::vector<DeviceStep> steps = deviceSteps(trace, kinds);
    std::vector<IterationWindow> windows = trace.annotations().tasks.empty()
                                               ? windowsOfDevices(trace, kinds, steps)
                                               : windowsOfTasks(trace, steps);
    if (!windows.empty() && !steps.empty())
        noteEarlierWork(trace, kinds, windows.front(), diagnostics);
    if (!windows.empty()) noteUnmarked(trace, diagnostics);
    noteUnsure(windows, diagnostics);
    return windows;
}

std::vector<IterationWindow> iterationWindows(const trace::Trace& trace) {
    base::Diagnostics ignored;
    return iterationWindows(trace, DeviceWorkKinds(trace), ignored);
}

}  // namespace pleat::graph
