// A run that can be replayed with other durations: its task graphs, what each of their nodes is,
// and how long each takes ideally. What-if and the search for stragglers stand on it. The ideal is
// one duration per operation over all iterations, ranks, stages and microbatches: the mean for what
// a rank does alone, for work may be shared out otherwise; the median for what ranks do together,
// for a message that was held up says nothing of the link. Immutable once made; safe to read from
// any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "base/result.h"
#include "graph/measured_graph.h"
#include "graph/task_graph.h"
#include "trace/trace.h"

namespace pleat::analysis {

// Nodes that share one ideal duration. Several may share a name: messages of different sizes.
struct ReplayOperation {
    std::string name;               // forward-compute; forward, dp.all_reduce
    std::string suspect;            // the name it is judged under: both ends of a message have one
    std::vector<std::string> keys;  // what else selects it: compute, transfer.dp, F, all_reduce
    base::Duration ideal;
};

// Above it a prediction is doubtful: the replay is not the iteration that was measured.
inline constexpr double kLargeReplayError = 0.05;

inline constexpr std::uint32_t kNone = 0xffff'ffff;

struct ReplayIteration {
    std::int32_t iteration = -1;
    base::Duration measured;
    base::Duration rest;  // between the last node and the iteration's end
    graph::TaskGraph graph;
    std::vector<std::uint32_t> operation;  // [node]; kNone for Ready nodes
    std::vector<std::uint32_t> link;       // [node]; kNone for all but messages between ranks
};

struct ReplayRank {
    std::int32_t number = -1;
    std::int32_t dp = -1;
};

struct ReplayModel {
    std::vector<ReplayIteration> iterations;
    std::vector<ReplayOperation> operations;
    std::vector<std::pair<std::int32_t, std::int32_t>> links;  // rank numbers, the lower first
    std::vector<ReplayRank> ranks;                             // [RankId index]
    bool ofTimers = false;  // made of coarse timers: launches cost nothing (graph/timer_graph.h)

    [[nodiscard]] const ReplayOperation* operationOf(const ReplayIteration& iteration,
                                                     std::size_t node) const;
};

// Of these windows. Timer graphs where the trace's tasks are timers, else measured graphs; a window
// whose graph cannot be made is left out and counted ("iteration_not_replayed"); timers that do not
// fit their rules are counted ("timers_unusable").
[[nodiscard]] ReplayModel replayModel(const graph::RunIndex& run,
                                      std::span<const graph::IterationWindow> windows,
                                      base::Diagnostics& diagnostics);

// How long a node takes. Never asked for a Ready node.
using DurationOf = std::function<base::Duration(const ReplayIteration&, std::size_t node)>;

// As recorded, and ideal.
[[nodiscard]] DurationOf recordedDurations();
[[nodiscard]] DurationOf idealDurations(const ReplayModel& model);

// How long each iteration takes with such durations, with the delays its graph has.
[[nodiscard]] std::vector<base::Duration> replayed(const ReplayModel& model,
                                                   const DurationOf& duration);

struct ReplaySummary {
    base::Duration predicted, measured;  // means over iterations
    double errorFraction = 0;            // mean of |predicted - measured| over mean of measured
};

// The iterations with the durations recorded, beside what they took.
[[nodiscard]] ReplaySummary replaySummary(const ReplayModel& model);

// Mean over iterations, in ns; 0 for none.
[[nodiscard]] double meanOf(std::span<const base::Duration> durations);

}  // namespace pleat::analysis
