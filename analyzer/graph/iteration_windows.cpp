#include "graph/iteration_windows.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "trace/categories.h"
#include "trace/launch_cursor.h"

namespace pleat::graph {
namespace {

using trace::RankId;

struct Seen {
    bool hasTask = false;
    base::TraceTime firstTask, lastEnd;
    RankId firstRank;
    std::map<RankId, std::size_t> tasks;
    std::map<RankId, base::TraceTime> begin;  // of the recorded iteration range
};

std::map<std::int32_t, Seen> gather(const trace::Annotations& found,
                                    const std::vector<trace::IterationSpan>& ranges) {
    std::map<std::int32_t, Seen> iterations;
    for (const trace::Task& task : found.tasks) {
        if (task.iteration < 0) continue;
        Seen& seen = iterations[task.iteration];
        if (!seen.hasTask || task.span.begin < seen.firstTask) {
            seen.firstTask = task.span.begin;
            seen.firstRank = task.rank;
        }
        if (!seen.hasTask) seen.lastEnd = task.span.end;
        seen.hasTask = true;
        seen.lastEnd = std::max(seen.lastEnd, task.span.end);
        ++seen.tasks[task.rank];
    }
    const auto extend = [&](const auto& item) {
        const auto seen = iterations.find(item.iteration);
        if (seen == iterations.end()) return;
        seen->second.lastEnd = std::max(seen->second.lastEnd, item.span.end);
    };
    for (const trace::Phase& phase : found.phases) extend(phase);
    for (const trace::Transfer& transfer : found.transfers) extend(transfer);
    for (const trace::IterationSpan& span : ranges) {
        extend(span);
        const auto seen = iterations.find(span.iteration);
        if (seen != iterations.end()) seen->second.begin.try_emplace(span.rank, span.span.begin);
    }
    return iterations;
}

// How many tasks each training rank has in most iterations; of equals the larger.
std::map<RankId, std::size_t> usualTasks(const std::map<std::int32_t, Seen>& iterations) {
    std::map<RankId, std::map<std::size_t, std::size_t>> histogram;
    for (const auto& [iteration, seen] : iterations) {
        for (const auto& [rank, count] : seen.tasks) ++histogram[rank][count];
    }
    std::map<RankId, std::size_t> usual;
    for (const auto& [rank, counts] : histogram) {
        std::size_t most = 0;
        for (const auto& [count, times] : counts) {
            if (times < most) continue;
            most = times;
            usual[rank] = count;
        }
    }
    return usual;
}

bool isComplete(const Seen& seen, const std::map<RankId, std::size_t>& usual, bool hasRanges) {
    return std::all_of(usual.begin(), usual.end(), [&](const auto& entry) {
        const auto tasks = seen.tasks.find(entry.first);
        return tasks != seen.tasks.end() && tasks->second == entry.second &&
               (!hasRanges || seen.begin.contains(entry.first));
    });
}

// Calls visit(rank, when it was called (where that is recorded, else its start), its span) for the
// device work of ranks with a number, stream by stream.
template <class Visit>
void forEachWork(const trace::Trace& trace, Visit visit) {
    const trace::EventColumns& columns = trace.columns();
    std::vector<bool> isWork(columns.strings.size());
    for (std::size_t i = 0; i < isWork.size(); ++i)
        isWork[i] = trace::categories::isDeviceWork(columns.strings.text(base::StringId::at(i)));
    trace::LaunchCursor launches(trace);
    for (std::size_t i = 0; i < trace.lanes().size(); ++i) {
        const trace::Lane& lane = trace.lanes()[trace::LaneId::at(i)];
        if (lane.kind != trace::LaneKind::DeviceStream || trace.ranks()[lane.rank].number < 0)
            continue;
        const auto events = trace.eventsOf(trace::LaneId::at(i));
        for (std::size_t e = events.first.index(); e < events.last.index(); ++e) {
            const base::StringId domain = columns.domain[e];
            if (!domain.valid() || !isWork[domain.index()]) continue;
            const base::TraceTime begin{columns.startNs[e]};
            const trace::EventId call = launches.of(trace::EventId::at(e));
            const base::TraceTime called =
                call.valid() ? base::TraceTime{columns.startNs[call.index()]} : begin;
            visit(lane.rank, called,
                  base::Interval{begin, begin + base::Duration{columns.durationNs[e]}});
        }
    }
}

// Where the host runs ahead of its device, an iteration of the device begins when it has done what
// the iterations before called for, but not after its own first work.
class DeviceBegins {
  public:
    explicit DeviceBegins(const trace::Trace& trace) : m_ranges(trace.annotations().iterations) {
        m_done.resize(m_ranges.size());
        m_first.assign(trace.ranks().size() + 1, 0);  // ranges come in order of rank and start
        for (std::size_t rank = 0, at = 0; rank < trace.ranks().size(); ++rank) {
            while (at < m_ranges.size() && m_ranges[at].rank.index() == rank) ++at;
            m_first[rank + 1] = at;
        }
        if (m_ranges.empty()) return;
        std::size_t near = 0;
        forEachWork(trace, [&](RankId rank, base::TraceTime called, base::Interval span) {
            if (!find(rank, called, near)) return;
            Done& done = m_done[near];
            done.first = std::min(done.first, span.begin);
            done.last = std::max(done.last, span.end);
        });
    }
    // The range's begin and end as the device saw them.
    [[nodiscard]] base::Interval of(std::size_t range) const {
        const base::Interval host = m_ranges[range].span;
        const Done& own = m_done[range];
        base::Interval span = host;
        if (own.any()) span.end = std::max(host.end, own.last);
        const bool hasPrevious = range > 0 && m_ranges[range - 1].rank == m_ranges[range].rank;
        if (hasPrevious && own.any() && m_done[range - 1].any()) {
            span.begin = std::min(std::max(host.begin, m_done[range - 1].last),
                                  std::max(host.begin, own.first));
        }
        return span;
    }

