// The processes, threads and streams of an export, made when an event first names them: exports
// list hundreds of processes that did nothing. Nsight packs host, process and thread into one
// number: thread = id % 2^24, process = id / 2^24 % 2^24, the host above. A process is told from
// others by all its bits but the thread's, so that equal process ids of two hosts stay apart; two
// processes on one device ordinal have lanes of their own. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "importers/nsight_strings.h"

namespace pleat::importers {

class NsightLanes {
  public:
    // Reads the names of hosts, programs, threads and devices.
    [[nodiscard]] static base::Result<NsightLanes> open(const NsightSource& source,
                                                        NsightStrings& strings,
                                                        trace::TraceBuilder& builder);

    // Where an event does not say its process, it is that of the only process so far, or else one
    // process of its own with pid 0 ("process_not_recorded").
    [[nodiscard]] trace::RankId process(std::optional<std::int64_t> globalId);
    [[nodiscard]] trace::LaneId thread(std::optional<std::int64_t> globalTid);
    // A lane for work; remembers which device a context belongs to.
    [[nodiscard]] trace::LaneId stream(trace::RankId rank, std::int64_t device,
                                       std::int64_t context, std::int64_t stream);
    // A lane for a wait: its rows name the wrong device (0 for every process in exports of 2026),
    // so the context says it. No stream: one lane a device for them, native id -1.
    [[nodiscard]] trace::LaneId waitLane(trace::RankId rank, std::int64_t rowDevice,
                                         std::int64_t context, std::optional<std::int64_t> stream);

    // The last moment known of a lane.
    void saw(trace::LaneId lane, std::int64_t end_ns);
    [[nodiscard]] std::optional<std::int64_t> lastMoment(trace::LaneId lane) const;

    // Gives each rank the device it worked most on, and the one rank of an export that was recorded
    // in an environment with RANK its number.
    void finish();

  private:
    explicit NsightLanes(trace::TraceBuilder& builder) : m_builder(&builder) {}
    [[nodiscard]] base::Result<void> readHosts(const NsightSource& source);
    [[nodiscard]] base::Result<void> readProgramsAndThreads(const NsightSource& source,
                                                            NsightStrings& strings);
    [[nodiscard]] base::Result<void> readDevices(const NsightSource& source);
    [[nodiscard]] base::Result<void> readRankNumber(const NsightSource& source);
    [[nodiscard]] std::string laneName(trace::RankId rank, std::int64_t device,
                                       std::optional<std::int64_t> stream) const;
    [[nodiscard]] std::string hostOf(std::uint64_t processKey) const;
    trace::LaneId deviceLane(trace::RankId rank, std::int64_t device,
                             std::optional<std::int64_t> stream);

    trace::TraceBuilder* m_builder;
    std::map<std::uint64_t, std::string> m_hosts;               // by the bits above the process
    std::unordered_map<std::uint64_t, std::string> m_programs;  // by process key
    std::unordered_map<std::uint64_t, std::string> m_threadNames;
    std::map<std::int64_t, std::string> m_gpuNames;
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> m_gpuOfDevice;  // (pid, ordinal)
    std::optional<std::int32_t> m_rankNumber;

    std::unordered_map<std::uint64_t, trace::RankId> m_ranks;  // by process key
    std::unordered_map<std::uint64_t, trace::LaneId> m_threads;
    std::map<std::tuple<trace::RankId, std::int64_t, std::int64_t>, trace::LaneId> m_streams;
    std::map<std::pair<trace::RankId, std::int64_t>, std::int64_t> m_deviceOfContext;
    std::map<std::pair<trace::RankId, std::int64_t>, std::int64_t> m_workOfDevice;
    std::vector<std::optional<std::int64_t>> m_lastMoment;  // by lane
};

}  // namespace pleat::importers
