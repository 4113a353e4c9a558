#include "models/pipeline_scene_maker.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "timeline/path_marks.h"

namespace pleat::models {
namespace {

using timeline::PipelineScene;
using timeline::PipelineTask;
using timeline::PipelineWork;

constexpr std::uint32_t kNoRow = std::numeric_limits<std::uint32_t>::max();

constexpr auto kByRowThenBegin = [](const auto& a, const auto& b) {
    return std::tie(a.row, a.span.begin) < std::tie(b.row, b.span.begin);
};

class SceneMaker {
  public:
    SceneMaker(const trace::Trace& trace, const analysis::IterationAnalysis& analysis)
        : m_trace(trace), m_analysis(analysis), m_rowOf(trace.ranks().size(), kNoRow) {
        m_scene.window = analysis.window.window;
    }

    PipelineScene make() && {
        addRows();
        findCriticalEvents();
        findSlack();
        addTasks();
        addMessages();
        addGaps();
        addGhosts();
        std::stable_sort(m_scene.tasks.begin(), m_scene.tasks.end(), kByRowThenBegin);
        std::stable_sort(m_scene.gaps.begin(), m_scene.gaps.end(), kByRowThenBegin);
        std::stable_sort(m_scene.ghosts.begin(), m_scene.ghosts.end(), kByRowThenBegin);
        return std::move(m_scene);
    }

  private:
    void addRows() {
        for (const analysis::RankIteration& rank : m_analysis.ranks) {
            m_rowOf[rank.rank.index()] = static_cast<std::uint32_t>(m_scene.rows.size());
            const trace::Rank& about = m_trace.ranks()[rank.rank];
            std::string title = "rank " + std::to_string(about.number);
            if (about.coordinates.pp >= 0) title += ", pp " + std::to_string(about.coordinates.pp);
            if (about.coordinates.dp > 0) title += ", dp " + std::to_string(about.coordinates.dp);
            m_scene.rows.push_back({about.number, title});
        }
    }

    void findCriticalEvents() {
        if (!m_analysis.graph) return;
        for (const analysis::PathPiece& piece : m_analysis.path) {
            if (piece.pause || !piece.node.valid()) continue;
            const graph::Node& node = m_analysis.graph->nodes()[piece.node];
            if (node.kind == graph::NodeKind::Task || node.kind == graph::NodeKind::Phase)
                m_critical.insert({node.kind, node.source});
        }
    }

    void findSlack() {
        if (!m_analysis.graph) return;
        m_scene.palest = timeline::palestSlack(m_scene.window);
        const auto& nodes = m_analysis.graph->nodes();
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            const graph::NodeId id = graph::NodeId::at(i);
            if (nodes[id].source >= 0)
                m_slack.emplace(std::pair(nodes[id].kind, nodes[id].source), m_analysis.slack[id]);
        }
    }
    [[nodiscard]] std::optional<base::Duration> slackOf(graph::NodeKind kind,
                                                        std::size_t source) const {
        const auto found = m_slack.find({kind, static_cast<std::int32_t>(source)});
        return found == m_slack.end() ? std::nullopt : std::optional(found->second);
    }

    [[nodiscard]] std::uint32_t rowOf(trace::RankId rank) const { return m_rowOf[rank.index()]; }
    [[nodiscard]] base::Interval clipped(base::Interval span) const {
        return intersect(span, m_scene.window);
    }
    [[nodiscard]] bool outside(base::Interval span) const {
        return span.end < m_scene.window.begin || span.begin >= m_scene.window.end;
    }

