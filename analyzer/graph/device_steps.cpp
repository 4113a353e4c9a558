#include "graph/device_steps.h"

#include <algorithm>
#include <limits>
#include <span>

#include "trace/launch_cursor.h"

namespace pleat::graph {
namespace {

using base::Interval;
using base::TraceTime;
using trace::EventId;
using trace::LaneId;

// Positions among a rank's ranges, ascending; beside them:
constexpr std::int64_t kUnknown = -2;  // whose call is not recorded
constexpr std::int64_t kBefore = -1;   // called before the first range
constexpr TraceTime kNever{std::numeric_limits<std::int64_t>::max()};
constexpr TraceTime kAlways{std::numeric_limits<std::int64_t>::min()};

// Work of one kind, called within one range, one after the other on a stream; what has no recorded
// call stands alone.
struct Work {
    Interval span;  // from the first begin to the latest end
    std::int64_t step = kUnknown;
    DeviceWork kind = DeviceWork::Compute;
    std::int64_t count = 1;
    base::Duration length;  // summed
};

// What a stream did for one step; in order of steps.
struct Done {
    std::int64_t step = 0;
    TraceTime first, last;
    std::int64_t works = 0;
};

struct Stream {
    std::vector<Done> done;
    std::vector<Done> kernels;  // without copies
    base::Duration compute;     // of work called within a range
    bool called = false;        // any of its work has a recorded call
};

class RankSteps {
  public:
    // `ranges` are the rank's, by begin.
    RankSteps(const trace::Trace& trace, const DeviceWorkKinds& kinds,
              std::span<const trace::IterationSpan> ranges)
        : m_trace(trace), m_kinds(kinds), m_ranges(ranges), m_launches(trace) {
        const trace::LaneId lane = trace.columns().lane[ranges.front().event.index()];
        m_onDevice = trace.lanes()[lane].kind == trace::LaneKind::DeviceStream;
    }

    void add(LaneId lane) {
        std::vector<Work> work;
        const auto events = m_trace.eventsOf(lane);
        for (std::size_t e = events.first.index(); e < events.last.index(); ++e) {
            const EventId id = EventId::at(e);
            const DeviceWork kind = m_kinds.of(id);
            if (kind == DeviceWork::None) continue;
            const Interval span = m_trace.event(id).span;
            const EventId call = m_launches.of(id);
            // A device's own ranges hold its work, whenever that was called.
            const std::int64_t step = m_onDevice ? rangeOf(span.begin)
                                      : call.valid()
                                          ? rangeOf({m_trace.columns().startNs[call.index()]})
                                          : kUnknown;
            const bool goesOn = step != kUnknown && !work.empty() && work.back().step == step &&
                                work.back().kind == kind;
            if (!goesOn) {
                work.push_back({span, step, kind, 1, span.length()});
                continue;
            }
            Work& before = work.back();
            before.span.end = std::max(before.span.end, span.end);
            before.length += span.length();
            ++before.count;
        }
        if (work.empty()) return;
        m_streams.push_back(summed(work));
    }

    [[nodiscard]] std::vector<DeviceStep> steps() const {
        std::vector<DeviceStep> steps(m_ranges.size());
        for (std::size_t i = 0; i < steps.size(); ++i) steps[i].span = m_ranges[i].span;
        const Stream* main = trainingStream();
        if (main == nullptr) return steps;
        std::vector<Bound> bounds = boundsOf(*main);
        for (const Stream* other : computing()) {
            if (other != main) narrow(bounds, boundsOf(*other));
        }
        const std::vector<TraceTime> earlier = kernelsOfEarlier();
        for (std::size_t i = 0; i < steps.size(); ++i) place(steps[i], bounds[i], earlier[i]);
        beginFirst(steps.front(), bounds);
        end(steps, *main);
        noteDoubt(steps, *main);
        return steps;
    }

  private:
    // Between what earlier steps and what this one did on a stream.
    struct Bound {
        TraceTime earlier = kAlways, own = kNever;
    };

    // The last range that began by `time`; behind the end of the last, none: as many as there are.
    [[nodiscard]] std::int64_t rangeOf(TraceTime time) {
        const auto isWithin = [&](std::size_t at) {
            return at + 1 < m_ranges.size() && m_ranges[at].span.begin <= time &&
                   time < m_ranges[at + 1].span.begin;
        };
        if (isWithin(m_near)) return static_cast<std::int64_t>(m_near);
        const auto after = std::upper_bound(
            m_ranges.begin(), m_ranges.end(), time,
            [](TraceTime t, const trace::IterationSpan& range) { return t < range.span.begin; });
        if (after == m_ranges.begin()) return kBefore;
        if (after == m_ranges.end() && time >= m_ranges.back().span.end)
            return static_cast<std::int64_t>(m_ranges.size());
        m_near = static_cast<std::size_t>(after - m_ranges.begin() - 1);
        return static_cast<std::int64_t>(m_near);
    }

