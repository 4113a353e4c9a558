// The pipeline action that the name of an event spells, in whichever way programs write it. The one
// home of these spellings; the text of an action itself is schedule/action.h.
#pragma once

#include <optional>
#include <string_view>

#include "schedule/action.h"
#include "trace/model.h"

namespace pleat::annotate {

// "2F0", "PP:2F0" (torch.distributed.pipelining), "2SEND_F0", "(0F7;7B3)OVERLAP_F_B". A stage or
// microbatch beyond what a trace can hold (trace/limits.h) comes back as a number beyond it,
// however large it is written: whoever keeps it must have it limited (trace/annotation_gate.h).
[[nodiscard]] std::optional<schedule::Action> actionNamed(std::string_view name);

// The name without what PyTorch's NVTX emitter adds: "Forward 3, op_id = 7" is "Forward 3".
[[nodiscard]] std::string_view withoutEmitterSuffix(std::string_view name);

// What an action of communication does; Other for a computing one.
[[nodiscard]] trace::Operation operationOf(schedule::ActionKind kind);

}  // namespace pleat::annotate
