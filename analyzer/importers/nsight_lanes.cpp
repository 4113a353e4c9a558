#include "importers/nsight_lanes.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

namespace pleat::importers {
namespace {

constexpr std::uint64_t kThreads = 0x1000000;  // of a process, and processes of a host
constexpr std::int64_t kNoStream = -1;

using enum ColumnNeed;
constexpr NsightColumn kEnvironment[] = {
    {"name", Required}, {"value", Required}, {"globalVid", Optional}};
constexpr NsightSection kHosts{"hosts", "TARGET_INFO_SYSTEM_ENV", kEnvironment, ""};
constexpr NsightColumn kProcessColumns[] = {{"globalPid", Required}, {"name", Required}};
constexpr NsightSection kProcesses{"processes", "PROCESSES", kProcessColumns, ""};
constexpr NsightColumn kThreadColumns[] = {{"globalTid", Required}, {"nameId", Required}};
constexpr NsightSection kThreadNames{"threads", "ThreadNames", kThreadColumns, ""};
constexpr NsightColumn kGpuColumns[] = {{"id", Required}, {"name", Required}};
constexpr NsightSection kGpus{"devices", "TARGET_INFO_GPU", kGpuColumns,
                              "device names are unknown; record with --trace=cuda and export the "
                              "whole report"};
constexpr NsightColumn kDeviceColumns[] = {
    {"pid", Required}, {"cudaId", Required}, {"gpuId", Required}};
constexpr NsightSection kDevices{"device_ordinals", "TARGET_INFO_CUDA_DEVICE", kDeviceColumns, ""};
constexpr NsightColumn kCaptureColumns[] = {{"name", Required}, {"value", Required}};
constexpr NsightSection kCapture{"capture", "META_DATA_CAPTURE", kCaptureColumns, ""};

std::uint64_t bits(std::int64_t id) { return static_cast<std::uint64_t>(id); }

// RANK="3" as torchrun and mpirun give it to each process.
std::optional<std::int32_t> rankNumber(std::string_view variable) {
    for (const std::string_view name : {"RANK=\"", "OMPI_COMM_WORLD_RANK=\""}) {
        if (!variable.starts_with(name)) continue;
        const std::string_view digits = variable.substr(name.size());
        std::int32_t number = -1;
        const auto [end, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), number);
        const bool whole = end != digits.data() + digits.size() && *end == '"';
        if (error == std::errc() && whole && number >= 0) return number;
    }
    return std::nullopt;
}

}  // namespace

base::Result<NsightLanes> NsightLanes::open(const NsightSource& source, NsightStrings& strings,
                                            trace::TraceBuilder& builder) {
    NsightLanes lanes(builder);
    if (const auto read = lanes.readHosts(source); !read) return read.error();
    if (const auto read = lanes.readProgramsAndThreads(source, strings); !read) return read.error();
    if (const auto read = lanes.readDevices(source); !read) return read.error();
    if (const auto read = lanes.readRankNumber(source); !read) return read.error();
    return lanes;
}

base::Result<void> NsightLanes::readHosts(const NsightSource& source) {
    return forEachRow(source.scan(kHosts), [&](const store::Statement& row) {
        if (row.text(0) == "Hostname")
            m_hosts.try_emplace(bits(row.integer(2)) / kThreads / kThreads, row.text(1));
    });
}

base::Result<void> NsightLanes::readProgramsAndThreads(const NsightSource& source,
                                                       NsightStrings& strings) {
    const auto programs = forEachRow(source.scan(kProcesses), [&](const store::Statement& row) {
        if (!row.text(1).empty())
            m_programs.try_emplace(bits(row.integer(0)) / kThreads,
                                   std::filesystem::path(row.text(1)).filename().string());
    });
    if (!programs) return programs;
    base::Result<void> names;
    const auto threads = forEachRow(source.scan(kThreadNames), [&](const store::Statement& row) {
        const auto text = strings.text(row.integer(1));
        if (!text) {
            names = text.error();
        } else if (!text->empty()) {
            m_threadNames.try_emplace(bits(row.integer(0)), *text);
        }
    });
    return threads ? names : threads;
}

base::Result<void> NsightLanes::readDevices(const NsightSource& source) {
    const auto gpus = forEachRow(
        source.scan(kGpus, m_builder->diagnostics()),
        [&](const store::Statement& row) { m_gpuNames.try_emplace(row.integer(0), row.text(1)); });
    if (!gpus) return gpus;
    return forEachRow(source.scan(kDevices), [&](const store::Statement& row) {
        m_gpuOfDevice[{row.integer(0), row.integer(1)}] = row.integer(2);
    });
}

