// The rows of communication_kernels.json, one per pattern, as the build writes them.
#pragma once

#include <span>
#include <string_view>

namespace pleat::trace {

struct CommunicationRow {
    std::string_view pattern, operation, dimension;
};

[[nodiscard]] std::span<const CommunicationRow> communicationTable();

}  // namespace pleat::trace
