// What a reader of one file learned beside its events: about its clock, the numbers of its ranks
// and the devices its processes worked on. What follows from it is decided once for all formats
// (file_times.h, rank_numbers.h, device_ranks.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "importers/file_clock.h"
#include "trace/trace_builder.h"

namespace pleat::importers {

// What a process said of a communicator: its place in it.
struct CommunicatorPlace {
    std::string id;
    std::int64_t size = 0, rank = -1;
};

struct FileFacts {
    FileClock clock;
    // Which of the nodes its processes ran on, as a launcher counted them; for the order of files.
    std::optional<std::int32_t> node;
    // Of each process the largest communicator that it joined.
    std::map<trace::RankId, CommunicatorPlace> communicators;
    // The ordinal of the device behind each lane of device work.
    std::map<trace::LaneId, std::int64_t> deviceOfLane;
};

// What one file added.
struct ReadFile {
    std::filesystem::path path;
    FileFacts facts;
    trace::TraceBuilder::Added begin, end;
    std::size_t firstRank = 0, lastRank = 0;  // [first, last)
};

}  // namespace pleat::importers