base::Result<void> NsightLanes::readRankNumber(const NsightSource& source) {
    return forEachRow(source.scan(kCapture), [&](const store::Statement& row) {
        if (!m_rankNumber && row.text(0).ends_with("ENVIRONMENT_VARIABLE"))
            m_rankNumber = rankNumber(row.text(1));
    });
}

std::string NsightLanes::hostOf(std::uint64_t processKey) const {
    const auto host = m_hosts.find(processKey / kThreads);
    if (host != m_hosts.end()) return host->second;
    return m_hosts.size() == 1 ? m_hosts.begin()->second : std::string();
}

trace::RankId NsightLanes::process(std::optional<std::int64_t> globalId) {
    if (!globalId) {
        m_builder->diagnostics().add(
            base::Severity::Info, "process_not_recorded",
            "events without a process are those of the only process, or of process 0");
        if (m_ranks.size() == 1) return m_ranks.begin()->second;
    }
    const std::uint64_t key = bits(globalId.value_or(0)) / kThreads;
    if (const auto known = m_ranks.find(key); known != m_ranks.end()) return known->second;
    trace::Rank rank;
    rank.pid = static_cast<std::int64_t>(key % kThreads);
    rank.host = hostOf(key);
    if (const auto program = m_programs.find(key); program != m_programs.end())
        rank.program = program->second;
    return m_ranks.emplace(key, m_builder->addRank(std::move(rank))).first->second;
}

trace::LaneId NsightLanes::thread(std::optional<std::int64_t> globalTid) {
    const trace::RankId rank = process(globalTid);
    const std::uint64_t key = bits(globalTid.value_or(0));
    if (const auto known = m_threads.find(key); known != m_threads.end()) return known->second;
    trace::Lane lane{rank, trace::LaneKind::HostThread, static_cast<std::int64_t>(key % kThreads),
                     ""};
    if (const auto name = m_threadNames.find(key); name != m_threadNames.end())
        lane.name = name->second;
    return m_threads.emplace(key, m_builder->addLane(std::move(lane))).first->second;
}

std::string NsightLanes::laneName(trace::RankId rank, std::int64_t device,
                                  std::optional<std::int64_t> stream) const {
    std::string name = stream ? fmt::format("cuda:{} stream {}", device, *stream)
                              : fmt::format("cuda:{} waits", device);
    const auto mapped = m_gpuOfDevice.find({m_builder->ranks()[rank].pid, device});
    const auto gpu = m_gpuNames.find(mapped == m_gpuOfDevice.end() ? device : mapped->second);
    if (gpu != m_gpuNames.end()) name += fmt::format(" ({})", gpu->second);
    return name;
}

trace::LaneId NsightLanes::deviceLane(trace::RankId rank, std::int64_t device,
                                      std::optional<std::int64_t> stream) {
    const auto [found, isNew] =
        m_streams.try_emplace({rank, device, stream.value_or(kNoStream)}, trace::LaneId());
    if (isNew)
        found->second =
            m_builder->addLane({rank, trace::LaneKind::DeviceStream, stream.value_or(kNoStream),
                                laneName(rank, device, stream)});
    return found->second;
}

trace::LaneId NsightLanes::stream(trace::RankId rank, std::int64_t device, std::int64_t context,
                                  std::int64_t stream) {
    m_deviceOfContext.try_emplace({rank, context}, device);
    ++m_workOfDevice[{rank, device}];
    return deviceLane(rank, device, stream);
}

trace::LaneId NsightLanes::waitLane(trace::RankId rank, std::int64_t rowDevice,
                                    std::int64_t context, std::optional<std::int64_t> stream) {
    const auto device = m_deviceOfContext.find({rank, context});
    return deviceLane(rank, device == m_deviceOfContext.end() ? rowDevice : device->second, stream);
}

void NsightLanes::saw(trace::LaneId lane, std::int64_t end_ns) {
    if (m_lastMoment.size() <= lane.index()) m_lastMoment.resize(lane.index() + 1);
    std::optional<std::int64_t>& last = m_lastMoment[lane.index()];
    if (!last || *last < end_ns) last = end_ns;
}

std::optional<std::int64_t> NsightLanes::lastMoment(trace::LaneId lane) const {
    return lane.index() < m_lastMoment.size() ? m_lastMoment[lane.index()] : std::nullopt;
}

void NsightLanes::finish() {
    std::map<trace::RankId, std::int64_t> most;
    for (const auto& [key, work] : m_workOfDevice) {
        if (work <= most[key.first]) continue;
        most[key.first] = work;
        m_builder->ranks()[key.first].device = fmt::format("cuda:{}", key.second);
    }
    // The environment is that of the program nsys started: with more processes, of none of them.
    if (m_rankNumber && m_ranks.size() == 1)
        m_builder->ranks()[m_ranks.begin()->second].number = *m_rankNumber;
}

}  // namespace pleat::importers
