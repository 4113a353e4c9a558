#include "importers/nsight_lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

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
constexpr NsightColumn kMpiColumns[] = {{"globalTid", Required}, {"rank", Required}};
constexpr NsightSection kMpiRanks{"mpi_ranks", "MPI_RANKS", kMpiColumns, ""};

std::uint64_t bits(std::int64_t id) { return static_cast<std::uint64_t>(id); }

// Variables that launchers give to each process, the surest first: torchrun's, then those of MPI
// and of Slurm, which also reach what runs beneath.
constexpr std::string_view kRankVariables[] = {"RANK",     "OMPI_COMM_WORLD_RANK", "PMIX_RANK",
                                               "PMI_RANK", "MV2_COMM_WORLD_RANK",  "SLURM_PROCID"};
constexpr std::string_view kNodeVariables[] = {"GROUP_RANK", "NODE_RANK", "SLURM_NODEID"};

// Adds NAME="3" or NAME=3 where the value is a number.
void readVariable(std::string_view variable, std::map<std::string, std::int32_t>& variables) {
    const std::size_t equals = variable.find('=');
    if (equals == std::string_view::npos) return;
    std::string_view digits = variable.substr(equals + 1);
    if (digits.starts_with('"')) digits.remove_prefix(1);
    if (digits.ends_with('"')) digits.remove_suffix(1);
    std::int32_t number = -1;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error == std::errc() && end == digits.data() + digits.size() && number >= 0)
        variables.try_emplace(std::string(variable.substr(0, equals)), number);
}

template <std::size_t N>
std::optional<std::int32_t> firstOf(const std::map<std::string, std::int32_t>& variables,
                                    const std::string_view (&names)[N]) {
    for (const std::string_view name : names) {
        const auto found = variables.find(std::string(name));
        if (found != variables.end()) return found->second;
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
    if (const auto read = lanes.readEnvironment(source); !read) return read.error();
    if (const auto read = lanes.readMpiRanks(source); !read) return read.error();
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

// The environment of the program that was started, and of the machine's service where that ran in
// the launcher's.
base::Result<void> NsightLanes::readEnvironment(const NsightSource& source) {
    const auto ofProgram = forEachRow(source.scan(kCapture), [&](const store::Statement& row) {
        if (row.text(0).ends_with("ENVIRONMENT_VARIABLE")) readVariable(row.text(1), m_variables);
    });
    if (!ofProgram) return ofProgram;
    return forEachRow(source.scan(kHosts), [&](const store::Statement& row) {
        if (row.text(0) != "DeviceEnvironment") return;
        std::string_view all = row.text(1);
        while (!all.empty()) {
            const std::size_t end = std::min(all.find(';'), all.size());
            readVariable(all.substr(0, end), m_variables);
            all.remove_prefix(std::min(end + 1, all.size()));
        }
    });
}

base::Result<void> NsightLanes::readMpiRanks(const NsightSource& source) {
    return forEachRow(source.scan(kMpiRanks), [&](const store::Statement& row) {
        const std::int64_t number = row.integer(1);
        if (std::in_range<std::int32_t>(number) && number >= 0)
            m_numbers.try_emplace(bits(row.integer(0)) / kThreads,
                                  static_cast<std::int32_t>(number));
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
            "process_guessed",
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
    if (isNew) {
        found->second =
            m_builder->addLane({rank, trace::LaneKind::DeviceStream, stream.value_or(kNoStream),
                                laneName(rank, device, stream)});
        m_deviceOfLane[found->second] = device;
    }
    return found->second;
}

trace::LaneId NsightLanes::stream(trace::RankId rank, std::int64_t device, std::int64_t context,
                                  std::int64_t stream) {
    m_deviceOfContext.try_emplace({rank, context}, device);
    ++m_workOfDevice[{rank, device}].rows;
    return deviceLane(rank, device, stream);
}

void NsightLanes::worked(trace::RankId rank, std::int64_t device, std::int64_t time_ns,
                         bool communication) {
    Work& work = m_workOfDevice[{rank, device}];
    work.kernels_ns += time_ns;
    work.communicates = work.communicates || communication;
}

void NsightLanes::joined(std::optional<std::int64_t> globalTid, CommunicatorPlace place) {
    CommunicatorPlace& largest = m_communicators[process(globalTid)];
    if (largest.size < place.size) largest = std::move(place);
}

void NsightLanes::named(std::optional<std::int64_t> globalTid, std::int32_t rank) {
    if (globalTid) m_numbers.try_emplace(bits(*globalTid) / kThreads, rank);
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

// A process that shares the devices with others and hardly ran a kernel there is a helper: it loads
// data, say, or only opened a context.
void NsightLanes::nameDevices() {
    constexpr std::int64_t kLittle = 100;  // a hundredth of the busiest process's work
    std::map<trace::RankId, Work> all;
    for (const auto& [key, work] : m_workOfDevice) {
        all[key.first].kernels_ns += work.kernels_ns;
        all[key.first].communicates = all[key.first].communicates || work.communicates;
    }
    std::int64_t busiest = 0;
    for (const auto& [rank, work] : all) busiest = std::max(busiest, work.kernels_ns);
    std::map<trace::RankId, std::pair<std::int64_t, std::int64_t>> most;
    for (const auto& [key, work] : m_workOfDevice) {
        const Work& whole = all[key.first];
        if (!whole.communicates && busiest > 0 && whole.kernels_ns < busiest / kLittle) continue;
        const std::pair amount(work.kernels_ns, work.rows);
        if (amount <= most[key.first]) continue;
        most[key.first] = amount;
        m_builder->ranks()[key.first].device = fmt::format("cuda:{}", key.second);
    }
}

void NsightLanes::numberRanks() {
    trace::RankId only;
    int working = 0;
    for (const auto& [key, rank] : m_ranks) {
        const auto number = m_numbers.find(key);
        if (number != m_numbers.end()) m_builder->ranks()[rank].number = number->second;
        const bool works = !m_builder->ranks()[rank].device.empty();
        if (works || m_ranks.size() == 1) only = rank;
        working += works ? 1 : 0;
    }
    // The environment is that of the program nsys started: where more processes worked, of none.
    const auto ofEnvironment = firstOf(m_variables, kRankVariables);
    if (ofEnvironment && only.valid() && working <= 1 && m_builder->ranks()[only].number < 0)
        m_builder->ranks()[only].number = *ofEnvironment;
}

void NsightLanes::finish(FileFacts& facts) {
    nameDevices();
    numberRanks();
    facts.communicators = m_communicators;
    facts.deviceOfLane = m_deviceOfLane;
    facts.node = firstOf(m_variables, kNodeVariables);
    // A task of Slurm that starts several processes is mostly a node.
    const auto task = m_variables.find("SLURM_PROCID");
    if (!facts.node && task != m_variables.end()) facts.node = task->second;
}

}  // namespace pleat::importers
