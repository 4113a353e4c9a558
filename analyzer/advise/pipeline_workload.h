// A schedule and its costs as operations that compete for devices and links. One replica stands for
// all: replicas are alike, and a collective's volume on each link is that of a ring, 2 (n - 1) / n
// of the gradients for an all-reduce and half of it for a reduce-scatter or an all-gather.
#pragma once

#include <cstdint>
#include <vector>

#include "advise/pipeline_costs.h"
#include "advise/resource_run.h"
#include "base/result.h"
#include "schedule/schedule.h"

namespace pleat::advise {

// What an operation is of; its queue says on which rank.
struct PlacedOperation {
    std::int32_t iteration = 0;
    std::int32_t stage = 0;
    std::int32_t position = -1;           // of a compute action: in the rank's list; else -1
    std::uint16_t slice = 0, slices = 1;  // of an action that gives its gradients piece by piece
};

struct PlacedQueue {
    enum class Kind : std::uint8_t { Compute, Messages, Sync };
    Kind kind = Kind::Compute;
    std::int32_t rank = 0;  // pipeline rank; of messages the receiver
};

struct PipelineWorkload {
    Workload workload;
    std::vector<PlacedOperation> placed;  // [operation]
    std::vector<PlacedQueue> queues;      // [queue]
};

// `iterations` of the schedule, one after the other. Input error for an invalid schedule or costs
// of another number of stages.
[[nodiscard]] base::Result<PipelineWorkload> workloadOf(const schedule::Schedule& schedule,
                                                        const PipelineCosts& costs,
                                                        const SyncPolicy& policy,
                                                        std::int32_t iterations);

}  // namespace pleat::advise
