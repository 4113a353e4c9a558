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

#include "importers/file_facts.h"
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
    // So much time of a device went to kernels of a process, for communication or not.
    void worked(trace::RankId rank, std::int64_t device, std::int64_t time_ns, bool communication);
    // A lane for a wait: its rows name the wrong device (0 for every process in exports of 2026),
    // so the context says it. No stream: one lane a device for them, native id -1.
    [[nodiscard]] trace::LaneId waitLane(trace::RankId rank, std::int64_t rowDevice,
                                         std::int64_t context, std::optional<std::int64_t> stream);

    // The last moment known of a lane.
    void saw(trace::LaneId lane, std::int64_t end_ns);
    [[nodiscard]] std::optional<std::int64_t> lastMoment(trace::LaneId lane) const;

    // What a process said of a communicator it joined, or of its rank.
    void joined(std::optional<std::int64_t> globalTid, CommunicatorPlace place);
    void named(std::optional<std::int64_t> globalTid, std::int32_t rank);

    // Gives each process that did a fair share of the work the device it worked most on (others are
    // helpers), and processes their rank: what MPI or they themselves said, or, where only one
    // worked, the environment that it was recorded in.
    void finish(FileFacts& facts);

  private:
    explicit NsightLanes(trace::TraceBuilder& builder) : m_builder(&builder) {}
    [[nodiscard]] base::Result<void> readHosts(const NsightSource& source);
    [[nodiscard]] base::Result<void> readProgramsAndThreads(const NsightSource& source,
                                                            NsightStrings& strings);
    [[nodiscard]] base::Result<void> readDevices(const NsightSource& source);
    [[nodiscard]] base::Result<void> readEnvironment(const NsightSource& source);
    [[nodiscard]] base::Result<void> readMpiRanks(const NsightSource& source);
    void nameDevices();
    void numberRanks();
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
    std::map<std::string, std::int32_t> m_variables;  // of launchers, where they are numbers
    std::unordered_map<std::uint64_t, std::int32_t> m_numbers;  // recorded ranks by process key
    std::map<trace::RankId, CommunicatorPlace> m_communicators;

    std::unordered_map<std::uint64_t, trace::RankId> m_ranks;  // by process key
    std::unordered_map<std::uint64_t, trace::LaneId> m_threads;
    std::map<std::tuple<trace::RankId, std::int64_t, std::int64_t>, trace::LaneId> m_streams;
    std::map<std::pair<trace::RankId, std::int64_t>, std::int64_t> m_deviceOfContext;
    std::map<trace::LaneId, std::int64_t> m_deviceOfLane;
    struct Work {
        std::int64_t rows = 0, kernels_ns = 0;
        bool communicates = false;
    };
    std::map<std::pair<trace::RankId, std::int64_t>, Work> m_workOfDevice;
    std::vector<std::optional<std::int64_t>> m_lastMoment;  // by lane
};

}  // namespace pleat::importers
