// The seam between the engine and what moves bytes. A Channel is one rank's end of one group; a
// group has its own connections, so channels of different groups may be used at the same time, each
// by one thread. Calls block until this rank's part is done, and fail when a member is gone.
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "instrumented_runtime/buffer.h"
#include "instrumented_runtime/layout.h"

namespace pleat::runtime {

class Channel {
  public:
    Channel() = default;
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;
    virtual ~Channel() = default;

    // Links only: the first member sends, the second receives, in the same order.
    [[nodiscard]] virtual base::Result<void> send(const Buffer& buffer) = 0;
    [[nodiscard]] virtual base::Result<void> receive(const Buffer& buffer) = 0;
    // Every member gets the sum, in place.
    [[nodiscard]] virtual base::Result<void> allReduceSum(const Buffer& buffer) = 0;
};

class Transport {
  public:
    Transport() = default;
    Transport(const Transport&) = delete;
    Transport& operator=(const Transport&) = delete;
    virtual ~Transport() = default;

    // Blocks until all members have joined; this rank is one of them. Ranks join their groups in
    // ascending id.
    [[nodiscard]] virtual base::Result<std::unique_ptr<Channel>> join(const Group& group) = 0;
    // Blocks until every rank of the run calls it: after that it is safe to leave.
    [[nodiscard]] virtual base::Result<void> leave() = 0;
};

}  // namespace pleat::runtime
