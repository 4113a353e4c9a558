#include "analysis/replay_windows.h"

#include <algorithm>
#include <iterator>
#include <map>

namespace pleat::analysis {
namespace {

using graph::Node;
using graph::NodeId;
using graph::NodeKind;

// The last work of the rank that begins the window. It began the next one too.
NodeId lastOf(const base::IdVector<graph::NodeTag, Node>& nodes, const ReplayWindow& window) {
    NodeId last;
    if (!window.begins.valid()) return last;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const Node& node = nodes[NodeId::at(i)];
        if (node.rank != nodes[window.begins].rank || node.iteration != window.iteration ||
            (node.kind != NodeKind::Task && node.kind != NodeKind::Phase))
            continue;
        if (!last.valid() || node.measured.end >= nodes[last].measured.end) last = NodeId::at(i);
    }
    return last;
}

// Where time passes between two windows nothing of the first holds up the second, and that time is
// no pause of either.
bool follows(const graph::IterationWindow& before, const graph::IterationWindow& after) {
    return before.window.end == after.window.begin;
}

}  // namespace

std::size_t stretchFrom(const graph::RunIndex& run,
                        std::span<const graph::IterationWindow> windows) {
    const auto nodesOf = [&](const graph::IterationWindow& window) {
        const graph::IterationItems items = run.itemsOf(window.iteration);
        return items.tasks.size() + items.phases.size() + items.transfers.size();
    };
    std::size_t count = 1, nodes = nodesOf(windows.front());
    while (count < windows.size() && (nodes < kMostTogetherNodes || count < kFewestTogether) &&
           run.iterationBefore(windows[count].iteration) == windows[count - 1].iteration &&
           follows(windows[count - 1], windows[count]))
        nodes += nodesOf(windows[count++]);
    return count;
}

const graph::IterationWindow* windowAfter(const graph::RunIndex& run, std::int32_t iteration) {
    const auto all = run.windows();
    const auto next =
        std::upper_bound(all.begin(), all.end(), iteration,
                         [](std::int32_t number, const graph::IterationWindow& window) {
                             return number < window.iteration;
                         });
    return next == all.end() ? nullptr : &*next;
}

std::vector<graph::IterationWindow> withWarmUp(const graph::RunIndex& run,
                                               std::span<const graph::IterationWindow> windows) {
    std::vector<graph::IterationWindow> all;
    const auto known = run.windows();
    const auto own =
        std::lower_bound(known.begin(), known.end(), windows.front().iteration,
                         [](const graph::IterationWindow& window, std::int32_t number) {
                             return window.iteration < number;
                         });
    if (own != known.begin() && std::prev(own)->complete && follows(*std::prev(own), *own))
        all.push_back(*std::prev(own));
    all.insert(all.end(), windows.begin(), windows.end());
    return all;
}

bool layOut(ReplayIteration& stretch, std::span<const graph::IterationWindow> windows,
            const graph::IterationWindow* next) {
    const auto& nodes = stretch.graph.nodes();
    std::map<std::int32_t, NodeId> firstTask, begins;  // by iteration
    const auto keepFirst = [&](std::map<std::int32_t, NodeId>& of, NodeId id) {
        NodeId& known = of[nodes[id].iteration];
        if (!known.valid() || nodes[id].measured.begin < nodes[known].measured.begin) known = id;
    };
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (nodes[NodeId::at(i)].kind == NodeKind::Task) keepFirst(firstTask, NodeId::at(i));
    }
    base::TraceTime last = windows.front().window.begin;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const Node& node = nodes[NodeId::at(i)];
        last = std::max(last, node.measured.end);
        if (node.kind != NodeKind::Task && node.kind != NodeKind::Phase) continue;
        const auto first = firstTask.find(node.iteration);
        if (first != firstTask.end() && node.rank == nodes[first->second].rank)
            keepFirst(begins, NodeId::at(i));
    }
    for (std::size_t w = 0; w < windows.size(); ++w) {
        const base::Interval span = windows[w].window;
        ReplayWindow window{
            windows[w].iteration, span.length(), begins[windows[w].iteration], {}, {}};
        if (window.begins.valid()) window.lead = nodes[window.begins].measured.begin - span.begin;
        if (w + 1 < windows.size()) window.idle = windows[w + 1].window.begin - span.end;
        if (w > 0 && !window.begins.valid()) return false;
        stretch.windows.push_back(window);
    }
    const base::TraceTime end = windows.back().window.end;
    stretch.rest = end - last;
    if (next == nullptr || next->window.begin != end) return true;
    stretch.ends = lastOf(nodes, stretch.windows.back());
    if (stretch.ends.valid()) stretch.rest = end - nodes[stretch.ends].measured.end;
    return true;
}

}  // namespace pleat::analysis