    void addTasks() {
        const trace::Annotations& found = m_trace.annotations();
        for (std::size_t i = 0; i < found.tasks.size(); ++i) {
            const trace::Task& task = found.tasks[trace::TaskId::at(i)];
            if (rowOf(task.rank) == kNoRow || outside(task.span)) continue;
            m_scene.tasks.push_back(
                {rowOf(task.rank), PipelineWork::Task, task.kind, task.stage, task.chunk,
                 task.microbatch, clipped(task.span), task.event,
                 m_critical.contains({graph::NodeKind::Task, static_cast<std::int32_t>(i)}),
                 slackOf(graph::NodeKind::Task, i)});
        }
        for (std::size_t i = 0; i < found.phases.size(); ++i) {
            const trace::Phase& phase = found.phases[i];
            if (rowOf(phase.rank) == kNoRow || outside(phase.span)) continue;
            const bool data = phase.kind == trace::PhaseKind::DataLoading;
            PipelineTask task;
            task.row = rowOf(phase.rank);
            task.work = data ? PipelineWork::DataLoading : PipelineWork::Optimizer;
            task.span = clipped(phase.span);
            task.event = phase.event;
            task.critical =
                m_critical.contains({graph::NodeKind::Phase, static_cast<std::int32_t>(i)});
            task.slack = slackOf(graph::NodeKind::Phase, i);
            m_scene.tasks.push_back(task);
        }
    }

    // From the row that sent to the row that received, while data moved.
    void addMessages() {
        const trace::Annotations& found = m_trace.annotations();
        for (const trace::Match& match : found.matches) {
            const trace::Transfer *sent = nullptr, *received = nullptr;
            for (const trace::TransferId member : match.members) {
                const trace::Transfer& transfer = found.transfers[member];
                if (transfer.operation == trace::Operation::Send) sent = &transfer;
                if (transfer.operation == trace::Operation::Receive) received = &transfer;
            }
            if (sent == nullptr || received == nullptr || outside(received->span)) continue;
            const std::uint32_t from = rowOf(sent->rank), to = rowOf(received->rank);
            if (from == kNoRow || to == kNoRow || from == to) continue;
            const base::TraceTime begin = std::min(match.ready, received->span.end);
            m_scene.messages.push_back(
                {from, to, {begin, received->span.end}, received->microbatch, received->event});
        }
        std::stable_sort(m_scene.messages.begin(), m_scene.messages.end(),
                         [](const auto& a, const auto& b) { return a.span.begin < b.span.begin; });
    }

    void addGaps() {
        std::uint32_t number = 0;
        for (const analysis::RankIteration& rank : m_analysis.ranks) {
            for (const analysis::IdleGap& gap : rank.bubble) {
                std::vector<double> shares;
                const auto whole = static_cast<double>(gap.causes.total().ns);
                for (const base::Duration part : gap.causes.of)
                    shares.push_back(static_cast<double>(part.ns) / whole);
                for (const base::Interval piece : gap.pieces)
                    m_scene.gaps.push_back({rowOf(rank.rank), piece, number, shares});
                ++number;
            }
        }
    }

    // On the rows of the same pipeline rank, in every replica.
    void addGhosts() {
        if (!m_analysis.ideal) return;
        const base::Duration begin = m_scene.window.begin - base::TraceTime{};
        for (const analysis::RankIteration& rank : m_analysis.ranks) {
            const std::int32_t pp = m_trace.ranks()[rank.rank].coordinates.pp;
            const graph::TaskGraph& graph = m_analysis.ideal->graph;
            for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
                const graph::Node& node = graph.nodes()[graph::NodeId::at(i)];
                if (node.kind != graph::NodeKind::Task || node.rank != pp) continue;
                const base::Interval span = m_analysis.ideal->times.of[graph::NodeId::at(i)];
                PipelineTask ghost;
                ghost.row = rowOf(rank.rank);
                ghost.kind = node.action;
                ghost.stage = node.stage;
                ghost.microbatch = node.microbatch;
                ghost.span = {span.begin + begin, span.end + begin};
                m_scene.ghosts.push_back(ghost);
            }
        }
    }

    const trace::Trace& m_trace;
    const analysis::IterationAnalysis& m_analysis;
    std::vector<std::uint32_t> m_rowOf;  // by rank
    std::set<std::pair<graph::NodeKind, std::int32_t>> m_critical;
    std::map<std::pair<graph::NodeKind, std::int32_t>, base::Duration> m_slack;
    PipelineScene m_scene;
};

}  // namespace

PipelineScene makePipelineScene(const trace::Trace& trace,
                                const analysis::IterationAnalysis& analysis) {
    return SceneMaker(trace, analysis).make();
}

}  // namespace pleat::models
