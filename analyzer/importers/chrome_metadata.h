// What a file of trace events says besides its events: the members around the list, and the names
// of its processes and threads; and whose its lanes therefore are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "importers/event_stream.h"
#include "trace/trace_builder.h"

namespace pleat::importers {

struct FileMetadata {
    base::Duration baseTime;  // added to every time of the file
    std::int32_t rank = -1;   // -1: not said
    std::string host;
};

// Members that cannot be read are counted ("unreadable_metadata").
[[nodiscard]] FileMetadata readMetadata(const EventStreamResult& file,
                                        base::Diagnostics& diagnostics);

// A metadata event (ph "M").
struct MetadataEvent {
    std::string name, pid, tid;
    std::string arguments;
};

struct LaneKey {
    std::string_view pid, tid;
    bool onDevice = false;
};

struct NamedLane {
    trace::LaneId lane;
    std::string pid, tid;
    bool onDevice = false;
};

// "name" of the arguments of a process_name or thread_name.
[[nodiscard]] std::string nameIn(const MetadataEvent& event);

// A whole text as a number.
[[nodiscard]] std::optional<std::int64_t> numberIn(std::string_view text);

// Gives every lane of one file its name and its rank.
class LaneOwners {
  public:
    LaneOwners(trace::TraceBuilder& builder, trace::RankId firstRank,
               const std::vector<NamedLane>& lanes, bool profiler)
        : m_builder(builder), m_firstRank(firstRank), m_lanes(lanes), m_profiler(profiler) {}
    void settle(const FileMetadata& metadata, const std::vector<MetadataEvent>& events);

  private:
    void nameLanes(const std::vector<MetadataEvent>& events);
    void ownByProcess(const std::vector<MetadataEvent>& events);
    [[nodiscard]] bool devicesAreOfRanks(const std::vector<MetadataEvent>& events) const;
    static void describeDevice(trace::Rank& rank);
    bool ownByCoordinates();
    void describeProfiled(const FileMetadata& metadata, const std::vector<MetadataEvent>& events);

    trace::TraceBuilder& m_builder;
    const trace::RankId m_firstRank;
    const std::vector<NamedLane>& m_lanes;
    const bool m_profiler;
};

}  // namespace pleat::importers
