#include "graph/work_graph.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace pleat::graph {
namespace {

using base::Interval;
using trace::RankId;

// By RankId: when its devices computed or copied, sorted and merged.
std::vector<std::vector<Interval>> ownWork(const RunIndex& run) {
    const trace::Trace& trace = run.trace();
    const trace::EventColumns& columns = trace.columns();
    std::vector<std::vector<Interval>> work(trace.ranks().size());
    for (std::size_t i = 0; i < trace.lanes().size(); ++i) {
        const trace::Lane& lane = trace.lanes()[trace::LaneId::at(i)];
        if (lane.kind != trace::LaneKind::DeviceStream) continue;
        const auto events = trace.eventsOf(trace::LaneId::at(i));
        for (std::size_t e = events.first.index(); e < events.last.index(); ++e) {
            const DeviceWork kind = run.kinds().of(trace::EventId::at(e));
            if (kind != DeviceWork::Compute && kind != DeviceWork::Copy) continue;
            const base::TraceTime begin{columns.startNs[e]};
            work[lane.rank.index()].push_back(
                {begin, begin + base::Duration{columns.durationNs[e]}});
        }
    }
    for (std::vector<Interval>& intervals : work) {
        std::sort(intervals.begin(), intervals.end(),
                  [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
        std::vector<Interval> merged;
        for (const Interval& interval : intervals) {
            if (merged.empty() || merged.back().end < interval.begin) {
                merged.push_back(interval);
            } else {
                merged.back().end = std::max(merged.back().end, interval.end);
            }
        }
        intervals = std::move(merged);
    }
    return work;
}

// What communications need: all members of one belong to the same window.
base::TraceTime momentOf(const trace::Annotations& found, const trace::Transfer& transfer) {
    return transfer.match.valid() ? found.matches[transfer.match].ready : transfer.span.begin;
}

// [window][rank]: the transfers whose moment lies in it, in order of their begins.
using Transfers = std::vector<std::vector<std::vector<trace::TransferId>>>;

Transfers transfersOf(const RunIndex& run, std::span<const IterationWindow> windows) {
    const trace::Annotations& found = run.trace().annotations();
    Transfers transfers(windows.size(),
                        std::vector<std::vector<trace::TransferId>>(run.trace().ranks().size()));
    for (std::size_t i = 0; i < found.transfers.size(); ++i) {
        const trace::TransferId id = trace::TransferId::at(i);
        const base::TraceTime moment = momentOf(found, found.transfers[id]);
        const auto after = std::upper_bound(windows.begin(), windows.end(), moment,
                                            [](base::TraceTime t, const IterationWindow& window) {
                                                return t < window.window.begin;
                                            });
        if (after == windows.begin() || moment >= (after - 1)->window.end) continue;
        transfers[static_cast<std::size_t>(after - windows.begin()) - 1]
                 [found.transfers[id].rank.index()]
                     .push_back(id);
    }
    for (auto& ofRanks : transfers) {
        for (auto& ids : ofRanks) {
            std::stable_sort(ids.begin(), ids.end(), [&](auto a, auto b) {
                return found.transfers[a].span.begin < found.transfers[b].span.begin;
            });
        }
    }
    return transfers;
}

class Maker {
  public:
    Maker(const RunIndex& run, const IterationWindow& window)
        : m_trace(run.trace()),
          m_found(m_trace.annotations()),
          m_window(window.window),
          m_iteration(window.iteration) {}

    // `work` is of the rank, from the first that ends after the window's begin on.
    void addRank(RankId rank, std::span<const Interval> work,
                 const std::vector<trace::TransferId>& transfers) {
        const std::vector<Cut> cuts = cutsOf(transfers);
        const std::uint64_t sequence = sequenceOf(transfers);
        std::uint32_t begun = 0;
        m_next = 0;
        base::TraceTime from = m_window.begin;
        std::vector<Stretch> stretches;
        for (std::size_t i = 0; i <= cuts.size(); ++i) {
            const base::TraceTime to = i < cuts.size() ? cuts[i].time : m_window.end;
            if (from < to) addStretch(rank, work, {from, to}, {sequence, begun}, stretches);
            if (i < cuts.size() && cuts[i].isBegin) ++begun;
            from = std::max(from, to);
        }
        for (std::size_t i = 1; i < stretches.size(); ++i)
            addEdge(stretches[i - 1].node, stretches[i].node);
        addTransfers(transfers, stretches);
    }

    base::Result<WorkGraph> build() && {
        base::IdVector<NodeTag, base::TraceTime> free(m_nodes.size(), m_window.begin);
        for (const auto& [from, to] : m_edges)
            free[to] = std::max(free[to], m_nodes[from].measured.end);
        for (std::size_t i = 0; i < m_nodes.size(); ++i) {
            Node& node = m_nodes[NodeId::at(i)];
            node.delay = std::max(base::Duration{}, node.measured.begin - free[NodeId::at(i)]);
        }
        auto graph = TaskGraph::build(std::move(m_nodes), std::move(m_edges));
        if (!graph) return graph.error();
        return WorkGraph{std::move(*graph), std::move(m_positions)};
    }

  private:
    struct Cut {
        base::TraceTime time;
        bool isBegin = false;
    };

    struct Stretch {
        NodeId node;
        base::TraceTime begin, end;  // of its first and last work
        bool afterIdle = false;      // nothing ran right before it
    };

    std::vector<Cut> cutsOf(const std::vector<trace::TransferId>& transfers) const {
        std::vector<Cut> cuts;
        for (const trace::TransferId id : transfers) {
            const Interval span = clip(m_found.transfers[id].span);
            cuts.push_back({span.begin, true});
            cuts.push_back({span.end, false});
        }
        std::stable_sort(cuts.begin(), cuts.end(),
                         [](const Cut& a, const Cut& b) { return a.time < b.time; });
        return cuts;
    }

    // The kinds of communication in order, as one number (FNV-1a).
    std::uint64_t sequenceOf(const std::vector<trace::TransferId>& transfers) const {
        std::uint64_t hash = 0xcbf2'9ce4'8422'2325U;
        for (const trace::TransferId id : transfers) {
            const trace::Transfer& transfer = m_found.transfers[id];
            for (const auto part : {static_cast<std::uint64_t>(transfer.operation),
                                    static_cast<std::uint64_t>(transfer.dimension)})
                hash = (hash ^ part) * 0x100'0000'01b3U;
        }
        return hash;
    }

    Interval clip(Interval span) const {
        return {std::clamp(span.begin, m_window.begin, m_window.end),
                std::clamp(span.end, m_window.begin, m_window.end)};
    }

    NodeId addNode(NodeKind kind, RankId rank, Interval span, std::size_t source) {
        Node node;
        node.kind = kind;
        node.rank = rank.valid() ? static_cast<std::int32_t>(rank.index()) : -1;
        node.iteration = m_iteration;
        node.measured = span;
        node.duration = span.length();
        node.source = static_cast<std::int32_t>(source);
        m_positions.push({});
        return m_nodes.push(node);
    }

    // What of the rank's work lies within; `m_next` moves on along it.
    void addStretch(RankId rank, std::span<const Interval> work, Interval within,
                    WorkPosition position, std::vector<Stretch>& stretches) {
        while (m_next < work.size() && work[m_next].end <= within.begin) ++m_next;
        base::Duration busy;
        base::TraceTime first, last;
        for (std::size_t i = m_next; i < work.size() && work[i].begin < within.end; ++i) {
            const Interval part{std::max(work[i].begin, within.begin),
                                std::min(work[i].end, within.end)};
            if (part.end <= part.begin) continue;
            if (busy.ns == 0) first = part.begin;
            busy += part.length();
            last = part.end;
        }
        if (busy.ns == 0) return;
        Stretch stretch{addNode(NodeKind::Work, rank, {last - busy, last}, 0), first, last, false};
        m_nodes[stretch.node].source = -1;
        stretch.afterIdle = stretches.empty() || stretches.back().end < first;
        m_positions[stretch.node] = position;
        stretches.push_back(stretch);
    }

    void addTransfers(const std::vector<trace::TransferId>& transfers,
                      const std::vector<Stretch>& stretches) {
        std::map<trace::LaneId, NodeId> lastOnLane;
        for (const trace::TransferId id : transfers) {
            const trace::Transfer& transfer = m_found.transfers[id];
            const Interval span = clip(transfer.span);
            const base::TraceTime ready =
                std::clamp(momentOf(m_found, transfer), span.begin, std::max(span.begin, span.end));
            const NodeId node =
                addNode(NodeKind::Transfer, transfer.rank, {ready, span.end}, id.index());
            m_nodes[node].dimension = transfer.dimension;
            const NodeId entry = transfer.match.valid() ? readyNode(transfer) : node;
            if (entry != node) addEdge(entry, node);
            const trace::LaneId lane = m_trace.columns().lane[transfer.event.index()];
            const auto before = lastOnLane.find(lane);
            if (before != lastOnLane.end()) addEdge(before->second, entry);
            lastOnLane[lane] = node;
            linkWork(span, node, entry, stretches);
        }
    }

    void linkWork(Interval span, NodeId node, NodeId entry, const std::vector<Stretch>& stretches) {
        const auto after = std::upper_bound(
            stretches.begin(), stretches.end(), span.begin,
            [](base::TraceTime t, const Stretch& stretch) { return t < stretch.end; });
        if (after != stretches.begin()) addEdge((after - 1)->node, entry);
        auto next = std::lower_bound(
            stretches.begin(), stretches.end(), span.end,
            [](const Stretch& stretch, base::TraceTime t) { return stretch.begin < t; });
        while (next != stretches.end() && !next->afterIdle) ++next;
        if (next != stretches.end()) addEdge(node, next->node);
    }

    NodeId readyNode(const trace::Transfer& transfer) {
        NodeId& ready = m_ready[transfer.match];
        if (!ready.valid()) {
            const base::TraceTime moment =
                clip({m_found.matches[transfer.match].ready, m_window.end}).begin;
            ready = addNode(NodeKind::Ready, RankId(), {moment, moment}, transfer.match.index());
            m_nodes[ready].dimension = transfer.dimension;
        }
        return ready;
    }

    // As in the measured graph: what times contradict is left out, which rules cycles out.
    void addEdge(NodeId from, NodeId to) {
        const Interval before = m_nodes[from].measured, after = m_nodes[to].measured;
        if (from == to || before.begin > after.begin || before.end > after.end) return;
        m_edges.emplace_back(from, to);
    }

    const trace::Trace& m_trace;
    const trace::Annotations& m_found;
    Interval m_window;
    std::int32_t m_iteration;
    std::size_t m_next = 0;
    base::IdVector<NodeTag, Node> m_nodes;
    base::IdVector<NodeTag, WorkPosition> m_positions;
    std::vector<std::pair<NodeId, NodeId>> m_edges;
    std::unordered_map<trace::MatchId, NodeId> m_ready;
};

}  // namespace

std::vector<base::Result<WorkGraph>> workGraphs(const RunIndex& run,
                                                std::span<const IterationWindow> windows) {
    const auto work = ownWork(run);
    const Transfers transfers = transfersOf(run, windows);
    std::vector<std::size_t> next(work.size(), 0);  // first work that ends after the window's begin
    std::vector<base::Result<WorkGraph>> graphs;
    for (std::size_t w = 0; w < windows.size(); ++w) {
        Maker maker(run, windows[w]);
        for (const RankId rank : run.trainingRanks()) {
            std::size_t& first = next[rank.index()];
            const auto& intervals = work[rank.index()];
            while (first < intervals.size() && intervals[first].end <= windows[w].window.begin)
                ++first;
            maker.addRank(rank, std::span(intervals).subspan(first), transfers[w][rank.index()]);
        }
        graphs.push_back(std::move(maker).build());
    }
    return graphs;
}

}  // namespace pleat::graph
