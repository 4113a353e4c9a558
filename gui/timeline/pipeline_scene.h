// What a picture of one iteration's pipeline shows, as plain values, before anything has a place on
// a screen: a row per rank, or per stage that a rank holds, its tasks, the messages between rows,
// the idle gaps with their causes, and the schedule that was meant to run. Whoever has analysed the
// iteration fills it in.
//
// Invariants: every task, gap and ghost is in one row, so that nothing is seen twice. They are
// ordered by row, then begin. Those of a row do not cross; where an odd trace has tasks that do, a
// picture may leave out one that began left of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/interval_set.h"
#include "schedule/action.h"
#include "trace/model.h"

namespace pleat::timeline {

enum class PipelineRows : std::uint8_t { Rank, Stage };

struct PipelineRow {
    std::int32_t rank = -1;  // number
    std::string title;
    std::int32_t stage = -1;  // -1: a row of the whole rank, or of tasks whose stage is not known
};

enum class PipelineWork : std::uint8_t { Task, Optimizer, DataLoading };

struct PipelineTask {
    std::uint32_t row = 0;
    PipelineWork work = PipelineWork::Task;
    schedule::ActionKind kind = schedule::ActionKind::Forward;
    std::int32_t stage = -1;
    std::int32_t chunk = -1;
    std::int32_t microbatch = -1;
    base::Interval span;
    trace::EventId event;                      // invalid for ghosts
    bool critical = false;                     // on the critical path
    std::optional<base::Duration> slack = {};  // how late it may be; nothing where none is known
};

struct PipelineMessage {
    std::uint32_t fromRow = 0, toRow = 0;
    base::Interval span;  // from the moment both ends were ready to its arrival
    std::int32_t microbatch = -1;
    trace::EventId event;  // of the receiving end
};

struct PipelineGap {
    std::uint32_t row = 0;
    base::Interval span;
    std::uint32_t gap = 0;       // pieces of one gap have one number, and one mixture of causes
    std::vector<double> shares;  // of each cause, by its number; sum to 1
};

struct PipelineScene {
    base::Interval window;
    std::vector<PipelineRow> rows;
    std::vector<PipelineTask> tasks;
    std::vector<PipelineMessage> messages;  // by begin
    std::vector<PipelineGap> gaps;
    std::vector<PipelineTask> ghosts;  // the schedule meant to run, from the window's begin
    base::Duration palest = {};        // with slack from here on a task is as pale as any
};

}  // namespace pleat::timeline
