// A run that can be replayed with other durations: its task graphs, what each of their nodes is,
// and how long each takes ideally. What-if and the search for stragglers stand on it. Nodes that
// are alike (one operation, rank, stage and link) make up a cell; the pauses before alike nodes of
// one rank make up a pause cell. What a suspect would take ideally is the usual time of its peers'
// cells (ideal_times.h). Immutable once made; safe to read from any thread.
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
    base::Duration ideal;           // the usual time over the whole run
    bool together = false;          // what ranks do together: a transfer
};

// Above it a prediction is doubtful: the replay is not the iteration that was measured.
inline constexpr double kLargeReplayError = 0.05;
// The share of the replayed critical path that may be pauses; above it much of the replay agrees
// with the measurement only because it repeats pauses that nothing recorded explains.
inline constexpr double kLargePauseShare = 0.10;

// Where steps of coarse timers take longer than their rules explain by more than this share, what
// begins later than all it waits for counts as a pause of its rank.
inline constexpr double kMostUnexplained = 0.03;

inline constexpr std::uint32_t kNone = 0xffff'ffff;

// Of one microbatch in a cell.
struct MicrobatchTime {
    std::int32_t microbatch = -1;
    std::int64_t count = 0;
    double sum = 0;  // ns
};

// What one rank does of one operation on one stage (and link), over all iterations.
struct ReplayCell {
    std::uint32_t operation = kNone;
    std::int32_t rank = -1;  // RankId index
    std::int32_t stage = -1;
    std::uint32_t link = kNone;
    std::int64_t count = 0;
    double sum = 0;                            // ns
    double typical = 0;                        // ns: the mean of tasks, the median of all else
    std::vector<MicrobatchTime> microbatches;  // ascending
};

// The pauses of one rank before nodes of one kind.
struct PauseCell {
    std::uint32_t kind = kNone;
    std::int32_t rank = -1;  // RankId index: the rank that paused; -1 unknown
    std::int32_t stage = -1;
    double typical = 0;  // ns: their median
};

// What a node takes, and the pause before it. The duration of a Ready node is never looked at.
struct NodeTime {
    base::Duration duration, delay;
};

// One iteration of a replayed graph. It begins `lead` before its first node and ends where the next
// one begins, or with the graph.
struct ReplayWindow {
    std::int32_t iteration = -1;
    base::Duration measured;
    graph::NodeId begins;  // the first work of the rank that begins it; of the first window, unused
    base::Duration lead;   // from the window's begin to that
    base::Duration idle;   // from the window's end to the next one's begin
};

// Iterations that follow each other: what one leaves over holds up the next.
struct ReplayIteration {
    std::vector<ReplayWindow> windows;  // one at least
    // The first so many are not asked for: they say what the ranks still do when the next begins.
    std::size_t warmUp = 0;
    // The last window ends `rest` after this node, or after all where it is not valid. It is the
    // last of the rank that begins the iteration after, where that begins while others still work.
    graph::NodeId ends;
    base::Duration rest;
    graph::TaskGraph graph;
    std::vector<std::uint32_t> operation;  // [node]; kNone for Ready nodes
    std::vector<std::uint32_t> link;       // [node]; kNone for all but messages between ranks
    std::vector<std::uint32_t> cell = {};  // [node]; kNone for Ready nodes; empty without cells
    std::vector<std::uint32_t> pauseCell =
        {};  // [node]; kNone: of no known rank; empty without pauses
    // [node]; empty: as the graph has them. Other than in the graph where a part of a communication
    // waited for members that were not recorded, and where coarse timers need their launches.
    std::vector<NodeTime> recorded = {};
    // [node] that is in the window only in part, so that no ideal is its: it stays as recorded.
    // Empty without any.
    std::vector<bool> fixed = {};
    // [node] of a task that its inner collectives cut in pieces: the piece's part of the task's own
    // work; 1 for all other nodes; empty where no task is cut.
    std::vector<double> share = {};

    // Whether a node belongs to what is asked for.
    [[nodiscard]] bool counts(std::size_t node) const {
        return warmUp == 0 ||
               graph.nodes()[graph::NodeId::at(node)].iteration >= windows[warmUp].iteration;
    }
};

struct ReplayRank {
    std::int32_t number = -1;
    std::int32_t dp = -1;
    std::string device = {};  // of a process with several; empty where the number says it all
};

struct ReplayModel {
    std::vector<ReplayIteration> iterations;
    std::vector<ReplayOperation> operations;
    std::vector<std::pair<std::int32_t, std::int32_t>> links;  // rank numbers, the lower first
    std::vector<ReplayRank> ranks;                             // [RankId index]
    std::vector<ReplayCell> cells;  // none where one ideal serves all (coarse timers)
    std::vector<PauseCell> pauseCells;
    std::vector<double> usualPause;  // [PauseCell::kind]; ns: the median over the whole run
    // Pauses that are no longer cannot be told from none.
    base::Duration resolution;
    bool ofTimers = false;  // made of coarse timers: launches cost nothing (graph/timer_graph.h)

    [[nodiscard]] const ReplayOperation* operationOf(const ReplayIteration& iteration,
                                                     std::size_t node) const;
    // Of all iterations asked for, ascending: replayed() gives a length for each.
    [[nodiscard]] std::vector<ReplayWindow> windows() const;
};

// Of these windows. Timer graphs where the trace's tasks are timers, else measured graphs; without
// tasks, work graphs of ranks that were recorded together (one rank alone has no peers). A window
// whose graph cannot be made is left out and counted ("iteration_not_replayed"); timers that do not
// fit their rules are counted ("timers_unusable"), and whether their launches count
// ("launches_kept").
[[nodiscard]] ReplayModel replayModel(const graph::RunIndex& run,
                                      std::span<const graph::IterationWindow> windows,
                                      base::Diagnostics& diagnostics);

using TimeOf = std::function<NodeTime(const ReplayIteration&, std::size_t node)>;

[[nodiscard]] NodeTime recordedTime(const ReplayIteration& iteration, std::size_t node);
[[nodiscard]] TimeOf recordedTimes();

// How long each iteration takes with such times. What follows the last node stays as recorded.
[[nodiscard]] std::vector<base::Duration> replayed(const ReplayModel& model, const TimeOf& time);

// The same without any pause before nodes or at the end.
[[nodiscard]] std::vector<base::Duration> replayedWithoutPauses(const ReplayModel& model,
                                                                const TimeOf& time);

struct ReplaySummary {
    base::Duration predicted, measured;  // means over iterations
    double errorFraction = 0;            // mean of |predicted - measured| over mean of measured
    // The replay repeats every recorded pause, so it meets the measurement even where pauses stand
    // for dependencies that are missing. Both say how much rests on that.
    base::Duration withoutPauses;  // the mean replay without pauses
    double pauseShare = 0;         // of the replayed critical paths, the end of the window included
};

// The iterations with the times recorded, beside what they took.
[[nodiscard]] ReplaySummary replaySummary(const ReplayModel& model);

// Mean over iterations, in ns; 0 for none.
[[nodiscard]] double meanOf(std::span<const base::Duration> durations);

}  // namespace pleat::analysis