    // Gives work without a recorded call its step.
    void resolve(std::vector<Work>& work, bool called) {
        std::int64_t near = kBefore;
        std::int64_t unknown = 0, seen = 0;
        bool any = false;
        for (const Work& one : work) {
            any = any || one.step != kUnknown;
            if (!any) continue;
            seen += one.count;
            unknown += one.step == kUnknown ? one.count : 0;
        }
        // Calls of most of this stream's work are missing: that some at its head is without says
        // nothing of when it was called.
        const bool byTime = !called || 2 * unknown > seen;
        any = false;
        for (Work& one : work) {
            any = any || one.step != kUnknown;
            if (one.step != kUnknown) {
                near = one.step;
            } else if (byTime && !any) {
                one.step = rangeOf(one.span.begin);
            } else {
                one.step = near;
            }
        }
    }

    [[nodiscard]] Stream summed(std::vector<Work>& work) {
        Stream stream;
        stream.called = std::any_of(work.begin(), work.end(),
                                    [](const Work& one) { return one.step != kUnknown; });
        std::vector<bool> isCalled;
        for (const Work& one : work) isCalled.push_back(one.step >= 0);
        resolve(work, stream.called);
        const auto within = static_cast<std::int64_t>(m_ranges.size());
        for (std::size_t i = 0; i < work.size(); ++i) {
            const Work& one = work[i];
            add(stream.done, one);
            if (one.kind != DeviceWork::Copy) add(stream.kernels, one);
            const bool counts = (isCalled[i] || !stream.called) && one.step >= 0 &&
                                one.step < within && one.kind == DeviceWork::Compute;
            if (counts) stream.compute += one.length;
        }
        for (auto* list : {&stream.done, &stream.kernels}) {
            std::stable_sort(list->begin(), list->end(),
                             [](const Done& a, const Done& b) { return a.step < b.step; });
        }
        return stream;
    }

    static void add(std::vector<Done>& list, const Work& work) {
        if (list.empty() || list.back().step != work.step)
            list.push_back({work.step, work.span.begin, work.span.end, 0});
        list.back().works += work.count;
        list.back().last = std::max(list.back().last, work.span.end);
    }

    // Most of the compute that was called; where no call was recorded, most of the compute, and
    // else any stream.
    [[nodiscard]] const Stream* trainingStream() const {
        const Stream* best = nullptr;
        for (const Stream& stream : m_streams) {
            const bool better =
                best == nullptr || (stream.called != best->called && stream.compute.ns > 0
                                        ? stream.called || best->compute.ns == 0
                                        : stream.compute > best->compute);
            if (better) best = &stream;
        }
        return best;
    }

    // Streams with compute, most first.
    [[nodiscard]] std::vector<const Stream*> computing() const {
        std::vector<const Stream*> streams;
        for (const Stream& stream : m_streams) {
            if (stream.compute.ns > 0) streams.push_back(&stream);
        }
        std::stable_sort(streams.begin(), streams.end(),
                         [](const Stream* a, const Stream* b) { return a->compute > b->compute; });
        return streams;
    }

    [[nodiscard]] std::vector<Bound> boundsOf(const Stream& stream) const {
        std::vector<Bound> bounds(m_ranges.size());
        std::size_t next = 0;
        TraceTime last = kAlways;
        for (std::size_t i = 0; i < bounds.size(); ++i) {
            const auto step = static_cast<std::int64_t>(i);
            for (; next < stream.done.size() && stream.done[next].step < step; ++next)
                last = std::max(last, stream.done[next].last);
            bounds[i].earlier = last;
            for (std::size_t at = next; at < stream.done.size() && stream.done[at].step == step;
                 ++at)
                bounds[i].own = std::min(bounds[i].own, stream.done[at].first);
        }
        return bounds;
    }

    // Where another stream's bound is within, it tells more exactly.
    static void narrow(std::vector<Bound>& bounds, const std::vector<Bound>& others) {
        for (std::size_t i = 0; i < bounds.size(); ++i) {
            const TraceTime earlier = std::max(bounds[i].earlier, others[i].earlier);
            const TraceTime own = std::min(bounds[i].own, others[i].own);
            if (earlier <= own) bounds[i] = {earlier, own};
        }
    }

