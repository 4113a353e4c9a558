#include "importers/file_clock.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace pleat::importers {
namespace {

template <class T>
bool haveCommon(const std::set<T>& first, const std::set<T>& second) {
    return std::any_of(first.begin(), first.end(),
                       [&](const T& item) { return second.contains(item); });
}

bool readOneClock(const FileClock& a, const FileClock& b) {
    if (!a.utc || !b.utc || a.host.empty() || a.host != b.host) return false;
    if (a.bootUnix_ns && b.bootUnix_ns) {
        // Two machines are hardly booted within a second of one another, and a clock that is set
        // right while its machine runs is hardly moved further.
        constexpr std::int64_t kTogether_ns = 1'000'000'000;
        return std::abs(*a.bootUnix_ns - *b.bootUnix_ns) <= kTogether_ns;
    }
    if (!a.devices.empty() && !b.devices.empty()) return haveCommon(a.devices, b.devices);
    // One id is not two processes of one host at one time.
    return intersect(a.recorded, b.recorded).empty() || !haveCommon(a.processes, b.processes);
}

}  // namespace

std::vector<std::int32_t> clocksOf(std::span<const FileClock> files) {
    std::vector<std::int32_t> clocks;
    std::int32_t next = 0;
    for (std::size_t i = 0; i < files.size(); ++i) {
        std::int32_t clock = -1;
        // All files of a clock must agree: what keeps two apart keeps a third from both.
        for (std::int32_t candidate = 0; candidate < next && clock < 0; ++candidate) {
            bool agree = true;
            for (std::size_t other = 0; other < i && agree; ++other)
                agree = clocks[other] != candidate || readOneClock(files[other], files[i]);
            if (agree) clock = candidate;
        }
        clocks.push_back(clock >= 0 ? clock : next++);
    }
    return clocks;
}

std::string hostInFileName(const std::filesystem::path& file, std::int64_t pid) {
    const std::string name = file.filename().string();
    std::string_view rest = name;
    rest = rest.substr(0, rest.find(".pt.trace.json"));
    if (rest.size() == name.size()) return {};
    const std::size_t moment = rest.rfind('.');
    if (moment == std::string_view::npos ||
        rest.find_first_not_of("0123456789", moment + 1) != std::string_view::npos)
        return {};
    rest = rest.substr(0, moment);
    const std::size_t process = rest.rfind('_');
    if (process == std::string_view::npos || rest.substr(process + 1) != std::to_string(pid))
        return {};
    return std::string(rest.substr(0, process));
}

}  // namespace pleat::importers
