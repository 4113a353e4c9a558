#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "graph/measured_graph.h"
#include "trace/categories.h"

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

struct Work {
    RankId rank;
    base::TraceTime called;  // where a call is recorded; else its start
    base::Interval span;
};

// Device work of ranks with a number.
std::vector<Work> deviceWork(const trace::Trace& trace) {
    std::vector<Work> all;
    std::size_t next = 0;  // dependencies ascend by the event they lead to
    const auto dependencies = trace.dependencies();
    for (std::size_t i = 0; i < trace.lanes().size(); ++i) {
        const trace::Lane& lane = trace.lanes()[trace::LaneId::at(i)];
        if (lane.kind != trace::LaneKind::DeviceStream || trace.ranks()[lane.rank].number < 0)
            continue;
        const auto events = trace.eventsOf(trace::LaneId::at(i));
        for (std::size_t e = events.first.index(); e < events.last.index(); ++e) {
            const auto id = trace::EventId::at(e);
            if (!trace::categories::isDeviceWork(trace.domain(id))) continue;
            while (next < dependencies.size() && dependencies[next].to < id) ++next;
            const bool launched = next < dependencies.size() && dependencies[next].to == id &&
                                  dependencies[next].kind == trace::DependencyKind::Launch;
            const base::Interval span = trace.event(id).span;
            all.push_back({lane.rank,
                           launched ? trace.event(dependencies[next].from).span.begin : span.begin,
                           span});
        }
    }
    return all;
}

// Where the host runs ahead of its device, an iteration of the device begins when it has done what
// the iterations before called for, but not after its own first work.
class DeviceBegins {
  public:
    DeviceBegins(const trace::Trace& trace, const std::vector<Work>& work) {
        std::map<RankId, std::vector<const trace::IterationSpan*>> ofRank;
        for (const trace::IterationSpan& span : trace.annotations().iterations)
            ofRank[span.rank].push_back(&span);  // ascending
        for (const Work& piece : work) {
            const auto ranges = ofRank.find(piece.rank);
            if (ranges == ofRank.end()) continue;
            const auto after =
                std::upper_bound(ranges->second.begin(), ranges->second.end(), piece.called,
                                 [](base::TraceTime time, const trace::IterationSpan* span) {
                                     return time < span->span.begin;
                                 });
            const bool behindLast =
                after == ranges->second.end() && piece.called >= ranges->second.back()->span.end;
            if (after == ranges->second.begin() || behindLast) continue;
            Done& done = m_done[{piece.rank, (*std::prev(after))->iteration}];
            done.first = std::min(done.first, piece.span.begin);
            done.last = std::max(done.last, piece.span.end);
        }
    }
    // `previous` is the iteration before on the same rank.
    [[nodiscard]] base::TraceTime of(const trace::IterationSpan& span,
                                     std::int32_t previous) const {
        const auto own = m_done.find({span.rank, span.iteration});
        const auto before = m_done.find({span.rank, previous});
        if (own == m_done.end() || before == m_done.end()) return span.span.begin;
        return std::min(std::max(span.span.begin, before->second.last),
                        std::max(span.span.begin, own->second.first));
    }
    [[nodiscard]] base::TraceTime endOf(const trace::IterationSpan& span) const {
        const auto own = m_done.find({span.rank, span.iteration});
        return own == m_done.end() ? span.span.end : std::max(span.span.end, own->second.last);
    }

  private:
    struct Done {
        base::TraceTime first{std::numeric_limits<std::int64_t>::max()};
        base::TraceTime last{std::numeric_limits<std::int64_t>::min()};
    };
    std::map<std::pair<RankId, std::int32_t>, Done> m_done;
};

// Iteration ranges as devices saw them; as they are where none did anything.
std::vector<trace::IterationSpan> deviceRanges(const trace::Trace& trace,
                                               const std::vector<Work>& work) {
    const DeviceBegins begins(trace, work);
    std::vector<trace::IterationSpan> ranges = trace.annotations().iterations;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        const trace::IterationSpan& host = trace.annotations().iterations[i];
        const bool hasPrevious = i > 0 && ranges[i - 1].rank == host.rank;
        if (hasPrevious) ranges[i].span.begin = begins.of(host, ranges[i - 1].iteration);
        ranges[i].span.end = begins.endOf(host);
    }
    return ranges;
}

// Without tasks: from one recorded iteration to the next. Without iterations either: all that
// devices did, as one.
std::vector<IterationWindow> windowsOfDevices(const std::vector<trace::IterationSpan>& spans,
                                              const std::vector<Work>& work) {
    std::vector<IterationWindow> windows;
    if (work.empty()) return windows;
    if (spans.empty()) {
        base::Interval all = work.front().span;
        for (const Work& piece : work)
            all = {std::min(all.begin, piece.span.begin), std::max(all.end, piece.span.end)};
        return {{0, all, true}};
    }
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
    const std::vector<Work> work = deviceWork(trace);
    const std::vector<trace::IterationSpan> ranges = deviceRanges(trace, work);
    if (found.tasks.empty()) return windowsOfDevices(ranges, work);
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
