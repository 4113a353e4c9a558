#include "importers/nsight_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "trace/categories.h"

namespace pleat::importers {
namespace {

namespace categories = trace::categories;
using enum ColumnNeed;
using Name = base::Result<base::StringId>;

// Columns every section of device work has; each section's own follow.
enum DeviceColumn { kStart, kEnd, kDevice, kContext, kStream, kCorrelation, kProcess, kOwn };

template <std::size_t Own>
constexpr std::array<NsightColumn, kOwn + Own> deviceColumns(
    const std::array<NsightColumn, Own>& own) {
    std::array<NsightColumn, kOwn + Own> columns{{{"start", Required},
                                                  {"end", Required},
                                                  {"deviceId", Wanted},
                                                  {"contextId", Optional},
                                                  {"streamId", Wanted},
                                                  {"correlationId", Wanted},
                                                  {"globalPid", Wanted}}};
    std::copy(own.begin(), own.end(), columns.begin() + kOwn);
    return columns;
}

// graphNodeId and gridId are read only to tell equal rows from rows written twice.
constexpr auto kKernelColumns = deviceColumns<5>({{{"demangledName", Wanted},
                                                   {"shortName", Optional},
                                                   {"mangledName", Optional},
                                                   {"graphNodeId", Optional},
                                                   {"gridId", Optional}}});
constexpr auto kCopyColumns =
    deviceColumns<3>({{{"copyKind", Wanted}, {"bytes", Wanted}, {"graphNodeId", Optional}}});
constexpr auto kSetColumns = deviceColumns<2>({{{"bytes", Optional}, {"graphNodeId", Optional}}});
constexpr auto kGraphColumns =
    deviceColumns<2>({{{"graphId", Optional}, {"graphExecId", Optional}}});
constexpr auto kWaitColumns = deviceColumns<2>({{{"syncType", Wanted}, {"eventSyncId", Optional}}});

constexpr NsightSection kKernels{"kernels", "CUPTI_ACTIVITY_KIND_KERNEL", kKernelColumns,
                                 "what the devices computed is unknown; record with --trace=cuda "
                                 "and let the program end before the capture"};
constexpr NsightSection kCopies{"copies", "CUPTI_ACTIVITY_KIND_MEMCPY", kCopyColumns,
                                "there were none, or they were not recorded (--trace=cuda)"};
// Programs without sets or graphs are common: their absence says nothing.
constexpr NsightSection kSets{"sets", "CUPTI_ACTIVITY_KIND_MEMSET", kSetColumns, ""};
constexpr NsightSection kGraphs{"graphs", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", kGraphColumns, ""};
constexpr NsightSection kWaits{"waits", "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", kWaitColumns,
                               "which streams waited is unknown; record with --trace=cuda"};

enum CallColumn { kCallStart, kCallEnd, kCallThread, kCallCorrelation, kCallName, kCallClass };
constexpr NsightColumn kCallColumns[] = {{"start", Required},   {"end", Required},
                                         {"globalTid", Wanted}, {"correlationId", Wanted},
                                         {"nameId", Wanted},    {"eventClass", Optional}};
constexpr NsightSection kCalls{"calls", "CUPTI_ACTIVITY_KIND_RUNTIME", kCallColumns,
                               "host calls, and so what launched which work, are unknown; record "
                               "with --trace=cuda"};
constexpr std::int64_t kDriverClass = 1;          // TRACE_PROCESS_EVENT_CUDA_DRIVER
constexpr std::int64_t kAnyStream = 0xffff'ffff;  // CUPTI_SYNCHRONIZATION_INVALID_VALUE

std::string_view at(std::span<const std::string_view> names, std::int64_t index) {
    const auto size = static_cast<std::int64_t>(names.size());
    return names[static_cast<std::size_t>(index >= 0 && index < size ? index : 0)];
}

// By CUpti_ActivityMemcpyKind, and the kinds Nsight adds for unified memory.
constexpr std::array<std::string_view, 14> kCopyKinds = {
    "unknown", "h2d", "d2h", "h2a", "a2h",     "a2a",     "a2d",
    "d2a",     "d2d", "h2h", "p2p", "uvm_h2d", "uvm_d2h", "uvm_d2d"};
constexpr std::array<std::string_view, 14> kCopyNames = {"Memcpy",
                                                         "Memcpy HtoD",
                                                         "Memcpy DtoH",
                                                         "Memcpy HtoA",
                                                         "Memcpy AtoH",
                                                         "Memcpy AtoA",
                                                         "Memcpy AtoD",
                                                         "Memcpy DtoA",
                                                         "Memcpy DtoD",
                                                         "Memcpy HtoH",
                                                         "Memcpy PtoP",
                                                         "Memcpy Unified HtoD",
                                                         "Memcpy Unified DtoH",
                                                         "Memcpy Unified DtoD"};
// By CUpti_ActivitySynchronizationType.
constexpr std::array<std::string_view, 5> kWaitNames = {"Sync", "Event Sync", "Stream Wait Event",
                                                        "Stream Sync", "Context Sync"};

// A call by whose name device work must follow. cudaLaunchHostFunc runs on the host.
bool launchesWork(std::string_view name) {
    return name.find("Launch") != std::string_view::npos &&
           name.find("LaunchHostFunc") == std::string_view::npos;
}

bool namesNccl(std::string_view name) {
    constexpr std::string_view kNccl = "nccl";
    const auto equal = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b; };
    return std::search(name.begin(), name.end(), kNccl.begin(), kNccl.end(), equal) != name.end();
}

class SectionReader {
  public:
    SectionReader(NsightImport& import, const NsightSection& section)
        : m_import(import), m_section(section) {}

