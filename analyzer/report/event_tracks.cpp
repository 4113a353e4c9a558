#include "report/event_tracks.h"

#include <algorithm>
#include <limits>

namespace pleat::report {
namespace {

using base::TraceTime;

constexpr TraceTime kEmpty{std::numeric_limits<std::int64_t>::max()};

// The stacks of open events of one lane's tracks. Events come in order of start.
class OpenEvents {
  public:
    std::uint32_t place(base::Interval span) {
        std::uint32_t track = 0;
        while (track < m_stacks.size() && !fits(track, span)) ++track;
        if (track == m_stacks.size()) {
            m_stacks.emplace_back();
            m_innermost.push_back(kEmpty);
        }
        m_stacks[track].push_back(span.end);
        m_innermost[track] = span.end;
        return track;
    }
    [[nodiscard]] std::uint32_t tracks() const {
        return static_cast<std::uint32_t>(m_stacks.size());
    }

  private:
    bool fits(std::uint32_t track, base::Interval span) {
        // Alone in the common case, and without touching the stack: with thousands of tracks this
        // line is the whole cost.
        if (m_innermost[track] < span.end && m_innermost[track] > span.begin) return false;
        std::vector<TraceTime>& stack = m_stacks[track];
        while (!stack.empty() && stack.back() <= span.begin && stack.back() < span.end)
            stack.pop_back();
        m_innermost[track] = stack.empty() ? kEmpty : stack.back();
        return m_innermost[track] >= span.end && stack.size() < kDeepestStack;
    }

    std::vector<std::vector<TraceTime>> m_stacks;  // [track]: ends, the innermost last
    std::vector<TraceTime> m_innermost;            // [track]: the stack's last, or kEmpty
};

}  // namespace

EventTracks::EventTracks(const trace::Trace& trace) : m_tracks(trace.lanes().size(), 1) {
    for (std::size_t position = 0; position < trace.lanes().size(); ++position) {
        const trace::LaneId lane = trace.lanes().idAt(position);
        OpenEvents open;
        const auto [first, last] = trace.eventsOf(lane);
        for (std::uint32_t i = first.index(); i < last.index(); ++i) {
            const std::uint32_t track = open.place(trace.event(trace::EventId(i)).span);
            if (track != 0) m_moved.emplace_back(trace::EventId(i), track);
        }
        m_tracks[lane] = std::max(1U, open.tracks());
    }
    // Events are grouped by lane in ascending order, so m_moved ascends.
}

std::uint32_t EventTracks::trackOf(trace::EventId event) const {
    const auto found = std::lower_bound(m_moved.begin(), m_moved.end(), std::pair(event, 0U));
    return found != m_moved.end() && found->first == event ? found->second : 0;
}

}  // namespace pleat::report
