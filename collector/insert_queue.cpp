#include "collector/insert_queue.h"

#include <fmt/format.h>

#include <utility>

namespace pleat::collector {

trace::RankId InsertQueue::addRank(const trace::Rank& rank) {
    const std::scoped_lock lock(m_mutex);
    m_batch.ranks.push_back(rank);
    return trace::RankId(m_ranks++);
}

trace::LaneId InsertQueue::addLane(const trace::Lane& lane) {
    const std::scoped_lock lock(m_mutex);
    m_batch.lanes.push_back(lane);
    return trace::LaneId(m_lanes++);
}

void InsertQueue::addEvent(MatchedEvent event) {
    const std::size_t bytes = sizeof event + event.arguments.size();
    {
        const std::scoped_lock lock(m_mutex);
        if (m_bytes + bytes <= m_mostBytes) {
            m_batch.events.push_back(std::move(event));
            m_bytes += bytes;
            return;
        }
    }
    if (++m_dropped == 1)
        m_firstDropped = fmt::format("\"{}\" at {} ns", event.name, event.start.ns);
}

InsertBatch InsertQueue::take(const std::stop_token& stop, std::chrono::milliseconds patience) {
    std::unique_lock lock(m_mutex);
    m_filled.wait_for(lock, stop, patience, [&] { return !m_batch.empty(); });
    m_bytes = 0;
    return std::exchange(m_batch, {});
}

}  // namespace pleat::collector
