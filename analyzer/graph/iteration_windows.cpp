#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "graph/measured_graph.h"

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

}  // namespace

std::vector<IterationWindow> iterationWindows(const trace::Trace& trace) {
    const trace::Annotations& found = trace.annotations();
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
