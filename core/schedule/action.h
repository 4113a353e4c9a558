// One unit of a schedule, spelled as PyTorch's pipelining spells it: "2F0", "2SEND_F0",
// "2REDUCE_GRAD",
// "(0F7;7B3)OVERLAP_F_B". The runtime names its profiler ranges with toString(Action), the analyzer
// reads them back with parseAction: this file is the one home of that text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pleat::schedule {

enum class ActionKind : std::uint8_t {
    Forward,                 // F
    FullBackward,            // B: input and weight gradients together
    InputBackward,           // I
    WeightBackward,          // W
    SendForward,             // SEND_F: activations to the next stage
    ReceiveForward,          // RECV_F: activations from the previous stage
    SendBackward,            // SEND_B: gradients to the previous stage
    ReceiveBackward,         // RECV_B: gradients from the next stage
    Unshard,                 // UNSHARD
    Reshard,                 // RESHARD
    ReduceGradient,          // REDUCE_GRAD: data-parallel sync of one stage's gradients
    OverlapForwardBackward,  // (…;…)OVERLAP_F_B: two actions of different microbatches run as one
};

[[nodiscard]] std::string_view toString(ActionKind kind);  // "F", "SEND_F", …
[[nodiscard]] std::optional<ActionKind> parseActionKind(std::string_view text);
[[nodiscard]] bool isCompute(ActionKind kind);        // F, B, I, W, OVERLAP_F_B
[[nodiscard]] bool isCommunication(ActionKind kind);  // the four SEND/RECV kinds

struct Action {
    std::int32_t stage = 0;
    ActionKind kind = ActionKind::Forward;
    std::int32_t microbatch =
        -1;  // -1: the kind has none (UNSHARD, RESHARD, REDUCE_GRAD, OVERLAP_F_B)
    std::vector<Action> parts;  // OVERLAP_F_B only: its two actions

    friend bool operator==(const Action&, const Action&) = default;
};

[[nodiscard]] std::string toString(const Action& action);

// Reads a whole cell; anything after the action is an error ("2F0garbage"), as is a negative or
// overlong number. An error names the cell and the first character that does not fit.
[[nodiscard]] base::Result<Action> parseAction(std::string_view text);

}  // namespace pleat::schedule