    // Calls `take` with every new row that has usable times, and `leave` with those that have not.
    template <class Take, class Leave>
    base::Result<void> read(Take take, Leave leave) {
        base::Diagnostics& diagnostics = m_import.builder.diagnostics();
        const auto rows = m_import.source.scan(m_section, diagnostics);
        if (!rows) return rows.error();
        if (!rows->has_value()) return {};
        const store::Statement& row = **rows;
        SeenRows seen;
        for (bool empty = true;; empty = false) {
            const auto more = row.step();
            if (!more) return more.error();
            if (!*more && empty) m_import.source.reportMissing(m_section, diagnostics);
            if (!*more) return {};
            if (!seen.isNew(row, static_cast<int>(m_section.columns.size()))) {
                diagnostics.add("duplicate_row", where(row));
            } else if (!isTimed(row.integer(0), row.integer(1))) {
                leave(row);
            } else if (const base::Result<void> taken = take(row); !taken) {
                return taken;
            }
        }
    }

    [[nodiscard]] std::string where(const store::Statement& row) const {
        return fmt::format("{}: a row from {} to {} ns", m_section.table, row.integer(0),
                           row.integer(1));
    }

  private:
    NsightImport& m_import;
    const NsightSection& m_section;
};

class DeviceReader {
  public:
    DeviceReader(NsightImport& import, NsightLaunches& launches)
        : m_import(import), m_launches(launches) {}

    // `name` gives a row's name and may set m_arguments.
    template <class NameOf>
    base::Result<void> read(const NsightSection& section, std::string_view category,
                            NameOf nameOf) {
        SectionReader reader(m_import, section);
        const base::StringId domain = m_import.builder.intern(category);
        const bool isWait = category == categories::kDeviceSync;
        const auto take = [&](const store::Statement& row) -> base::Result<void> {
            m_arguments.clear();
            const Name name = nameOf(row);
            if (!name) return name.error();
            const trace::RankId rank = m_import.lanes.process(integerAt(row, kProcess));
            const trace::LaneId lane = laneOf(row, rank, isWait);
            if (section.table == kKernels.table || section.table == kGraphs.table)
                m_import.lanes.worked(rank, row.integer(kDevice),
                                      row.integer(kEnd) - row.integer(kStart),
                                      !m_arguments.empty());
            m_import.lanes.saw(lane, row.integer(kEnd));
            m_launches.addWork(
                {rank, integerAt(row, kCorrelation), m_import.builder.eventCount(), isWait});
            m_import.builder.addEvent(
                {lane, *name, domain, trace::EventKind::Range, trace::EventFlag::None,
                 m_import.span(row.integer(kStart), row.integer(kEnd))},
                m_arguments);
            return {};
        };
        // Untimed work still tells that its launch started something.
        return reader.read(take, [&](const store::Statement& row) {
            m_import.builder.diagnostics().add("untimed_device_work", reader.where(row));
            m_launches.addWork({m_import.lanes.process(integerAt(row, kProcess)),
                                integerAt(row, kCorrelation), std::nullopt, isWait});
        });
    }

    Name kernelName(const store::Statement& row) {
        std::optional<std::int64_t> id;
        for (int column = kOwn; !id && column < kOwn + 3; ++column) id = integerAt(row, column);
        if (!id) return m_import.builder.intern("kernel");
        const auto [known, isNew] = m_isNccl.try_emplace(*id, false);
        if (isNew) {
            const auto text = m_import.strings.text(*id);
            if (!text) return text.error();
            known->second = namesNccl(*text);
        }
        // What joins a collective with the call, and so with the marker around it.
        if (known->second && !row.isNull(kCorrelation))
            m_arguments = fmt::format("{{\"correlation\":{}}}", row.integer(kCorrelation));
        return m_import.strings.name(*id);
    }