    // When all kernels of earlier steps had ended, on any stream.
    [[nodiscard]] std::vector<TraceTime> kernelsOfEarlier() const {
        std::vector<TraceTime> ends(m_ranges.size() + 1, kAlways);
        for (const Stream& stream : m_streams) {
            for (const Done& done : stream.kernels) {
                const std::int64_t from = done.step + 1;
                if (from < static_cast<std::int64_t>(ends.size()))
                    ends[static_cast<std::size_t>(from)] =
                        std::max(ends[static_cast<std::size_t>(from)], done.last);
            }
        }
        for (std::size_t i = 1; i < ends.size(); ++i) ends[i] = std::max(ends[i], ends[i - 1]);
        return ends;
    }

    static void place(DeviceStep& step, Bound bound, TraceTime kernels) {
        step.onDevice = bound.own != kNever;
        const TraceTime free = std::max(bound.earlier, std::min(kernels, bound.own));
        step.span.begin = std::min(std::max(step.span.begin, free), bound.own);
    }

    // Where the host runs ahead from then on, what it takes to get the device going is no part of
    // an iteration.
    void beginFirst(DeviceStep& step, const std::vector<Bound>& bounds) const {
        if (bounds.size() < 2 || bounds[0].earlier != kAlways || !step.onDevice) return;
        if (bounds[1].own != kNever && bounds[1].earlier > m_ranges[1].span.begin)
            step.span.begin = std::max(step.span.begin, bounds[0].own);
    }

    // A step ends with its last kernel, or what the training's stream did last for it. A copy that
    // goes on beside, to a checkpoint, is no part of it.
    void end(std::vector<DeviceStep>& steps, const Stream& main) const {
        const auto extend = [&](const Done& done) {
            if (done.step < 0 || done.step >= static_cast<std::int64_t>(steps.size())) return;
            TraceTime& end = steps[static_cast<std::size_t>(done.step)].span.end;
            end = std::max(end, done.last);
        };
        for (const Stream& stream : m_streams)
            std::for_each(stream.kernels.begin(), stream.kernels.end(), extend);
        std::for_each(main.done.begin(), main.done.end(), extend);
        for (DeviceStep& step : steps) step.span.end = std::max(step.span.end, step.span.begin);
        for (const Done& done : main.done) {
            if (done.step >= 0 && done.step < static_cast<std::int64_t>(steps.size()))
                steps[static_cast<std::size_t>(done.step)].works += done.works;
        }
    }

    // By how much the device was behind its host when it began this step.
    [[nodiscard]] base::Duration behind(const std::vector<DeviceStep>& steps,
                                        std::size_t at) const {
        return steps[at].onDevice ? steps[at].span.begin - m_ranges[at].span.begin
                                  : base::Duration{};
    }

    void noteDoubt(std::vector<DeviceStep>& steps, const Stream& main) const {
        // Without calls, work that goes on behind the last range shows how far ahead the host was.
        base::Duration rest;
        for (const Done& done : main.done) {
            if (done.step >= 0) rest = std::max(rest, done.last - m_ranges.back().span.end);
        }
        rest = std::min(rest, m_ranges.back().span.end - m_ranges.front().span.begin);
        for (std::size_t i = 0; i < steps.size(); ++i) {
            if (!main.called) steps[i].unsure = rest;
            if (!main.called || steps[i].onDevice) continue;
            if (i > 0) steps[i].unsure = behind(steps, i - 1);
            if (i + 1 < steps.size())
                steps[i].unsure = std::max(steps[i].unsure, behind(steps, i + 1));
        }
    }

    const trace::Trace& m_trace;
    const DeviceWorkKinds& m_kinds;
    std::span<const trace::IterationSpan> m_ranges;
    trace::LaunchCursor m_launches;
    bool m_onDevice = false;  // the ranges are a device's
    std::size_t m_near = 0;   // the range found last: calls of one stream seldom leave it
    std::vector<Stream> m_streams;
};

}  // namespace

std::vector<DeviceStep> deviceSteps(const trace::Trace& trace, const DeviceWorkKinds& kinds) {
    const std::span<const trace::IterationSpan> ranges(trace.annotations().iterations);
    std::vector<std::vector<LaneId>> lanes(trace.ranks().size());
    for (std::size_t i = 0; i < trace.lanes().size(); ++i) {
        const trace::Lane& lane = trace.lanes()[LaneId::at(i)];
        if (lane.kind == trace::LaneKind::DeviceStream)
            lanes[lane.rank.index()].push_back(LaneId::at(i));
    }
    std::vector<DeviceStep> steps;
    for (std::size_t first = 0; first < ranges.size();) {
        std::size_t last = first;
        while (last < ranges.size() && ranges[last].rank == ranges[first].rank) ++last;
        RankSteps rank(trace, kinds, ranges.subspan(first, last - first));
        for (const LaneId lane : lanes[ranges[first].rank.index()]) rank.add(lane);
        for (const DeviceStep& step : rank.steps()) steps.push_back(step);
        first = last;
    }
    return steps;
}

}  // namespace pleat::graph
