#include <algorithm>
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

std::map<std::int32_t, Seen> gather(const trace::Annotations& found) {
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
    for (const trace::IterationSpan& span : found.iterations) {
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
    base::TraceTime called;  // where a call is recorded; else its start
    base::Interval span;
};

// Device work of ranks with a number, by when it was called.
std::vector<Work> deviceWork(const trace::Trace& trace) {
    std::vector<Work> all;
    std::size_t next = 0;  // dependencies ascend by the event they lead to
    const auto dependencies = trace.dependencies();
    for (std::size_t i = 0; i < trace.eventCount(); ++i) {
        const auto id = trace::EventId::at(i);
        const trace::Event event = trace.event(id);
        const trace::Lane& lane = trace.lanes()[event.lane];
        if (lane.kind != trace::LaneKind::DeviceStream || trace.ranks()[lane.rank].number < 0 ||
            !trace::categories::isDeviceWork(trace.domain(id)))
            continue;
        while (next < dependencies.size() && dependencies[next].to < id) ++next;
        const bool launched = next < dependencies.size() && dependencies[next].to == id &&
                              dependencies[next].kind == trace::DependencyKind::Launch;
        all.push_back(
            {launched ? trace.event(dependencies[next].from).span.begin : event.span.begin,
             event.span});
    }
    return all;
}

// Without tasks: from one recorded iteration range to the next, the last to the end of what the
// device did for it. Without ranges either: all that devices did, as one.
std::vector<IterationWindow> windowsOfDevices(const trace::Trace& trace) {
    const std::vector<Work> work = deviceWork(trace);
    std::map<std::int32_t, base::Interval> ranges;
    std::map<std::int32_t, std::set<RankId>> ranks;
    for (const trace::IterationSpan& span : trace.annotations().iterations) {
        const auto [range, isNew] = ranges.try_emplace(span.iteration, span.span);
        range->second.begin = std::min(range->second.begin, span.span.begin);
        range->second.end = std::max(range->second.end, span.span.end);
        ranks[span.iteration].insert(span.rank);
    }
    std::vector<IterationWindow> windows;
    if (work.empty()) return windows;
    std::size_t most = 0;
    for (const auto& [iteration, of] : ranks) most = std::max(most, of.size());
    for (const auto& [iteration, range] : ranges) {
        base::Interval window = range;
        if (!windows.empty()) {
            IterationWindow& before = windows.back();
            window.begin = std::max(window.begin, before.window.begin);
            before.window.end = window.begin;
        }
        windows.push_back({iteration, window, ranks[iteration].size() == most});
    }
    if (windows.empty()) {
        windows.push_back({0, work.front().span, true});
        for (const Work& piece : work)
            windows.front().window.begin = std::min(windows.front().window.begin, piece.span.begin);
    }
    const bool marked = !ranges.empty();
    base::Interval& last = windows.back().window;
    const base::TraceTime markedEnd = last.end;
    for (const Work& piece : work) {
        if (!marked || (piece.called >= last.begin && piece.called < markedEnd))
            last.end = std::max(last.end, piece.span.end);
    }
    return windows;
}

}  // namespace

std::vector<IterationWindow> iterationWindows(const trace::Trace& trace) {
    const trace::Annotations& found = trace.annotations();
    if (found.tasks.empty()) return windowsOfDevices(trace);
    const std::map<std::int32_t, Seen> iterations = gather(found);
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
