// Spreads the events of a lane over tracks so that the events of one track nest or lie apart, which
// trace viewers demand of a thread. An event stays on the lane's own track where it nests with
// those before it; one that overlaps goes to the first further track where it does, in order of
// start. Needs memory only for the events that had to move. Immutable; may be read from any thread.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "trace/trace.h"

namespace pleat::report {

// Perfetto draws no deeper stack.
inline constexpr std::size_t kDeepestStack = 512;

class EventTracks {
  public:
    explicit EventTracks(const trace::Trace& trace);

    // 0 is the lane's own track.
    [[nodiscard]] std::uint32_t trackOf(trace::EventId event) const;
    [[nodiscard]] std::uint32_t tracksOf(trace::LaneId lane) const { return m_tracks[lane]; }

  private:
    std::vector<std::pair<trace::EventId, std::uint32_t>> m_moved;  // ascending
    base::IdVector<trace::LaneTag, std::uint32_t> m_tracks;         // at least one
};

}  // namespace pleat::report
