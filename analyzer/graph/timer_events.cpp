#include "graph/timer_events.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "trace/arguments.h"
#include "trace/limits.h"

namespace pleat::graph {
namespace {

using trace::RankId;
using trace::Timer;
using trace::TimerRole;

// Timers by the interned name of an event.
class TimerNames {
  public:
    explicit TimerNames(const trace::Trace& trace) : m_trace(trace) {}

    const Timer* of(trace::EventId event) {
        const base::StringId name = m_trace.columns().name[event.index()];
        const auto [known, isNew] = m_known.try_emplace(name, nullptr);
        if (isNew) known->second = trace::timerNamed(m_trace.text(name));
        return known->second;
    }

  private:
    const trace::Trace& m_trace;
    std::unordered_map<base::StringId, const Timer*> m_known;
};

bool hasOnlyTimers(const trace::Trace& trace, TimerNames& names, bool ofOneChunk) {
    const auto& tasks = trace.annotations().tasks;
    return !tasks.empty() && std::all_of(tasks.begin(), tasks.end(), [&](const trace::Task& task) {
        if (!task.event.valid() || (ofOneChunk && task.chunk > 0)) return false;
        const Timer* timer = names.of(task.event);
        return timer != nullptr && timer->role == TimerRole::Task;
    });
}

// False where an event does not say what the rules need, or where they last so long together that
// times could not be added up.
bool readEvents(const trace::Trace& trace, TimerNames& names, TimerTimeline& timeline) {
    trace::Arguments arguments;
    double sum = 0;
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
        const auto step = arguments.integer32("step");
        const auto sequence = arguments.integer("seq_id");
        if (!step || !sequence || *sequence < 0 || *sequence > trace::kMaximumNumber) return false;
        sum += static_cast<double>(event.span.length().ns);
        timeline.steps[*step].push_back({timer, *sequence, rank, event.span});
    }
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
    for (std::size_t i = 0; i < trace.eventCount(); ++i) {
        const auto id = trace::EventId::at(i);
        if (names.of(id) == nullptr) continue;
        const trace::Event event = trace.event(id);
        if (event.kind != trace::EventKind::Range || !arguments.read(trace.arguments(id))) continue;
        const auto step = arguments.integer32("step");
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
