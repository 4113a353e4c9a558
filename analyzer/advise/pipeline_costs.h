// What a run costs: the input of every prediction of another schedule. Typed in, or taken from a
// trace. Plain data; times in ns, sizes in bytes. A microbatch crosses every stage once each way.
#pragma once

#include <cstdint>
#include <vector>

#include "base/time.h"

namespace pleat::advise {

struct StageCosts {
    base::Duration forward, backward;              // of one microbatch; the full backward
    base::Duration inputBackward, weightBackward;  // where a schedule splits it
    base::Duration optimizer;
    std::int64_t activationBytes = 0;  // kept from a forward to its (weight) backward
    std::int64_t messageBytes = 0;     // to the next stage, and as many back
    std::int64_t gradientBytes = 0;    // of its parameters, synced between replicas
    std::int64_t parameterBytes = 0;   // with gradients and optimizer state, whatever runs
};

// Links of one kind (between nodes, or within one): every device has one, in both directions.
struct LinkCosts {
    base::Duration latency;
    double bytesPerSecond = 0;  // each way; 0: unlimited
    double slowdown = 0;        // of compute while they move data: 0.1 is a tenth longer
};

struct PipelineCosts {
    std::vector<StageCosts> stages;
    std::vector<double>
        slownessOfRank;       // [pipeline rank] 1.5: its compute takes 1.5 times as long; empty: 1
    base::Duration overhead;  // of every compute action, on the device
    std::int32_t replicas = 1;  // data-parallel
    LinkCosts pipeline, data;   // messages; gradient sync
    bool oneLink = false;       // both are one link, whose bandwidth they share (`pipeline`'s)
};

enum class SyncCollective : std::uint8_t { AllReduce, ReduceScatterAllGather };

// When gradients are synced, and what has to wait for that.
struct SyncPolicy {
    SyncCollective collective = SyncCollective::AllReduce;
    // After it has run its last backward, each rank waits for all its syncs and then runs its
    // optimizer; else every stage has its own optimizer step, before its next forward (Fold3D's
    // deferred sync, P3).
    bool barrier = true;
    // What the next forward needs first is sent first (P3, TicTac, BytePS); else in the order in
    // which gradients are there (Horovod).
    bool byPriority = false;
    std::int64_t sliceBytes =
        0;  // a stage's gradients are synced in pieces of at most this; 0: one
    // Pieces are there as the last backward goes on, the last layer's first; else at its end.
    bool withinBackward = false;
    // No overlap: syncs begin when the rank's backward passes have all ended.
    bool afterBackward = false;
    std::int32_t everyIterations = 1;  // local steps between syncs (HSP, Sync-Switch)
};

}  // namespace pleat::advise
