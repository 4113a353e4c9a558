#include "analysis/run_info.h"

#include <algorithm>
#include <span>
#include <vector>

namespace pleat::analysis {
namespace {

void addLane(ProcessInfo& process, const trace::Trace& trace, trace::LaneId lane,
             base::TraceTime begin) {
    ++process.lanes;
    const auto range = trace.eventsOf(lane);
    if (range.first == range.last) return;
    const trace::EventColumns& columns = trace.columns();
    base::TraceTime last{columns.startNs[range.first.index()]};
    for (std::uint32_t i = range.first.index(); i < range.last.index(); ++i)
        last.ns = std::max(last.ns, columns.startNs[i] + columns.durationNs[i]);
    // A lane is in order of begins.
    const base::Duration from = base::TraceTime{columns.startNs[range.first.index()]} - begin;
    process.firstEvent = std::min(process.firstEvent.value_or(from), from);
    process.lastEvent = std::max(process.lastEvent.value_or(last - begin), last - begin);
    process.events += range.last.index() - range.first.index();
}

void countAnnotations(std::vector<ProcessInfo>& processes, const trace::Annotations& annotations) {
    std::vector<std::vector<std::int32_t>> iterations(processes.size());
    const auto saw = [&](trace::RankId rank, std::int32_t iteration) {
        std::vector<std::int32_t>& list = iterations[rank.index()];
        if (list.empty() || list.back() != iteration) list.push_back(iteration);
    };
    for (const trace::Task& task : annotations.tasks) {
        ++processes[task.rank.index()].tasks;
        saw(task.rank, task.iteration);
    }
    for (const trace::IterationSpan& span : annotations.iterations) saw(span.rank, span.iteration);
    const std::span<const trace::Transfer> transfers = annotations.transfers.items();
    for (std::size_t i = 0; i < processes.size(); ++i) {
        // They are in order of ranks.
        const auto ofRank =
            std::ranges::equal_range(transfers, trace::RankId::at(i), {}, &trace::Transfer::rank);
        processes[i].transfers = static_cast<std::int64_t>(ofRank.size());
        std::vector<std::int32_t>& list = iterations[i];
        if (!std::is_sorted(list.begin(), list.end())) std::sort(list.begin(), list.end());
        processes[i].iterations = std::unique(list.begin(), list.end()) - list.begin();
    }
}

}  // namespace

RunInfo describeRun(const graph::RunIndex& run) {
    const trace::Trace& trace = run.trace();
    RunInfo info;
    const base::Interval span = trace.span();
    info.length = span.length();
    for (const trace::Rank& rank : trace.ranks()) info.processes.emplace_back().rank = rank;
    for (std::size_t i = 0; i < trace.lanes().size(); ++i) {
        const trace::LaneId lane = trace::LaneId::at(i);
        addLane(info.processes[trace.lanes()[lane].rank.index()], trace, lane, span.begin);
    }
    countAnnotations(info.processes, trace.annotations());
    for (ProcessInfo& process : info.processes) {
        if (process.lastEvent) process.endsEarlyBy = info.length - *process.lastEvent;
    }
    std::stable_sort(info.processes.begin(), info.processes.end(),
                     [](const ProcessInfo& a, const ProcessInfo& b) {
                         const bool aTrains = a.rank.number >= 0, bTrains = b.rank.number >= 0;
                         return aTrains != bTrains ? aTrains : a.rank.number < b.rank.number;
                     });
    info.lanes = static_cast<std::int64_t>(trace.lanes().size());
    info.events = static_cast<std::int64_t>(trace.eventCount());
    info.tasks = static_cast<std::int64_t>(trace.annotations().tasks.size());
    info.transfers = static_cast<std::int64_t>(trace.annotations().transfers.size());
    for (const graph::IterationWindow& window : run.windows()) {
        (window.complete ? info.completeIterations : info.incompleteIterations)
            .push_back(window.iteration);
    }
    info.schedule = trace.annotations().schedule;
    info.diagnostics.add(trace.diagnostics());
    info.diagnostics.add(run.diagnostics());
    return info;
}

}  // namespace pleat::analysis
