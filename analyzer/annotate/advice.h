// What a person can do when a trace does not say what its events mean: sentences that several
// answers end with. They speak of the person's own program (docs/instrumenting.md has more of
// each).
#pragma once

#include <string_view>

namespace pleat::annotate {

// Begins a sentence; "in this trace" and so on may follow.
inline constexpr std::string_view kNoActionNamed =
    "no event names a forward or backward pass with its stage and microbatch (such as 2F0)";

inline constexpr std::string_view kHowToNameActions =
    "in your training loop, call torch.cuda.nvtx.range_push(f\"{stage}F{microbatch}\") before each "
    "forward (B for backward) and torch.cuda.nvtx.range_pop() after it, or with torch.profiler use "
    "record_function(f\"PP:{stage}F{microbatch}\") (docs/instrumenting.md); for ranges with other "
    "names, write rules (docs/importing.md)";

inline constexpr std::string_view kHowToNameStages =
    "name the ranges of your program by stage and microbatch, as in "
    "torch.cuda.nvtx.range_push(f\"{stage}F{microbatch}\"), or record the messages between stages "
    "as "
    "well (docs/instrumenting.md)";

}  // namespace pleat::annotate
