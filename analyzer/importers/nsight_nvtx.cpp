#include "importers/nsight_nvtx.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "importers/nsight_clock.h"
#include "importers/nsight_payloads.h"

namespace pleat::importers {
namespace {

using enum ColumnNeed;
enum Column {
    kStart,
    kEnd,
    kType,
    kText,
    kTextId,
    kThread,
    kEndThread,
    kDomain,
    kJson,
    kJsonId,
    kBytes,
    kUint64,
    kInt64,
    kUint32,
    kInt32,
    kDouble,
    kFloat,
};
// The text may be in either column; which of them exist depends on the version.
constexpr NsightColumn kColumns[] = {
    {"start", Required},        {"end", Required},         {"eventType", Required},
    {"text", Optional},         {"textId", Optional},      {"globalTid", Wanted},
    {"endGlobalTid", Optional}, {"domainId", Optional},    {"jsonText", Optional},
    {"jsonTextId", Optional},   {"binaryData", Optional},  {"uint64Value", Optional},
    {"int64Value", Optional},   {"uint32Value", Optional}, {"int32Value", Optional},
    {"doubleValue", Optional},  {"floatValue", Optional}};
constexpr NsightSection kNvtx{"nvtx", "NVTX_EVENTS", kColumns,
                              "no markers, so the purpose of the work is unknown; add NVTX ranges "
                              "to the program and record with --trace=nvtx"};
// ENUM_NSYS_EVENT_TYPE.
enum EventType : std::int64_t {
    kCategory = 33,
    kMark = 34,
    kThreadName = 39,
    kPushPopRange = 59,
    kStartEndRange = 60,
    kDomainCreate = 75,
    kDomainDestroy = 76,
    kDeviceName = 97,
    kContextName = 98,
    kStreamName = 99,
};
constexpr std::string_view kNcclDomain = "NCCL";

class NvtxReader {
  public:
    NvtxReader(NsightImport& import, const NsightPayloads& payloads)
        : m_import(import), m_payloads(payloads) {}

    base::Result<void> run() {
        if (const auto read = readCaptureBegin(); !read) return read;
        if (const auto read = readDomains(); !read) return read;
        const auto rows = m_import.source.scan(kNvtx, diagnostics());
        if (!rows) return rows.error();
        if (!rows->has_value()) return {};
        for (bool empty = true;; empty = false) {
            const auto more = (*rows)->step();
            if (!more) return more.error();
            if (!*more && empty) m_import.source.reportMissing(kNvtx, diagnostics());
            if (!*more) break;
            if (const auto read = readRow(**rows); !read) return read;
        }
        addOpenRanges();
        if (m_ncclRanges > 0 && m_ncclPayloads == 0)
            diagnostics().add(
                "nccl_payload_missing",
                "NCCL's ranges carry no sizes, peers or communicators in this export; export the "
                "report with nsys export --type sqlite --include-blobs true",
                m_ncclRanges);
        return {};
    }

  private:
    struct Open {
        trace::Event event;  // begins in the export's time
        std::string arguments;
    };

    base::Diagnostics& diagnostics() { return m_import.builder.diagnostics(); }

    // Times count from the session's start, or are UTC.
    base::Result<void> readCaptureBegin() {
        if (!isUtc(m_import.origin_ns)) return {};
        const auto start = nsightSessionStart(m_import.source);
        if (!start) return start.error();
        m_captureBegin_ns = start->value_or(m_import.origin_ns);
        return {};
    }

    // A domain's row may follow its events, so names are read first.
    base::Result<void> readDomains() {
        const auto rows = m_import.source.scan(kNvtx);
        if (!rows) return rows.error();
        while (rows->has_value()) {
            const store::Statement& row = **rows;
            const auto more = row.step();
            if (!more) return more.error();
            if (!*more) break;
            if (row.integer(kType) != kDomainCreate) continue;
            const auto name = nameOf(row);
            if (!name) return name.error();
            m_domains.insert_or_assign(domainKey(row), *name);
        }
        return {};
    }

    using DomainKey = std::pair<std::uint64_t, std::int64_t>;  // (process, domain)
    static DomainKey domainKey(const store::Statement& row) {
        return {static_cast<std::uint64_t>(row.integer(kThread)) >> 24, row.integer(kDomain)};
    }

