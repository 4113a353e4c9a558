// What the files of one run say about the clocks their times were read from, and which of them read
// one clock: two recordings of one host that both relate their times to UTC do. A host's name alone
// is weak (containers of one image share it), so whatever contradicts it keeps files apart: other
// devices, other process ids at one time, another moment of booting. Pure.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/interval_set.h"
#include "base/time.h"

namespace pleat::importers {

struct FileClock {
    base::Duration base;            // what to add to its times, as they were added to the trace
    bool utc = false;               // that gives UTC; else they count from a moment of their own
    std::string host;               // empty: not known
    bool hostGuessed = false;       // the name is that of where the file was made, for example
    std::set<std::string> devices;  // unique ids of the devices of its machine, where listed
    std::optional<std::int64_t> bootUnix_ns;  // when its machine's monotonic clock was 0
    bool countsFromBoot = false;       // its times were read from that clock, and UTC only once
    std::set<std::int64_t> processes;  // ids of those that recorded
    base::Interval recorded;           // with `base` added
};

// The clock of each file, equal numbers for one clock; counted from 0 in order of the files.
[[nodiscard]] std::vector<std::int32_t> clocksOf(std::span<const FileClock> files);

// The host in a name that PyTorch's trace handler gives, HOST_PID.MOMENT.pt.trace.json, where the
// process id is the one that is meant; else empty.
[[nodiscard]] std::string hostInFileName(const std::filesystem::path& file, std::int64_t pid);

// Is this moment plausible as UTC, and not as a time that counts from a program's own start?
// 2001-09-09 on; a machine that runs for 31 years does not trace.
[[nodiscard]] constexpr bool isUtc(std::int64_t time_ns) {
    return time_ns >= 1'000'000'000'000'000'000;
}

}  // namespace pleat::importers
