#include "graph/iteration_windows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/statistics.h"
#include "graph/device_steps.h"
#include "graph/timer_events.h"

namespace pleat::graph {
namespace {

using base::TraceTime;
using trace::RankId;

// By rank, ascending.
template <class Value>
using ByRank = std::vector<std::pair<RankId, Value>>;

template <class Value>
const Value* find(const ByRank<Value>& list, RankId rank) {
    const auto found = std::lower_bound(
        list.begin(), list.end(), rank,
        [](const std::pair<RankId, Value>& one, RankId wanted) { return one.first < wanted; });
    return found != list.end() && found->first == rank ? &found->second : nullptr;
}

struct Seen {
    std::int32_t iteration = -1;
    bool hasTask = false;
    TraceTime firstTask, lastEnd;
    RankId firstRank;
    std::optional<TraceTime> firstOther;  // of phases and transfers
    ByRank<std::size_t> tasks;
    ByRank<TraceTime> begin;  // of the recorded iteration range, as the device saw it
    base::Duration unsure;
};

// What was recorded for each iteration that has a task; ascending. O(n log n) in annotations.
class Gathered {
  public:
    Gathered(const trace::Annotations& found, const std::vector<DeviceStep>& steps) {
        for (const trace::Task& task : found.tasks) {
            if (task.iteration < 0) continue;
            if (m_seen.empty() || m_seen.back().iteration != task.iteration)
                m_seen.emplace_back().iteration = task.iteration;
        }
        std::sort(m_seen.begin(), m_seen.end(),
                  [](const Seen& a, const Seen& b) { return a.iteration < b.iteration; });
        m_seen.erase(
            std::unique(m_seen.begin(), m_seen.end(),
                        [](const Seen& a, const Seen& b) { return a.iteration == b.iteration; }),
            m_seen.end());
        for (const trace::Task& task : found.tasks) addTask(task);
        for (std::size_t i = 0; i < steps.size(); ++i) addRange(found.iterations[i], steps[i]);
        for (const trace::Phase& phase : found.phases) addOther(phase);
        for (const trace::Transfer& transfer : found.transfers) addOther(transfer);
    }

    [[nodiscard]] const std::vector<Seen>& iterations() const { return m_seen; }

  private:
    // Annotations come in order of rank and time, so the iteration is often that of the one before.
    Seen* at(std::int32_t iteration) {
        if (m_near < m_seen.size() && m_seen[m_near].iteration == iteration) return &m_seen[m_near];
        const auto found = std::lower_bound(
            m_seen.begin(), m_seen.end(), iteration,
            [](const Seen& seen, std::int32_t number) { return seen.iteration < number; });
        if (found == m_seen.end() || found->iteration != iteration) return nullptr;
        m_near = static_cast<std::size_t>(found - m_seen.begin());
        return &*found;
    }

    void addTask(const trace::Task& task) {
        Seen* seen = task.iteration < 0 ? nullptr : at(task.iteration);
        if (seen == nullptr) return;
        if (!seen->hasTask || task.span.begin < seen->firstTask) {
            seen->firstTask = task.span.begin;
            seen->firstRank = task.rank;
        }
        seen->lastEnd = seen->hasTask ? std::max(seen->lastEnd, task.span.end) : task.span.end;
        seen->hasTask = true;
        if (seen->tasks.empty() || seen->tasks.back().first != task.rank)
            seen->tasks.emplace_back(task.rank, 0);
        ++seen->tasks.back().second;
    }

    void addRange(const trace::IterationSpan& range, const DeviceStep& step) {
        Seen* seen = at(range.iteration);
        if (seen == nullptr) return;
        seen->lastEnd = std::max(seen->lastEnd, step.span.end);
        seen->unsure = std::max(seen->unsure, step.unsure);
        if (find(seen->begin, range.rank) == nullptr)
            seen->begin.emplace_back(range.rank, step.span.begin);
    }

