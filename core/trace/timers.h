// The timers of Megatron-style pipeline programs as ndtimeline names them: what each measures and
// who takes part in it. The one home of these names, for annotation and for the task graph that is
// made from them. Source of the vocabulary: docs/importing.md.
#pragma once

#include <cstdint>
#include <string_view>

#include "schedule/action.h"
#include "trace/model.h"

namespace pleat::trace {

enum class TimerRole : std::uint8_t {
    Task,        // compute of a microbatch
    Message,     // between neighbouring stages
    Collective,  // between ranks
    Phase,       // work of a step that belongs to no microbatch
    Stall,       // the host stops for something else; no work of the pipeline
};

// Who has to be there before a timer's operation can go on.
enum class TimerGroup : std::uint8_t {
    Alone,      // nobody else
    Message,    // the sender and the receiver
    Stage,      // every data-parallel rank of the stage
    Embedding,  // the first and the last stage, which share the embedding
    Everybody,  // every stage and data-parallel rank
};

struct Timer {
    std::string_view name;
    TimerRole role = TimerRole::Task;
    TimerGroup group = TimerGroup::Alone;
    schedule::ActionKind action = schedule::ActionKind::Forward;  // of tasks and messages
    Operation operation = Operation::Other;
    Dimension dimension = Dimension::Other;
};

// Those that the task graph's rules speak of.
inline constexpr std::string_view kForwardCompute = "forward-compute";
inline constexpr std::string_view kBackwardCompute = "backward-compute";
inline constexpr std::string_view kForwardSend = "forward-send";
inline constexpr std::string_view kForwardReceive = "forward-recv";
inline constexpr std::string_view kBackwardSend = "backward-send";
inline constexpr std::string_view kBackwardReceive = "backward-recv";
inline constexpr std::string_view kAllGather = "params-all-gather";
inline constexpr std::string_view kReduceScatter = "grads-reduce-scatter";
inline constexpr std::string_view kLayernorm = "layernorm-grads-all-reduce";
inline constexpr std::string_view kEmbedding = "embedding-grads-all-reduce";
inline constexpr std::string_view kClip = "optimizer-clip-main-grad";
inline constexpr std::string_view kOptimizer = "optimizer";
inline constexpr std::string_view kCollection = "gc";

// Nothing for a name that is none of them.
[[nodiscard]] const Timer* timerNamed(std::string_view name);

}  // namespace pleat::trace
