// What profilers write about a communication between devices: names of kernels and annotations,
// NCCL's arguments as PyTorch records them, descriptions of process groups as Megatron writes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/model.h"

namespace pleat::annotate {

// As far as the text says; what it does not say stays empty or -1.
struct Communication {
    std::optional<trace::Operation> operation;
    std::int64_t bytes = 0;
    std::string group, description;        // "Process Group Name", "… Description"
    std::vector<std::int32_t> groupRanks;  // global; empty where not recorded or cut
    std::int32_t groupSize = 0;
    std::int64_t sequence = -1;
    std::string communicator;  // equal on all members; decimal, may exceed 2^63
    std::int32_t peer = -1;    // as written, in the group's own numbers
};

// Only the collective can be told from a kernel's name (trace/communication_kernels.h): its suffix
// is the inlined body, not the protocol used, and all-to-all, gather, scatter, send and receive are
// all "SendRecv" (taken as Other here).
[[nodiscard]] trace::Operation operationOfKernel(std::string_view name);
// Tree collectives and broadcasts do not end together on their members.
[[nodiscard]] bool endsTogether(trace::Operation operation, std::string_view kernelName);

// "nccl:all_reduce", "nccl:send 3->2", "nccl:recv 3<-0"; nothing for other names. `peer` gets the
// other end.
[[nodiscard]] std::optional<trace::Operation> operationOfAnnotation(std::string_view name,
                                                                    std::int32_t& peer);

// FSDP's functions, whose communication is between data-parallel ranks: "FSDP::all_gather (…)",
// "FullyShardedDataParallel.forward".
[[nodiscard]] bool isShardedDataParallel(std::string_view name);

// The arguments of a kernel or of record_param_comms, or those the Nsight importer writes; false
// where they say nothing of a communication.
[[nodiscard]] bool readCommunication(std::string_view arguments, Communication& found);

// What XLA says of an operation in its arguments: "hlo_category" "all-reduce", or the operation
// ("hlo_op", "all-gather-start.3") that a kernel of a library runs for. Nothing where that is no
// communication, or they say nothing of XLA.
[[nodiscard]] std::optional<trace::Operation> operationOfXla(std::string_view arguments);

// FSDP's functions, and descriptions of process groups: "mesh_dp_shard",
// "DATA_PARALLEL_GROUP_WITH_CP" and "expert_data_parallel_group" are dp,
// "TENSOR_MODEL_PARALLEL_GROUP" and "tp:0" tp, "mesh_ep" ep, "EMBEDDING_GROUP" pp; Other where it
// does not say ("default_pg", "undefined") or names several
// ("TENSOR_AND_DATA_PARALLEL_GROUP"). Whole words count: "tensorboard" says nothing.
[[nodiscard]] trace::Dimension dimensionOfGroup(std::string_view description);

}  // namespace pleat::annotate