  private:
    struct Done {
        base::TraceTime first{std::numeric_limits<std::int64_t>::max()};
        base::TraceTime last{std::numeric_limits<std::int64_t>::min()};
        [[nodiscard]] bool any() const { return first <= last; }
    };

    // The last range of the rank that began by `time`; behind the end of the rank's last none.
    // `near` is where the search before ended.
    [[nodiscard]] bool find(RankId rank, base::TraceTime time, std::size_t& near) const {
        const std::size_t first = m_first[rank.index()], last = m_first[rank.index() + 1];
        const auto holds = [&](std::size_t at) {
            return at >= first && at < last && m_ranges[at].span.begin <= time &&
                   (at + 1 == last ? time < m_ranges[at].span.end
                                   : time < m_ranges[at + 1].span.begin);
        };
        if (holds(near)) return true;
        const auto after =
            std::upper_bound(m_ranges.begin() + static_cast<std::ptrdiff_t>(first),
                             m_ranges.begin() + static_cast<std::ptrdiff_t>(last), time,
                             [](base::TraceTime t, const trace::IterationSpan& span) {
                                 return t < span.span.begin;
                             });
        if (after == m_ranges.begin() + static_cast<std::ptrdiff_t>(first)) return false;
        near = static_cast<std::size_t>(after - m_ranges.begin()) - 1;
        return holds(near);
    }

    const std::vector<trace::IterationSpan>& m_ranges;
    std::vector<std::size_t> m_first;  // by rank; one more than there are
    std::vector<Done> m_done;          // by range
};

// Iteration ranges as devices saw them; as they are where none did anything.
std::vector<trace::IterationSpan> deviceRanges(const trace::Trace& trace) {
    const DeviceBegins begins(trace);
    std::vector<trace::IterationSpan> ranges = trace.annotations().iterations;
    for (std::size_t i = 0; i < ranges.size(); ++i) ranges[i].span = begins.of(i);
    return ranges;
}

// Without tasks: from one recorded iteration to the next. Without iterations either: all that
// devices did, as one.
std::vector<IterationWindow> windowsOfDevices(const trace::Trace& trace,
                                              const std::vector<trace::IterationSpan>& spans) {
    std::optional<base::Interval> all;
    forEachWork(trace, [&](RankId, base::TraceTime, base::Interval span) {
        if (!all) all = span;
        all = {std::min(all->begin, span.begin), std::max(all->end, span.end)};
    });
    if (!all) return {};
    if (spans.empty()) return {{0, *all, true}};
    std::vector<IterationWindow> windows;
    std::map<std::int32_t, base::Interval> ranges;
    std::map<std::int32_t, std::set<RankId>> ranks;
    std::size_t most = 0;
    for (const trace::IterationSpan& span : spans) {
        const auto [range, isNew] = ranges.try_emplace(span.iteration, span.span);
        range->second.begin = std::min(range->second.begin, span.span.begin);
        range->second.end = std::max(range->second.end, span.span.end);
        ranks[span.iteration].insert(span.rank);
        most = std::max(most, ranks[span.iteration].size());
    }
    for (const auto& [iteration, range] : ranges) {
        base::Interval window = range;
        if (!windows.empty()) {
            IterationWindow& before = windows.back();
            window.begin = std::max(window.begin, before.window.begin);
            before.window.end = window.begin;
        }
        windows.push_back({iteration,
                           {window.begin, std::max(window.begin, window.end)},
                           ranks[iteration].size() == most});
    }
    return windows;
}

}  // namespace

std::vector<IterationWindow> iterationWindows(const trace::Trace& trace) {
    const trace::Annotations& found = trace.annotations();
    const std::vector<trace::IterationSpan> ranges = deviceRanges(trace);
    if (found.tasks.empty()) return windowsOfDevices(trace, ranges);
    const std::map<std::int32_t, Seen> iterations = gather(found, ranges);
    const auto usual = usualTasks(iterations);
    std::vector<IterationWindow> windows;
    for (const auto& [iteration, seen] : iterations) {
        const auto range = seen.begin.find(seen.firstRank);
        base::TraceTime begin =
            range == seen.begin.end() ? seen.firstTask : std::min(range->second, seen.firstTask);
        if (!windows.empty()) {
            IterationWindow& before = windows.back();
            begin = std::max(begin, before.window.begin);
            before.window.end = std::min(before.window.end, begin);
        }
        windows.push_back({iteration,
                           {begin, std::max(begin, seen.lastEnd)},
                           isComplete(seen, usual, !found.iterations.empty())});
    }
    return windows;
}

}  // namespace pleat::graph