    // What a rank did before its own range of the iteration was counted to it for want of another.
    template <class Item>
    void addOther(const Item& item) {
        Seen* seen = at(item.iteration);
        if (seen == nullptr) return;
        seen->lastEnd = std::max(seen->lastEnd, item.span.end);
        const TraceTime* range = find(seen->begin, item.rank);
        if (range != nullptr && item.span.begin < *range) return;
        seen->firstOther = std::min(seen->firstOther.value_or(item.span.begin), item.span.begin);
    }

    std::vector<Seen> m_seen;
    std::size_t m_near = 0;
};

// How many tasks each training rank has in most iterations; of equals the larger.
ByRank<std::size_t> usualTasks(const std::vector<Seen>& iterations) {
    std::map<RankId, std::map<std::size_t, std::size_t>> histogram;
    for (const Seen& seen : iterations) {
        for (const auto& [rank, count] : seen.tasks) ++histogram[rank][count];
    }
    ByRank<std::size_t> usual;
    for (const auto& [rank, counts] : histogram) {
        std::size_t most = 0;
        usual.emplace_back(rank, 0);
        for (const auto& [count, times] : counts) {
            if (times < most) continue;
            most = times;
            usual.back().second = count;
        }
    }
    return usual;
}

bool isComplete(const Seen& seen, const ByRank<std::size_t>& usual, bool hasRanges) {
    return std::all_of(usual.begin(), usual.end(), [&](const auto& entry) {
        const std::size_t* tasks = find(seen.tasks, entry.first);
        return tasks != nullptr && *tasks == entry.second &&
               (!hasRanges || find(seen.begin, entry.first) != nullptr);
    });
}

TraceTime beginOf(const Seen& seen, std::optional<TraceTime> earlierEnd) {
    const TraceTime* range = find(seen.begin, seen.firstRank);
    const TraceTime begin = range == nullptr ? seen.firstTask : std::min(*range, seen.firstTask);
    if (!seen.firstOther) return begin;
    return std::min(begin, std::max(*seen.firstOther, earlierEnd.value_or(*seen.firstOther)));
}

std::vector<IterationWindow> windowsOfTasks(const trace::Trace& trace,
                                            const std::vector<DeviceStep>& steps) {
    const trace::Annotations& found = trace.annotations();
    const Gathered gathered(found, steps);
    const ByRank<std::size_t> usual = usualTasks(gathered.iterations());
    const std::map<std::int32_t, base::Interval> timers = timerSteps(trace);
    std::vector<IterationWindow> windows;
    std::optional<TraceTime> earlierEnd;
    for (const Seen& seen : gathered.iterations()) {
        TraceTime begin = beginOf(seen, earlierEnd), end = seen.lastEnd;
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
        windows.push_back({seen.iteration,
                           {begin, std::max(begin, end)},
                           isComplete(seen, usual, !found.iterations.empty()),
                           seen.unsure});
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
        base::Severity::Info, "work_before_iterations",
        fmt::format("while the host of rank {} was already in iteration {}, devices still ran "
                    "{:.3f} ms of work that it had called before; it counts in no iteration",
                    trace.ranks()[example].number, first.iteration,
                    static_cast<double>(time.ns) / 1e6),
        count);
}

void noteUnsure(const std::vector<IterationWindow>& windows, base::Diagnostics& diagnostics) {
    constexpr double kMatters = 0.02;  // of the iteration
    for (const IterationWindow& window : windows) {
        const auto length = static_cast<double>(window.window.length().ns);
        const auto unsure = static_cast<double>(window.unsure.ns);
        if (unsure <= kMatters * length) continue;
        const std::string share =
            length > 0 ? fmt::format(" ({:.0f} % of its time)", 100 * unsure / length) : "";
        diagnostics.add(base::Severity::DataLoss, "iteration_bounds_unsure",
                        fmt::format("iteration {} may begin or end up to {:.3f} ms{} from where it "
                                    "is counted: the device ran behind its host, and the calls "
                                    "that started its work were not recorded",
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
    noteUnsure(windows, diagnostics);
    return windows;
}

std::vector<IterationWindow> iterationWindows(const trace::Trace& trace) {
    base::Diagnostics ignored;
    return iterationWindows(trace, DeviceWorkKinds(trace), ignored);
}

}  // namespace pleat::graph
