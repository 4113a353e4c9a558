// Joins host calls with the device work they started. Correlation ids count per process, so two
// processes use the same ones; one call may start many pieces of work (a CUDA graph's kernels); a
// runtime call and the driver call inside it share an id and count as one, the runtime call. Not
// thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "trace/trace_builder.h"

namespace pleat::importers {

class NsightLaunches {
  public:
    struct Call {
        trace::RankId process;
        std::optional<std::int64_t> correlation;
        std::size_t event = 0;  // in order of adding
        bool isDriver = false;
        bool launches = false;  // its name says that work follows
    };
    void addCall(const Call& call);

    struct Work {
        trace::RankId process;
        std::optional<std::int64_t> correlation;
        std::optional<std::size_t> event;  // nothing: untimed, in the file but not in the trace
        bool isWait = false;               // waits on a stream or event: no work
    };
    void addWork(const Work& work);

    // Adds a Launch dependency from each call to its work and a Flow dependency to its wait; counts
    // "work_without_launch" and "launch_without_work". O(n log n).
    void join(trace::TraceBuilder& builder);

  private:
    static constexpr std::uint32_t kUntimed = 0xffff'ffff;
    struct Entry {
        std::uint32_t process = 0;
        std::uint32_t event = 0;
        std::int64_t correlation = 0;
        bool isDriver = false, launches = false, isWait = false;
    };
    std::vector<Entry> m_calls, m_work;
    std::int64_t m_uncorrelated = 0;
};

}  // namespace pleat::importers
