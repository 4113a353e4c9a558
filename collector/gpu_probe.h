// Why a trace holds no work of a GPU: what CUPTI, found at run time, says of this machine. CUPTI
// allows one subscriber per process, so the probe subscribes and at once lets go, and it does so in
// a process of its own: a CUPTI that crashes or hangs costs its answer and nothing else. Nothing
// here needs CUDA to build. A GpuProbe belongs to one thread; the free functions are safe from any.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace pleat::collector {

// The calls that are asked, so that a test can answer. Each gives a CUptiResult, 0 for success.
struct CuptiFunctions {
    std::function<int(std::uint32_t* version)> getVersion;
    std::function<int(void** subscriber)> subscribe;
    std::function<int(void* subscriber)> unsubscribe;
};

// What is known; an answer that never came is empty.
struct GpuFacts {
    bool driver = false;                        // libcuda.so.1 loads
    std::optional<bool> cupti;                  // libcupti loads
    std::optional<std::uint32_t> cuptiVersion;  // cuptiGetVersion's, e.g. 130001
    std::optional<int> subscribed;              // cuptiSubscribe's CUptiResult
};

// Told the facts each time one more is known.
using GpuFactsSink = std::function<void(const GpuFacts&)>;

// Asks these functions; holds no subscriber when it returns.
void askCupti(const CuptiFunctions& cupti, GpuFacts& facts, const GpuFactsSink& publish);
// Loads the driver and CUPTI into this process and asks them.
void askMachine(const GpuFactsSink& publish);

struct GpuAvailability {
    // "available:not_recorded" (Pleat records NVTX, not CUPTI), "unavailable:no_cupti",
    // "unavailable:no_answer" (the probe crashed or took too long), "unavailable:<CUptiResult>".
    std::string state;
    std::string words;     // one line: what, why, what to do
    bool notable = false;  // a GPU or another tool is there, so that somebody may miss its work
};

// `otherTool` is what CUDA_INJECTION64_PATH names, null where it is not set.
[[nodiscard]] GpuAvailability gpuAvailability(const GpuFacts& facts, const char* otherTool);

// Asks in a child process, which ends with this one. Made before this process has threads, whose
// locks a fork would copy.
class GpuProbe {
  public:
    using Ask = std::function<void(const GpuFactsSink&)>;
    static constexpr std::chrono::seconds kLimit{5};

    explicit GpuProbe(const Ask& ask = askMachine, std::chrono::seconds limit = kLimit);
    GpuProbe(const GpuProbe&) = delete;
    GpuProbe& operator=(const GpuProbe&) = delete;
    ~GpuProbe();
    // What the child found out. Waits for it until the limit, counted from its start.
    [[nodiscard]] GpuFacts facts();

  private:
    std::chrono::steady_clock::time_point m_deadline;
    pid_t m_child = -1;
    int m_answers = -1;  // read end of a pipe of GpuFacts
};

}  // namespace pleat::collector
