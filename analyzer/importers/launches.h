// Which host call started which device work, by the correlation ids of one process: one call may
// start much work (a CUDA graph), and the runtime and the driver may both record a call.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "trace/trace_builder.h"

namespace pleat::importers {

class Launches {
  public:
    explicit Launches(trace::TraceBuilder& builder) : m_builder(builder) {}

    // Events by their position in the order of adding; correlation 0: none.
    void addCall(std::uint32_t correlation, std::size_t added) {
        if (correlation != 0) m_calls.push_back({correlation, static_cast<std::uint32_t>(added)});
    }
    void addWork(std::uint32_t correlation, std::size_t added) {
        m_work.push_back({correlation, static_cast<std::uint32_t>(added)});
    }
    // Takes device work out that was recorded twice ("duplicate_device_work"), adds the
    // dependencies, counts work without a call and launching calls without work, and says where
    // the device's recording ended before the host's ("device_recording_ended"). Once, after the
    // last event of the file.
    void finish();

  private:
    struct Entry {
        std::uint32_t correlation, added;
        friend auto operator<=>(const Entry&, const Entry&) = default;
    };
    void removeDuplicates();
    void noteUnstarted();

    trace::TraceBuilder& m_builder;
    std::vector<Entry> m_calls, m_work;
    std::vector<std::uint32_t> m_unstarted;  // launching calls without work
    base::TraceTime m_lastLaunch{std::numeric_limits<std::int64_t>::min()};  // that has work
};

}  // namespace pleat::importers
