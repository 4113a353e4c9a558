#include "importers/nsight_clock.h"

#include <string_view>

namespace pleat::importers {
namespace {

using enum ColumnNeed;
constexpr NsightColumn kSessionColumns[] = {{"utcEpochNs", Required}, {"systemClockNs", Optional}};
constexpr NsightSection kSession{"session", "TARGET_INFO_SESSION_START_TIME", kSessionColumns, ""};
constexpr NsightColumn kNamedColumns[] = {{"name", Required}, {"value", Required}};
constexpr NsightSection kMachine{"machine", "TARGET_INFO_SYSTEM_ENV", kNamedColumns, ""};
constexpr NsightSection kExport{"export", "META_DATA_EXPORT", kNamedColumns, ""};
constexpr NsightSection kCapture{"capture", "META_DATA_CAPTURE", kNamedColumns, ""};
constexpr NsightColumn kGpuColumns[] = {{"uuid", Required}};
constexpr NsightSection kGpus{"devices", "TARGET_INFO_GPU", kGpuColumns, ""};

struct SessionStart {
    std::int64_t unix_ns = 0;
    std::optional<std::int64_t> monotonic_ns;
};

base::Result<std::optional<SessionStart>> sessionStart(const NsightSource& source) {
    std::optional<SessionStart> start;
    const auto read = forEachRow(source.scan(kSession), [&](const store::Statement& row) {
        if (!start && isUtc(row.integer(0)))
            start = SessionStart{row.integer(0), integerAt(row, 1)};
    });
    if (!read) return read.error();
    return start;
}

// The value of a name, the first that there is; empty without one.
base::Result<std::string> valueOf(const NsightSource& source, const NsightSection& section,
                                  std::string_view name) {
    std::string value;
    const auto read = forEachRow(source.scan(section), [&](const store::Statement& row) {
        if (value.empty() && row.text(0) == name) value = row.text(1);
    });
    if (!read) return read.error();
    return value;
}

// Exports without the machine's table may still say where they were made: mostly the same place,
// but a report may be exported on a desk as well.
base::Result<void> readHost(const NsightSource& source, FileClock& clock) {
    struct Place {
        const NsightSection& section;
        std::string_view name;
        bool guessed;
    };
    for (const Place& place :
         {Place{kMachine, "Hostname", false}, Place{kCapture, "DEVICE_DISPLAY_NAME", false},
          Place{kExport, "EXPORT_HOST", true}}) {
        auto host = valueOf(source, place.section, place.name);
        if (!host) return host.error();
        if (host->empty()) continue;
        clock.host = std::move(*host);
        clock.hostGuessed = place.guessed;
        return {};
    }
    return {};
}

}  // namespace

base::Result<std::optional<std::int64_t>> nsightSessionStart(const NsightSource& source) {
    const auto start = sessionStart(source);
    if (!start) return start.error();
    if (!start->has_value()) return std::optional<std::int64_t>();
    return std::optional<std::int64_t>((*start)->unix_ns);
}

base::Result<FileClock> readNsightClock(const NsightSource& source, std::int64_t origin_ns) {
    FileClock clock;
    const auto start = sessionStart(source);
    if (!start) return start.error();
    if (isUtc(origin_ns)) {
        clock.utc = true;
        clock.base = {origin_ns};
    } else if (start->has_value()) {
        clock.utc = true;
        clock.base = {(*start)->unix_ns + origin_ns};
    }
    if (start->has_value() && (*start)->monotonic_ns.value_or(0) > 0)
        clock.bootUnix_ns = (*start)->unix_ns - *(*start)->monotonic_ns;
    if (const auto read = readHost(source, clock); !read) return read.error();
    const auto read = forEachRow(source.scan(kGpus), [&](const store::Statement& row) {
        if (!row.text(0).empty()) clock.devices.emplace(row.text(0));
    });
    if (!read) return read.error();
    return clock;
}

}  // namespace pleat::importers
