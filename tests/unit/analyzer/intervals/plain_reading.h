// Trace files read again in the plainest way, by nlohmann::json and SQLite alone: what the devices
// and timers of each rank did and when, as lists of intervals. For comparing what the analyzer says
// of real files; shares no code with it. Pure but for reading the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace pleat::testing {

struct PlainSpan {
    std::int64_t begin = 0, end = 0;  // ns
};
using PlainSpans = std::vector<PlainSpan>;

enum class PlainKind : std::uint8_t { Compute, Communication, Copy };

struct PlainWork {
    PlainSpan span;
    PlainKind kind = PlainKind::Compute;
    std::int64_t stream = 0;
    std::int64_t called = -1;  // when its call began; -1: not recorded
    std::int64_t ready = -1;   // of communication: when its last member had begun; -1: not known
    bool receives = false;     // a message's receive: waiting for it is no waiting in a collective
    std::int32_t step = -1;    // where the recorder says so
};

struct PlainRank {
    std::vector<PlainWork> work;
    std::map<std::int32_t, PlainSpan> steps;  // the host's ranges, by number
};

// Ranks in order of their files, processes or coordinates. Kineto, a rank per file.
[[nodiscard]] std::vector<PlainRank> readKineto(const std::vector<std::filesystem::path>& files);
// Nsight's export, a rank per process.
[[nodiscard]] std::vector<PlainRank> readNsight(const std::filesystem::path& file);
// ndtimeline.
[[nodiscard]] std::vector<PlainRank> readTimers(const std::filesystem::path& file);

}  // namespace pleat::testing
