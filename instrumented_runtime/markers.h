// What the runtime tells a profiler, behind an interface so that the engine can be tested by what
// it says. The vocabulary (domains, names, payloads) is schedule/markers.h. Names are registered
// once, ahead of use; the other calls are cheap and may come from any thread. Push and pop pair up
// per thread and domain.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "schedule/markers.h"

namespace pleat::runtime {

namespace payload = schedule::markers;

// A registered name; only for the Markers that gave it, in the domain it was registered for.
using MarkerName = const void*;

class Markers {
  public:
    Markers() = default;
    Markers(const Markers&) = delete;
    Markers& operator=(const Markers&) = delete;
    virtual ~Markers() = default;

    // Thread-safe; the same text gives the same name.
    [[nodiscard]] virtual MarkerName taskName(std::string_view text) = 0;
    [[nodiscard]] virtual MarkerName transferName(std::string_view text) = 0;

    virtual void nameThread(const std::string& name) = 0;  // the calling thread
    virtual void announceRank(const payload::RankPayload& rank) = 0;
    virtual void announceGroup(const payload::ProcessGroupPayload& group) = 0;

    virtual void pushTask(MarkerName name, const payload::TaskPayload& task) = 0;
    virtual void pushPhase(MarkerName name, const payload::IterationPayload& iteration) = 0;
    virtual void popTask() = 0;  // also ends a phase
    virtual void pushTransfer(MarkerName name, const payload::TransferPayload& transfer) = 0;
    virtual void popTransfer() = 0;
};

// NVTX with payload schemas; costs next to nothing where no profiler is attached.
[[nodiscard]] std::unique_ptr<Markers> makeNvtxMarkers();

}  // namespace pleat::runtime