    Name copyName(const store::Statement& row) {
        const std::int64_t kind = row.integer(kOwn);
        m_arguments = fmt::format("{{\"bytes\":{},\"copy_kind\":\"{}\"}}", row.integer(kOwn + 1),
                                  at(kCopyKinds, kind));
        return m_import.builder.intern(at(kCopyNames, kind));
    }

    Name graphName(const store::Statement& row) {
        m_import.builder.diagnostics().add("graph_as_whole",
                                           "a CUDA graph launch is one event without its kernels; "
                                           "record with --cuda-graph-trace=node to see them");
        return m_import.builder.intern(fmt::format("CUDA graph {}", row.integer(kOwn)));
    }

    Name waitName(const store::Statement& row) {
        return m_import.builder.intern(at(kWaitNames, row.integer(kOwn)));
    }

  private:
    trace::LaneId laneOf(const store::Statement& row, trace::RankId rank, bool isWait) {
        const std::int64_t device = row.integer(kDevice), context = row.integer(kContext);
        std::optional<std::int64_t> stream = integerAt(row, kStream);
        if (!isWait) return m_import.lanes.stream(rank, device, context, stream.value_or(0));
        if (stream == kAnyStream) stream.reset();
        return m_import.lanes.waitLane(rank, device, context, stream);
    }

    NsightImport& m_import;
    NsightLaunches& m_launches;
    std::string m_arguments;
    std::unordered_map<std::int64_t, bool> m_isNccl;  // by string id
};

}  // namespace

std::vector<const NsightSection*> nsightDeviceSections() {
    return {&kCalls, &kKernels, &kCopies, &kSets, &kGraphs, &kWaits};
}

base::Result<void> readNsightCalls(NsightImport& import, NsightLaunches& launches) {
    SectionReader reader(import, kCalls);
    const base::StringId runtime = import.builder.intern(categories::kRuntimeCall);
    const base::StringId driver = import.builder.intern(categories::kDriverCall);
    std::unordered_map<std::int64_t, bool> isLaunch;  // by string id
    const auto take = [&](const store::Statement& row) -> base::Result<void> {
        const std::int64_t nameId = row.integer(kCallName);
        const Name name = row.isNull(kCallName) ? Name(import.builder.intern("CUDA call"))
                                                : import.strings.name(nameId);
        if (!name) return name.error();
        const auto [known, isNew] = isLaunch.try_emplace(nameId, false);
        if (isNew) {
            const auto text = import.strings.text(nameId);
            if (!text) return text.error();
            known->second = launchesWork(*text);
        }
        const bool isDriver = row.integer(kCallClass) == kDriverClass;
        const trace::LaneId lane = import.lanes.thread(integerAt(row, kCallThread));
        import.lanes.saw(lane, row.integer(kCallEnd));
        launches.addCall({import.builder.lanes()[lane].rank, integerAt(row, kCallCorrelation),
                          import.builder.eventCount(), isDriver, known->second});
        import.builder.addEvent({lane, *name, isDriver ? driver : runtime, trace::EventKind::Range,
                                 trace::EventFlag::None,
                                 import.span(row.integer(kCallStart), row.integer(kCallEnd))});
        return {};
    };
    return reader.read(take, [&](const store::Statement& row) {
        import.builder.diagnostics().add("untimed_call", reader.where(row));
    });
}

base::Result<void> readNsightDeviceWork(NsightImport& import, NsightLaunches& launches) {
    DeviceReader reader(import, launches);
    using Row = store::Statement;
    auto done = reader.read(kKernels, categories::kKernel,
                            [&](const Row& row) { return reader.kernelName(row); });
    if (done)
        done = reader.read(kCopies, categories::kCopy,
                           [&](const Row& row) { return reader.copyName(row); });
    if (done)
        done = reader.read(kSets, categories::kSet,
                           [&](const Row&) { return Name(import.builder.intern("Memset")); });
    if (done)
        done = reader.read(kGraphs, categories::kGraph,
                           [&](const Row& row) { return reader.graphName(row); });
    // Last: waits learn from work which device a context belongs to.
    if (done)
        done = reader.read(kWaits, categories::kDeviceSync,
                           [&](const Row& row) { return reader.waitName(row); });
    return done;
}

}  // namespace pleat::importers
