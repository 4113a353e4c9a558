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
#include "base/result.h"
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
    // Fixes what the next drain reads: what is published now. Rings made before now have to be
    // added between the two, for the definitions in them.
    void observe();
    // Everything observed, in the order of each thread; true when there was anything. A ring whose
    // thread has ended is given back once it is empty.
    bool drain();
    // After a drain of a process that is gone: its rings are given back.
    void release();
    [[nodiscard]] bool released() const { return m_released; }
    [[nodiscard]] bool alive() const;
    // After the last drain: open ranges, losses, how the process ended. `known` is what its parent
    // was told, Unknown where that was not us.
    void finish(trace::ProcessEnd known);
    // A process that inherited its parent's rank number without being that rank.
    void demote() { m_rank.number = -1; }
    // Its number is one that MPI or Slurm gave it or a process above it.
    [[nodiscard]] bool hasRankOfLauncher() const { return m_rankOfLauncher; }

    [[nodiscard]] std::int64_t pid() const { return m_pid; }
    [[nodiscard]] std::int64_t parentPid() const { return m_parentPid; }
    [[nodiscard]] trace::RankId rankId() const { return m_rankId; }
    [[nodiscard]] const trace::Rank& rank() const { return m_rank; }
    // NVTX domains that the program made, also those that were not to be recorded.
    [[nodiscard]] std::vector<std::string_view> domains() const;
    // Lanes whose thread was named after its first event.
    [[nodiscard]] std::vector<std::pair<trace::LaneId, std::string>> namedLanes() const;
    [[nodiscard]] const base::Diagnostics& diagnostics() const { return m_diagnostics; }

  private:
    struct ThreadRing {
        MappedRing memory;
        RingReader reader;
        trace::LaneId lane;
        std::int64_t tid;
        bool ended = false;  // before what was last observed
    };
    // What the producers say they could not record; of rings given back too.
    struct Losses {
        std::uint64_t outside = 0, events = 0, ends = 0, tooDeep = 0, pops = 0, payloads = 0,
                      cutNames = 0, unreadable = 0, failed = 0;
    };
    void readDefinitions();
    void readRank(std::string_view text);
    void define(const RingEvent& event);
    void handle(const RingEvent& event, ThreadRing& thread);
    void introduce();
    [[nodiscard]] std::string_view textOf(std::uint32_t name) const;
    [[nodiscard]] std::string argumentsOf(const RingEvent& event);
    void appendPayload(std::string& json, std::string_view blocks);
    [[nodiscard]] EventBegin beginOf(const RingEvent& event, trace::LaneId lane,
                                     base::TraceTime time);
    void countLosses(const ThreadRing& ring);
    void reportLosses();
    void reportEnd(trace::ProcessEnd known);

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
    std::unordered_map<std::uint64_t, std::string> m_categories;  // by domain and category
    std::unordered_map<std::int64_t, std::string> m_threadNames;
    std::vector<std::pair<trace::LaneId, std::int64_t>> m_lanes;  // and their thread ids
    Losses m_losses;
    std::uint64_t m_lostDefinitions = 0;
    base::Error m_firstFailure;  // of Losses::failed
    std::int64_t m_parentPid = 0;
    bool m_released = false;
    trace::Rank m_rank;
    bool m_rankOfLauncher = false;
    trace::RankId m_rankId;
    bool m_saidGoodbye = false;
    base::Diagnostics m_diagnostics;
};

}  // namespace pleat::collector
