// Which device kernels move data between devices, by their names: the one home of that knowledge, a
// table (communication_kernels.json) that the build turns into code. Kernels of libraries (NCCL,
// DeepEP, NVSHMEM, …) and those whose words say a collective; what a rule makes a transfer is known
// by device_work.h. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trace/model.h"

namespace pleat::trace {

struct CommunicationKernel {
    Operation operation = Operation::Other;  // Other also where only its arguments say
    Dimension dimension = Dimension::Other;  // where a library serves one only
};

// Nothing for kernels that compute. A template's argument or a parameter decides nothing:
// "elementwise_kernel<…AllReduce…>" computes.
[[nodiscard]] std::optional<CommunicationKernel> communicationKernel(std::string_view name);

// A kernel's name as the table sees it, exposed for tests: "void ns::allReduceKernel<4>(int)" is
// "::_ns_::_all_reduce_kernel_::".
[[nodiscard]] std::string wordsOfKernel(std::string_view name);

// The collective that words of that form say; nothing where they say none.
[[nodiscard]] std::optional<Operation> operationInWords(std::string_view words);

}  // namespace pleat::trace
