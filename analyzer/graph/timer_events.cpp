#include "graph/timer_events.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "trace/arguments.h"
#include "trace/limits.h"
#include "trace/timer_names.h"

namespace pleat::graph {
namespace {

using trace::RankId;
using trace::Timer;
using trace::TimerNames;
using trace::TimerRole;

bool hasOnlyTimers(const trace::Trace& trace, TimerNames& names, bool ofOneChunk) {
    const auto& tasks = trace.annotations().tasks;
    return !tasks.empty() && std::all_of(tasks.begin(), tasks.end(), [&](const trace::Task& task) {
        if (!task.event.valid() || (ofOneChunk && task.chunk > 0)) return false;
        const Timer* timer = names.of(task.event);
        return timer != nullptr && timer->role == TimerRole::Task;
    });
}

// By event: the iteration that annotation found, where the event is a task, a transfer or a phase.
std::vector<std::int32_t> iterationsByEvent(const trace::Trace& trace) {
    std::vector<std::int32_t> iterations(trace.eventCount(), -1);
    const auto note = [&](const auto& items) {
        for (const auto& item : items)
            if (item.event.valid()) iterations[item.event.index()] = item.iteration;
    };
    note(trace.annotations().tasks);
    note(trace.annotations().transfers);
    note(trace.annotations().phases);
    return iterations;
}

// A rank's timers of one name in one step are numbered from 0. One that has lost its number takes
// the lowest that no other has, in the order of their begins. False where numbers are impossible.
bool completeSequences(std::vector<TimerEvent>& step) {
    constexpr std::int64_t kMost = trace::kMaximumNumber;
    std::map<std::pair<RankId, const Timer*>, std::vector<TimerEvent*>> lost;
    for (TimerEvent& event : step) {
        if (event.sequence < 0) lost[{event.rank, event.timer}].push_back(&event);
    }
    if (lost.empty()) return true;
    std::map<std::pair<RankId, const Timer*>, std::set<std::int64_t>> taken;
    for (const TimerEvent& event : step)
        if (event.sequence >= 0) taken[{event.rank, event.timer}].insert(event.sequence);
    for (auto& [key, events] : lost) {
        std::stable_sort(events.begin(), events.end(), [](const auto* a, const auto* b) {
            return a->span.begin < b->span.begin;
        });
        std::int64_t next = 0;
        for (TimerEvent* event : events) {
            while (taken[key].contains(next)) ++next;
            event->sequence = next++;
        }
        if (next > kMost) return false;
    }
    return true;
}

// False where nothing says what the rules need of an event, or where they last so long together
// that times could not be added up. A field that is lost costs that field only.
bool readEvents(const trace::Trace& trace, TimerNames& names, TimerTimeline& timeline) {
    trace::Arguments arguments;
    const std::vector<std::int32_t> iterations = iterationsByEvent(trace);
    double sum = 0;
    std::optional<std::int32_t> before;  // of the lane's last timer
    trace::LaneId lane;
    for (std::size_t i = 0; i < trace.eventCount(); ++i) {
        const auto id = trace::EventId::at(i);
        const Timer* timer = names.of(id);
        if (timer == nullptr) continue;
        const trace::Event event = trace.event(id);
        const RankId rank = trace.lanes()[event.lane].rank;
        const std::int32_t stage = trace.ranks()[rank].coordinates.pp;
        if (event.kind != trace::EventKind::Range || stage < 0) continue;
        if (stage > trace::kMaximumNumber) return false;
        if (!arguments.read(trace.arguments(id))) return false;
        auto step = arguments.integer32("step");
        if (iterations[i] >= 0) step = iterations[i];
        if (!step && event.lane == lane) step = before;
        if (!step) return false;
        before = step;
        lane = event.lane;
        const std::int64_t sequence = arguments.integer("seq_id").value_or(-1);
        if (sequence > trace::kMaximumNumber) return false;
        sum += static_cast<double>(event.span.length().ns);
        timeline.steps[*step].push_back(
            {timer, std::max<std::int64_t>(sequence, -1), rank, event.span});
    }
    for (auto& [number, step] : timeline.steps)
        if (!completeSequences(step)) return false;
    return sum < 0x1p61;
}

bool isTask(const TimerEvent& event) { return event.timer->role == TimerRole::Task; }

// The rank of a stage whose order stands for all of them.
std::map<std::int32_t, RankId> firstReplicas(const trace::Trace& trace,
                                             const std::vector<TimerEvent>& step) {
    std::map<std::int32_t, RankId> first;
    const auto place = [&](RankId rank) {
        const trace::Coordinates& at = trace.ranks()[rank].coordinates;
        return std::tuple(at.dp, at.tp, rank);
    };
    for (const TimerEvent& event : step) {
        if (!isTask(event)) continue;
        RankId& known = first[trace.ranks()[event.rank].coordinates.pp];
        if (!known.valid() || place(event.rank) < place(known)) known = event.rank;
    }
    return first;
}

// A stage's order is that of its first replica in the first step that has as many tasks as any, for
// a recording may begin in the middle of one.
ComputeOrders computeOrders(const trace::Trace& trace, const TimerTimeline& timeline) {
    ComputeOrders orders;
    for (const auto& [step, events] : timeline.steps) {
        for (const auto& [stage, rank] : firstReplicas(trace, events)) {
            std::vector<const TimerEvent*> tasks;
            for (const TimerEvent& event : events) {
                if (isTask(event) && event.rank == rank) tasks.push_back(&event);
            }
            auto& order = orders[stage];
            if (tasks.size() <= order.size()) continue;
            std::stable_sort(tasks.begin(), tasks.end(), [](const auto* a, const auto* b) {
                return a->span.begin < b->span.begin;
            });
            order.clear();
            for (const TimerEvent* task : tasks)
                order.emplace_back(task->timer->name, task->sequence);
        }
    }
    return orders;
}

}  // namespace

std::map<std::int32_t, base::Duration> measuredSteps(
    const std::map<std::int32_t, base::Interval>& extents) {
    constexpr double kPitch = 1.1;
    constexpr double kMostLead = 0.05;   // of a step: what it may need before its first timer
    constexpr double kRounding = 1'000;  // ns
    std::map<std::int32_t, base::Duration> laidOut, byExtent;
    bool regular = true;
    double offset = 0;
    for (const auto& [step, extent] : extents) {
        byExtent[step] = extent.length();
        const double length = static_cast<double>(extent.end.ns) - offset;
        const double lead = static_cast<double>(extent.begin.ns) - offset;
        regular = regular && lead >= -kRounding && lead <= kMostLead * length;
        if (!regular) continue;
        laidOut[step] = {std::llround(length)};
        offset += kPitch * length;
    }
    return regular ? laidOut : byExtent;
}

std::map<std::int32_t, base::Interval> timerSteps(const trace::Trace& trace) {
    TimerNames names(trace);
    std::map<std::int32_t, base::Interval> steps;
    if (!hasOnlyTimers(trace, names, false)) return steps;
    trace::Arguments arguments;
    const std::vector<std::int32_t> iterations = iterationsByEvent(trace);
    for (std::size_t i = 0; i < trace.eventCount(); ++i) {
        const auto id = trace::EventId::at(i);
        if (names.of(id) == nullptr) continue;
        const trace::Event event = trace.event(id);
        if (event.kind != trace::EventKind::Range || !arguments.read(trace.arguments(id))) continue;
        auto step = arguments.integer32("step");
        if (iterations[i] >= 0) step = iterations[i];
        if (!step) continue;
        base::Interval& extent = steps.try_emplace(*step, event.span).first->second;
        extent = {std::min(extent.begin, event.span.begin), std::max(extent.end, event.span.end)};
    }
    for (const auto& [step, length] : measuredSteps(steps))
        steps[step].begin = steps[step].end - length;
    return steps;
}

TimerTimeline readTimeline(const trace::Trace& trace) {
    TimerTimeline timeline;
    TimerNames names(trace);
    if (!hasOnlyTimers(trace, names, true)) return timeline;
    if (!readEvents(trace, names, timeline)) return {};
    timeline.orders = computeOrders(trace, timeline);
    return timeline;
}

}  // namespace pleat::graph
