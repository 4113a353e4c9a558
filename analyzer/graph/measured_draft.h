// A measured task graph in the making: its nodes and edges so far, and who is who among them. The
// steps that make it: nodes (measured_nodes.cpp), edges (measured_links.cpp), times
// (measured_times.cpp). One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/interval_set.h"
#include "base/result.h"
#include "graph/measured_graph.h"
#include "graph/run_index.h"
#include "graph/task_graph.h"
#include "schedule/action.h"
#include "trace/trace.h"

namespace pleat::graph {

// A task or phase of a rank. What it waits for leads to its first piece, what waits for it follows
// its last.
struct Computed {
    base::Interval span;
    NodeId first, last;
    trace::EventId event;
    bool onItsLane = false;  // its time is that of its event, not of work on a device
};

// A rank's part of a communication. `entry` is where its dependencies go: the Ready node of its
// match, or the transfer itself when it has none.
struct TransferPart {
    const trace::Transfer* transfer = nullptr;
    trace::TransferId id;
    NodeId node, entry;
    std::int32_t inTask = -1;  // the task it began within, with whose pieces it is linked
    bool blocked = false;      // that task waited for it
    bool buffered = false;     // of a message whose send does not wait for the receive
};

// Why an edge is there; of edges that make a cycle the weaker is given up.
enum class EdgeReason : std::uint8_t {
    Order,     // one after another on a rank, a thread or a stream; parts of a match
    Rule,      // of the schedule, or of a program's timers
    Inferred,  // nothing recorded says so, times suggest it
};

struct Edge {
    NodeId from, to;
    EdgeReason reason = EdgeReason::Order;
};

struct MeasuredDraft {
    // `in` are one window or several that follow each other.
    MeasuredDraft(const RunIndex& of, std::span<const IterationWindow> in)
        : run(of),
          trace(of.trace()),
          found(of.trace().annotations()),
          windows(in),
          window{in.front().window.begin, in.back().window.end},
          resolution(of.resolution().value),
          computed(of.trace().ranks().size()) {}

    const RunIndex& run;
    const trace::Trace& trace;
    const trace::Annotations& found;
    const std::span<const IterationWindow> windows;
    const base::Interval window;  // from the first one's begin to the last one's end
    const base::Duration resolution;

    base::IdVector<NodeTag, Node> nodes;
    std::vector<Edge> edges;
    Contradictions contradictions;
    std::vector<std::uint32_t> replica;           // [RankId index]: ranks of one pipeline share it
    std::vector<std::vector<Computed>> computed;  // [RankId index], in order
    std::vector<TransferPart> parts;              // in the order of the trace
    std::int32_t microbatches = 0;
    std::map<std::int32_t, std::int32_t> holder;  // stage -> pipeline coordinate

    // What an action's node is: what leads to it and what follows it.
    struct Ends {
        NodeId first, last;
    };
    // Whose action it is.
    struct Pass {
        std::uint32_t replica = 0;
        std::int32_t iteration = -1;
    };
    void name(Pass of, const schedule::Action& action, Ends ends) {
        m_byAction[of.iteration][keyOf(of.replica, action)] = ends;
    }
    [[nodiscard]] std::optional<Ends> find(Pass of, const schedule::Action& action) const {
        const auto actions = m_byAction.find(of.iteration);
        if (actions == m_byAction.end()) return std::nullopt;
        const auto known = actions->second.find(keyOf(of.replica, action));
        return known == actions->second.end() ? std::nullopt : std::optional(known->second);
    }
    // Of one of the windows, not left over from an earlier one.
    [[nodiscard]] bool isOwn(std::int32_t iteration) const {
        return iteration >= windows.front().iteration && iteration <= windows.back().iteration;
    }

    [[nodiscard]] base::Interval clip(base::Interval span) const;
    // The action of a task, with the parts of a composite, which stand only in its name.
    [[nodiscard]] schedule::Action actionOf(const trace::Task& task) const;
    // Leaves out what the times contradict by more than timers do, and counts it.
    void addEdge(NodeId from, NodeId to, EdgeReason reason);
    // When all that a node is known to depend on had ended.
    [[nodiscard]] base::IdVector<NodeTag, base::TraceTime> explainedTimes() const;

  private:
    // Stage and microbatch are below 2^20 (annotation sees to it), kinds below 2^4.
    using Key = std::uint64_t;
    static Key keyOf(std::uint32_t ofReplica, const schedule::Action& action) {
        return (Key{ofReplica} << 44) | (Key{static_cast<std::uint8_t>(action.kind)} << 40) |
               (Key{static_cast<std::uint32_t>(action.stage) & 0xfffffU} << 20) |
               (static_cast<std::uint32_t>(action.microbatch) & 0xfffffU);
    }
    // Tasks and receives, by iteration.
    std::unordered_map<std::int32_t, std::unordered_map<Key, Ends>> m_byAction;
};

void addNodes(MeasuredDraft& draft);
void addLinks(MeasuredDraft& draft);
// What surrounds the pipeline of a program with such timers (timer_rules.h). Part of addLinks.
void addTimerLinks(MeasuredDraft& draft);
// Without cycles, and with times that follow each other: what a node depends on ends before it
// begins, and the replay of the graph is what was measured.
[[nodiscard]] base::Result<TaskGraph> withTimes(MeasuredDraft draft);

}  // namespace pleat::graph
