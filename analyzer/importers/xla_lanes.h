// Which threads of a file are lines of XLA's devices, as JAX's and TensorFlow's profilers write
// them: processes "/device:GPU:0", "/device:TPU:1", with threads "Stream #13(Compute)", "XLA Ops",
// "Async XLA Ops", "XLA Modules", "Steps" and others. Events there have no category; what they are
// is said by their thread: streams work, and where a device has none, its operations do; the others
// say what the work was for. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/diagnostics.h"
#include "trace/trace_builder.h"

namespace pleat::importers {

class XlaLanes {
  public:
    enum class Role : std::uint8_t { None, Work, Cover };

    // Metadata stands before the events that it is of.
    void nameProcess(std::string_view pid, std::string_view name);
    void nameThread(std::string_view pid, std::string_view tid, std::string_view name);

    [[nodiscard]] bool any() const { return !m_devices.empty(); }
    [[nodiscard]] Role roleOf(std::string_view pid, std::string_view tid) const;
    // The category (trace/categories.h) of an event there: a copy, a kernel, or no work at all
    // (loops and calls, which last as long as what they run).
    [[nodiscard]] static std::string_view categoryOf(Role role, std::string_view event);

    // Gives a process that is a device its name and number among devices.
    void describe(trace::Rank& rank, std::string_view pid) const;
    // Counts what lies on a device's threads of which none is known to work.
    void noteWithoutWork(base::Diagnostics& diagnostics, std::string_view pid,
                         std::int64_t events) const;

  private:
    struct Device {
        std::string name;                            // "/device:GPU:0"
        std::map<std::string, std::string> threads;  // tid -> name
        bool hasStreams = false, hasOperations = false;
    };
    std::map<std::string, Device> m_devices;  // by pid
    // Threads may be named before their process.
    std::map<std::pair<std::string, std::string>, std::string> m_threads;
};

}  // namespace pleat::importers
