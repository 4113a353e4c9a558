// A made training run for tests: the events the runtime would record for a schedule on dp x pp x tp
// ranks with given costs, and what the analyzer has to find in them. The times come from a plain
// in-order walk that shares no code with the task graph, so it serves as an oracle. Ranks are
// numbered (dp * P + pp) * T + tp. Receives are posted ahead: one begins when its link's thread is
// free; a message moves once both ends have begun; a collective moves once every member has begun.
// In a blocking engine transfers run in the order of the compute, one by one, and the rank waits
// for each. With devices a host runs ahead: it calls the work of its tasks one after another, and
// waits for the last at the iteration's end. Plain values, no shared state.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/interval_set.h"
#include "schedule/schedule.h"
#include "trace/trace.h"

namespace pleat::testing {

// Something of every task of one microbatch on one rank.
struct ExtraDelay {
    std::int32_t rank = 0;        // global number
    std::int32_t microbatch = 0;  // -1: of all
    base::Duration time;
    std::int32_t iteration = -1;  // -1: in all
};

// Added to every message from one rank to another.
struct SlowLink {
    std::int32_t sender = 0, receiver = 0;  // global numbers
    base::Duration time;
};

// Added to what belongs to one rank, or to one pipeline rank.
struct ExtraTime {
    std::int32_t rank = 0;
    base::Duration time;
};

struct SyntheticOptions {
    schedule::Schedule schedule;  // compute actions and REDUCE_GRAD, as the generators give; with
                                  // messages (schedule/lower.h) for a blocking engine
    std::int32_t dp = 1;
    std::int32_t tp = 1;
    std::int32_t iterations = 1;
    std::vector<base::Duration> forward;   // [stage]; a single value serves all stages
    std::vector<base::Duration> backward;  // [stage]; the same; also of I and W
    std::vector<ExtraDelay> extra;         // how much longer they take
    // What tasks take, instead of the three above.
    std::function<base::Duration(std::int32_t rank, const schedule::Action&)> cost;
    bool devices = false;                  // tasks and optimizers are kernels that a host calls
    std::vector<ExtraDelay> launchDelays;  // how much later than it could a task begins: with
                                           // devices it is called late, else it is a pause that
                                           // nothing records
    base::Duration link{100};
    std::vector<SlowLink> slowLinks;
    base::Duration sync{500};
    std::vector<ExtraTime> slowSyncs;  // by pipeline rank
    // Collectives between the tensor-parallel ranks within every task, which divide its work
    // evenly.
    std::int32_t innerCollectives = 0;
    base::Duration inner{50};
    // The gradients are reduced within the task before, which waits for that, copies them and ends.
    bool syncInTask = false;
    base::Duration bucketCopy{10};
    // All ranks add their part of the gradient's norm before any optimizer; nothing: no such thing.
    std::optional<base::Duration> clip;
    base::Duration data{50};
    std::vector<ExtraTime> lateData;  // by rank
    base::Duration optimizer{200};
    bool postAfterData = false;  // receives are posted once the data is loaded
    bool blocking = false;       // the schedule's messages run on the compute thread, in its order
    bool waitForSends = false;   // the optimizer begins after the rank's sends have ended
    base::Duration skew{0};      // rank n begins n * skew after the run's begin
    bool withPayload = true;     // false: names only, and no marks, as other programs might do
    bool announceRank = true;    // false: no number in the process's environment
};

// A run without imperfections: two pipeline ranks of two replicas, two iterations, every forward
// 1 ms, every backward 2 ms, every message 0.1 ms, every sync 0.5 ms. The schedule is a generator's
// (schedule/generators.h).
[[nodiscard]] SyntheticOptions balancedOptions(std::string_view schedule, std::int32_t chunks,
                                               std::int32_t microbatches = 4);

struct SyntheticEvent {
    std::int32_t rank = 0;
    std::int32_t lane = 0;  // 0: compute; others in order of first use; kDeviceLane
    std::string name, domain, arguments;
    trace::EventKind kind = trace::EventKind::Range;
    trace::EventFlag flag = trace::EventFlag::None;
    base::Interval span;
    std::int32_t launchedBy = -1;  // position of the call in the run's events
};
inline constexpr std::int32_t kDeviceLane = -1;

struct SyntheticTask {
    std::int32_t rank = 0, iteration = 0, chunk = 0;
    schedule::Action action;
    base::Interval span;
    std::vector<base::Interval> work;  // what of it is the rank's own; the rest are collectives
};

struct SyntheticPhase {
    std::int32_t rank = 0, iteration = 0;
    bool optimizer = false;  // else data loading
    base::Interval span;
};

struct SyntheticTransfer {
    std::int32_t rank = 0, iteration = 0, chunk = 0;
    schedule::Action action;  // of what belongs to no action of the schedule: the task's, or none
    std::int32_t peer = -1;   // -1: a collective
    std::int64_t group = 0, sequence = 0;
    base::Interval span;
    base::TraceTime ready;  // the latest begin of its parts
    trace::Dimension dimension = trace::Dimension::Pp;
    std::int32_t lane = 0;  // 0: the compute thread
};

struct SyntheticRun {
    std::int32_t ranks = 0;
    std::int32_t pipelineRanks = 0;
    std::int32_t tensorRanks = 1;
    bool announceRank = true;
    std::vector<SyntheticEvent> events;
    // What is to be found; tasks and transfers in order of (rank, begin, end).
    std::vector<SyntheticTask> tasks;
    std::vector<SyntheticPhase> phases;
    std::vector<SyntheticTransfer> transfers;
    std::vector<std::vector<base::Interval>> iterations;  // [iteration][rank]
};

[[nodiscard]] SyntheticRun makeSyntheticRun(const SyntheticOptions& options);

// The run's events as an unannotated trace. With a seed the events are added in a shuffled order.
[[nodiscard]] trace::Trace traceOf(const SyntheticRun& run,
                                   std::optional<std::uint32_t> shuffleSeed = std::nullopt);

}  // namespace pleat::testing
