// What training frameworks call their ranges, as rules like a user's own: Megatron-LM's timers,
// DeepSpeed's functions, PyTorch pipelining without stage numbers.
#pragma once

namespace pleat::annotate {

extern const char* const kFrameworkRules;  // JSON of rules.h

}  // namespace pleat::annotate
