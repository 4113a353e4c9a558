// Whether another program (torchrun, mpirun, srun) started this process as one rank of a run, read
// off its environment variables. Pure: the environment is passed in as a look-up.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"

namespace pleat::runtime {

struct RankEnvironment {
    std::int32_t rank = 0;
    std::int32_t worldSize = 1;
    std::string masterAddress = "127.0.0.1";
    std::uint16_t masterPort = 29500;
};

using VariableLookup = std::function<std::optional<std::string>(const std::string& name)>;

// Nothing when no launcher started this process. RANK and WORLD_SIZE come first, then
// OMPI_COMM_WORLD_*, PMI_*, SLURM_*; of the latter three a world of one counts as no launcher (a
// batch script's shell has them too). MASTER_ADDR and MASTER_PORT have the defaults above. Usage
// error for a value that is not a number, or RANK without WORLD_SIZE.
[[nodiscard]] base::Result<std::optional<RankEnvironment>> readEnvironment(
    const VariableLookup& variable);

// The variables of this process.
[[nodiscard]] VariableLookup processVariables();

}  // namespace pleat::runtime