    base::Result<base::StringId> nameOf(const store::Statement& row) {
        if (!row.isNull(kText)) return m_import.builder.intern(row.text(kText));
        if (!row.isNull(kTextId)) return m_import.strings.name(row.integer(kTextId));
        return m_import.builder.intern("");
    }

    // Domain 0 is the default one. Exports cut to a window lack the rows that name domains.
    base::StringId domainOf(const store::Statement& row) {
        const DomainKey key = domainKey(row);
        if (key.second == 0) return {};
        const auto [found, isNew] = m_domains.try_emplace(key);
        if (isNew) {
            const bool isNccl = m_payloads.isNccl(key.second);
            const std::string name =
                isNccl ? std::string(kNcclDomain) : fmt::format("domain {}", key.second);
            found->second = m_import.builder.intern(name);
            diagnostics().add("domain_guessed", [&] {
                return fmt::format("domain {} has no name in the export; assumed to be \"{}\"{}",
                                   key.second, name,
                                   isNccl ? " from the fields of its payloads" : "");
            });
        }
        return found->second;
    }

    base::Result<void> readRow(const store::Statement& row) {
        const std::int64_t type = row.integer(kType);
        const bool isRange = type == kPushPopRange || type == kStartEndRange;
        if (!isRange && type != kMark) return ignore(type), base::Result<void>();
        const bool isOpen = isRange && row.isNull(kEnd);
        const std::int64_t start = row.integer(kStart);
        const std::int64_t end = isRange && !isOpen ? row.integer(kEnd) : start;
        if (start < -kLatest_ns || start > kLatest_ns || end < -kLatest_ns || end > kLatest_ns) {
            diagnostics().add("untimed_range", [&] {
                return fmt::format("NVTX_EVENTS: a row from {} to {} ns", start, end);
            });
            return {};
        }
        const auto name = nameOf(row);
        if (!name) return name.error();
        const auto arguments = argumentsOf(row);
        if (!arguments) return arguments.error();
        const trace::LaneId lane = m_import.lanes.thread(integerAt(row, kThread));
        noteRank(row, *name, *arguments);
        const trace::Event event{lane,
                                 *name,
                                 domainOf(row),
                                 isRange ? trace::EventKind::Range : trace::EventKind::Mark,
                                 isOpen ? trace::EventFlag::OpenAtEnd : trace::EventFlag::None,
                                 m_import.span(start, end)};
        if (isRange && start < m_captureBegin_ns)
            diagnostics().add("range_before_capture", [&] {
                return fmt::format("a range began {} ns before the capture",
                                   m_captureBegin_ns - start);
            });
        m_import.lanes.saw(lane, end);
        if (isOpen) {
            m_open.push_back({event, *arguments});
        } else {
            m_import.builder.addEvent(event, *arguments);
        }
        return {};
    }

    // NCCL's range of joining a communicator, and a range or mark that names the rank of its
    // process.
    void noteRank(const store::Statement& row, base::StringId name, const std::string& arguments) {
        if (arguments.find("\"ranks\":") != std::string::npos) {
            const auto object = nlohmann::json::parse(arguments, nullptr, false);
            const auto number = [&](const char* key) {
                const auto found = object.find(key);
                return found != object.end() && found->is_number_integer()
                           ? found->get<std::int64_t>()
                           : -1;
            };
            if (object.is_object() && object.contains("comms_id") && number("rank") >= 0)
                m_import.lanes.joined(integerAt(row, kThread),
                                      {object["comms_id"].dump(), number("ranks"), number("rank")});
        }
        const auto [known, isNew] = m_rankOfName.try_emplace(name, -1);
        if (isNew) known->second = wholeRank(m_import.builder.text(name));
        if (known->second >= 0) m_import.lanes.named(integerAt(row, kThread), known->second);
    }

    // The number of a name that is nothing but a rank, "rank 3", "global_rank=3"; else -1.
    static std::int32_t wholeRank(std::string_view name) {
        for (const std::string_view word : {"global_rank", "global rank", "rank", "Rank", "RANK"}) {
            if (!name.starts_with(word)) continue;
            const std::size_t digit = name.find_first_not_of(" _:=#-", word.size());
            std::int32_t number = -1;
            if (digit == std::string_view::npos) return -1;
            const auto [end, error] =
                std::from_chars(name.data() + digit, name.data() + name.size(), number);
            return error == std::errc() && end == name.data() + name.size() ? number : -1;
        }
        return -1;
    }

