// What the drain thread hands to the insert thread. Bounded: a database that cannot keep up costs
// events, which are counted, and neither memory without end nor a wait. The drain numbers ranks and
// lanes itself, in the order in which they are taken and inserted. Safe from one thread that adds
// and one that takes.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "collector/range_matcher.h"
#include "trace/model.h"

namespace pleat::collector {

// To be inserted in this order: lanes refer to ranks, events to lanes.
struct InsertBatch {
    std::vector<trace::Rank> ranks;
    std::vector<trace::Lane> lanes;
    std::vector<MatchedEvent> events;

    [[nodiscard]] bool empty() const { return ranks.empty() && lanes.empty() && events.empty(); }
};

class InsertQueue {
  public:
    static constexpr std::size_t kMostBytes = std::size_t{128} << 20;  // of events, about a million

    explicit InsertQueue(std::size_t mostBytes = kMostBytes) : m_mostBytes(mostBytes) {}

    [[nodiscard]] trace::RankId addRank(const trace::Rank& rank);
    [[nodiscard]] trace::LaneId addLane(const trace::Lane& lane);
    // Drops and counts the event where the queue is full: what is in it is older and stays.
    void addEvent(MatchedEvent event);
    // Whoever takes need not wait any longer.
    void announce() { m_filled.notify_one(); }
    // Everything that is there. Waits for something, until `stop` or for `patience`.
    [[nodiscard]] InsertBatch take(const std::stop_token& stop, std::chrono::milliseconds patience);

    // Once nobody adds any more.
    [[nodiscard]] std::int64_t dropped() const { return m_dropped; }
    [[nodiscard]] const std::string& firstDropped() const { return m_firstDropped; }

  private:
    const std::size_t m_mostBytes;
    std::mutex m_mutex;  // guards m_batch and m_bytes
    std::condition_variable_any m_filled;
    InsertBatch m_batch;
    std::size_t m_bytes = 0;  // of m_batch.events
    // Of the thread that adds.
    std::uint32_t m_ranks = 0, m_lanes = 0;
    std::int64_t m_dropped = 0;
    std::string m_firstDropped;
};

}  // namespace pleat::collector
