// One process of the recorded tree as the drain sees it: its rings, its definitions, its lanes, its
// open ranges. Used by the drain thread alone.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/diagnostics.h"
#include "base/string_pool.h"
#include "collector/clock.h"
#include "collector/payload_layout.h"
#include "collector/range_matcher.h"
#include "collector/ring_reader.h"
#include "trace/model.h"

namespace pleat::collector {

// "unknown" where the system does not tell.
[[nodiscard]] std::string hostName();

class RecordedProcess {
  public:
    struct Sink {
        std::function<trace::RankId(const trace::Rank&)> addRank;
        std::function<trace::LaneId(const trace::Lane&)> addLane;
        std::function<void(MatchedEvent)> addEvent;
        std::function<bool(base::TraceTime)> recording;  // is this moment inside the recorded span?
    };
    RecordedProcess(std::int64_t pid, base::StringPool& texts, const TickClock& clock, Sink sink);

    // A ring file of this process that was not there before.
    void addRing(MappedRing ring, RingReader reader);
    // Everything published by now, in the order of each thread; true when there was anything.
    bool drain();
    // After the last drain: open ranges, losses, how the process ended.
    void finish();

    [[nodiscard]] std::int64_t pid() const { return m_pid; }
    [[nodiscard]] trace::RankId rankId() const { return m_rankId; }
    [[nodiscard]] const trace::Rank& rank() const { return m_rank; }
    // Lanes whose thread was named after its first event.
    [[nodiscard]] std::vector<std::pair<trace::LaneId, std::string>> namedLanes() const;
    [[nodiscard]] const base::Diagnostics& diagnostics() const { return m_diagnostics; }

  private:
    struct ThreadRing {
        MappedRing memory;
        RingReader reader;
        trace::LaneId lane;
        std::int64_t tid;
    };
    void readDefinitions();
    void define(const RingEvent& event);
    void handle(const RingEvent& event, ThreadRing& thread);
    void introduce();
    [[nodiscard]] std::string_view textOf(std::uint32_t name) const;
    [[nodiscard]] std::string argumentsOf(const RingEvent& event);
    [[nodiscard]] bool alive() const;

    std::int64_t m_pid;
    base::StringPool& m_texts;
    const TickClock& m_clock;
    Sink m_sink;
    RangeMatcher m_matcher;
    std::optional<ThreadRing> m_definitions;
    std::vector<std::unique_ptr<ThreadRing>> m_threads;
    std::unordered_map<std::uint32_t, base::StringId> m_strings;
    std::unordered_map<std::uint16_t, base::StringId> m_domains;
    std::unordered_map<std::uint64_t, std::vector<PayloadField>> m_schemas;
    std::unordered_map<std::int64_t, std::string> m_threadNames;
    trace::Rank m_rank;
    trace::RankId m_rankId;
    bool m_saidGoodbye = false;
    base::Diagnostics m_diagnostics;
};

}  // namespace pleat::collector
