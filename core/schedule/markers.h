// What an instrumented program says about itself in NVTX, and how the analyzer reads it back:
// domains, names and the payload structs with their fields. The one home of this vocabulary;
// documented for other programs in docs/instrumenting.md. No NVTX header is needed here: the
// runtime turns `fields` into an NVTX payload schema, the collector turns a payload of any such
// schema into a JSON object with the same keys.
//
// Domain "pleat": push/pop ranges on the compute thread named by toString(Action) with a
// TaskPayload; ranges "iteration", "data", "optimizer" with an IterationPayload; marks "rank" with
// a RankPayload and "process_group" with a ProcessGroupPayload (every member announces itself).
// Domain "pleat.comm": ranges named by toString(Action) ("2SEND_F0", "2REDUCE_GRAD") or by the
// operation
// ("all_reduce"), with a TransferPayload, on the thread that carries the communication: from the
// moment this rank was ready for the transfer to its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace pleat::schedule::markers {

inline constexpr std::string_view kTaskDomain = "pleat";
inline constexpr std::string_view kTransferDomain = "pleat.comm";
inline constexpr std::string_view kIteration = "iteration";
inline constexpr std::string_view kDataLoading = "data";
inline constexpr std::string_view kOptimizer = "optimizer";
inline constexpr std::string_view kRank = "rank";
inline constexpr std::string_view kProcessGroup = "process_group";

enum class FieldType : std::uint8_t { Int32, Int64, Text };  // Text: char[N], NUL-padded

struct Field {
    std::string_view name;
    FieldType type;
    std::size_t offset;  // bytes from the start of the payload
    std::size_t size;    // bytes
};

struct TaskPayload {
    std::int32_t iteration, stage, chunk, microbatch;
};
inline constexpr Field kTaskFields[] = {
    {"iteration", FieldType::Int32, offsetof(TaskPayload, iteration), 4},
    {"stage", FieldType::Int32, offsetof(TaskPayload, stage), 4},
    {"chunk", FieldType::Int32, offsetof(TaskPayload, chunk), 4},
    {"microbatch", FieldType::Int32, offsetof(TaskPayload, microbatch), 4},
};

struct IterationPayload {
    std::int32_t iteration;
};
inline constexpr Field kIterationFields[] = {
    {"iteration", FieldType::Int32, offsetof(IterationPayload, iteration), 4},
};

struct TransferPayload {
    std::int64_t bytes;     // of this rank's message or of the reduced buffer
    std::int64_t sequence;  // n-th transfer of this group (and, point to point, of this direction);
                            // equal on all members
    std::int32_t iteration, stage, chunk, microbatch;  // -1 where they have no meaning
    std::int32_t group;  // equal on all members and unique in the run; see ProcessGroupPayload
    std::int32_t peer;   // global rank of the other end; -1 for collectives
    char operation[16];  // "send", "recv", "all_reduce", …: pleat::trace::toString(Operation)
    char dimension[8];   // "pp", "dp", "tp", "ep", "cp"
};
inline constexpr Field kTransferFields[] = {
    {"bytes", FieldType::Int64, offsetof(TransferPayload, bytes), 8},
    {"sequence", FieldType::Int64, offsetof(TransferPayload, sequence), 8},
    {"iteration", FieldType::Int32, offsetof(TransferPayload, iteration), 4},
    {"stage", FieldType::Int32, offsetof(TransferPayload, stage), 4},
    {"chunk", FieldType::Int32, offsetof(TransferPayload, chunk), 4},
    {"microbatch", FieldType::Int32, offsetof(TransferPayload, microbatch), 4},
    {"group", FieldType::Int32, offsetof(TransferPayload, group), 4},
    {"peer", FieldType::Int32, offsetof(TransferPayload, peer), 4},
    {"operation", FieldType::Text, offsetof(TransferPayload, operation), 16},
    {"dimension", FieldType::Text, offsetof(TransferPayload, dimension), 8},
};

struct RankPayload {
    std::int32_t rank, world_size;
    std::int32_t dp, pp, tp, ep, cp;  // this rank's coordinates
    char device[16];                  // "cpu", "cuda:0", "emulated"
};
inline constexpr Field kRankFields[] = {
    {"rank", FieldType::Int32, offsetof(RankPayload, rank), 4},
    {"world_size", FieldType::Int32, offsetof(RankPayload, world_size), 4},
    {"dp", FieldType::Int32, offsetof(RankPayload, dp), 4},
    {"pp", FieldType::Int32, offsetof(RankPayload, pp), 4},
    {"tp", FieldType::Int32, offsetof(RankPayload, tp), 4},
    {"ep", FieldType::Int32, offsetof(RankPayload, ep), 4},
    {"cp", FieldType::Int32, offsetof(RankPayload, cp), 4},
    {"device", FieldType::Text, offsetof(RankPayload, device), 16},
};

struct ProcessGroupPayload {
    std::int32_t group, size;
    char dimension[8];
};
inline constexpr Field kProcessGroupFields[] = {
    {"group", FieldType::Int32, offsetof(ProcessGroupPayload, group), 4},
    {"size", FieldType::Int32, offsetof(ProcessGroupPayload, size), 4},
    {"dimension", FieldType::Text, offsetof(ProcessGroupPayload, dimension), 8},
};

}  // namespace pleat::schedule::markers