    void ignore(std::int64_t type) {
        constexpr std::int64_t kNames[] = {kCategory,   kThreadName,  kDomainCreate, kDomainDestroy,
                                           kDeviceName, kContextName, kStreamName};
        if (std::find(std::begin(kNames), std::end(kNames), type) != std::end(kNames)) return;
        diagnostics().add("nvtx_event_ignored", [&] {
            return fmt::format("NVTX_EVENTS has rows of eventType {}", type);
        });
    }

    base::Result<std::string> argumentsOf(const store::Statement& row) {
        std::string members;
        if (!row.isNull(kBytes)) {
            const auto* data = static_cast<const char*>(sqlite3_column_blob(row.handle(), kBytes));
            const auto size = static_cast<std::size_t>(sqlite3_column_bytes(row.handle(), kBytes));
            if (data != nullptr) members = m_payloads.fromBytes(row.integer(kDomain), {data, size});
        }
        if (members.empty() && !row.isNull(kJson)) members = m_payloads.fromJson(row.text(kJson));
        if (members.empty() && row.isNull(kJson) && !row.isNull(kJsonId)) {
            const auto text = m_import.strings.text(row.integer(kJsonId));
            if (!text) return text.error();
            members = m_payloads.fromJson(*text);
        }
        countNccl(row, !members.empty());
        if (members.empty()) members = plainPayload(row);
        const auto endThread = integerAt(row, kEndThread);
        if (endThread && *endThread != row.integer(kThread))
            members += fmt::format("{}\"end_thread\":{}", members.empty() ? "" : ",",
                                   static_cast<std::uint64_t>(*endThread) % 0x1000000);
        return members.empty() ? std::string() : '{' + members + '}';
    }

    void countNccl(const store::Statement& row, bool hasPayload) {
        if (row.integer(kDomain) == 0) return;
        if (!m_nccl.valid()) m_nccl = m_import.builder.intern(kNcclDomain);
        if (domainOf(row) != m_nccl) return;
        ++m_ncclRanges;
        if (hasPayload) ++m_ncclPayloads;
    }

    // The one number of an event without a schema, named as our recorder names it.
    static std::string plainPayload(const store::Statement& row) {
        if (!row.isNull(kUint64))
            return fmt::format("\"payload\":{}", static_cast<std::uint64_t>(row.integer(kUint64)));
        for (const int column : {kInt64, kUint32, kInt32}) {
            if (!row.isNull(column)) return fmt::format("\"payload\":{}", row.integer(column));
        }
        for (const int column : {kDouble, kFloat}) {
            if (!row.isNull(column) && std::isfinite(row.real(column)))
                return fmt::format("\"payload\":{}", row.real(column));
        }
        return {};
    }

    void addOpenRanges() {
        for (Open& open : m_open) {
            const std::int64_t last = m_import.lanes.lastMoment(open.event.lane).value_or(0);
            open.event.span.end = {std::max(last - m_import.origin_ns, open.event.span.begin.ns)};
            diagnostics().add("open_range", [&] {
                return fmt::format("a range that began at {} ns has no end",
                                   open.event.span.begin.ns);
            });
            m_import.builder.addEvent(open.event, open.arguments);
        }
    }

    NsightImport& m_import;
    const NsightPayloads& m_payloads;
    std::map<DomainKey, base::StringId> m_domains;
    std::vector<Open> m_open;
    std::map<base::StringId, std::int32_t> m_rankOfName;
    base::StringId m_nccl;
    std::int64_t m_captureBegin_ns = 0;
    std::int64_t m_ncclRanges = 0, m_ncclPayloads = 0;
};

}  // namespace

const NsightSection& nsightNvtxSection() { return kNvtx; }

base::Result<void> readNsightNvtx(NsightImport& import) {
    const auto payloads = NsightPayloads::open(import.source);
    if (!payloads) return payloads.error();
    return NvtxReader(import, *payloads).run();
}

}  // namespace pleat::importers
