#include <algorithm>
#include <map>
#include <unordered_map>

#include "annotate/timers.h"
#include "graph/measured_draft.h"
#include "graph/timer_rules.h"

namespace pleat::graph {
namespace {

using annotate::Timer;
using trace::RankId;

// What a rank did around its tasks: where what leads to it goes, what follows it.
struct Timed {
    base::TraceTime begin;
    NodeId entry, exit;
};

class TimerLinks {
  public:
    explicit TimerLinks(MeasuredDraft& draft) : m_draft(draft), m_of(draft.computed.size()) {}

    void run() {
        for (const TransferPart& part : m_draft.parts) {
            add(part.transfer->rank, part.transfer->event, part.transfer->iteration,
                {m_draft.nodes[part.node].measured.begin, part.entry, part.node});
        }
        if (m_of.empty()) return;
        for (std::size_t r = 0; r < m_draft.computed.size(); ++r) {
            for (const Computed& each : m_draft.computed[r]) {
                if (m_draft.nodes[each.last].kind == NodeKind::Phase)
                    add(RankId::at(r), each.event, m_draft.nodes[each.last].iteration,
                        {each.span.begin, each.first, each.last});
            }
        }
        for (std::size_t r = 0; r < m_of.size(); ++r) linkRank(r);
    }

  private:
    void add(RankId rank, trace::EventId event, std::int32_t iteration, const Timed& timed) {
        if (!event.valid() || iteration != m_draft.iteration) return;
        const base::StringId name = m_draft.trace.columns().name[event.index()];
        const auto [known, isNew] = m_known.try_emplace(name, nullptr);
        if (isNew) known->second = annotate::timerNamed(m_draft.trace.text(name));
        if (known->second != nullptr) m_of[rank.index()][known->second->name].push_back(timed);
    }

    void linkRank(std::size_t rank) {
        auto& timers = m_of[rank];
        if (timers.empty()) return;
        for (auto& [name, list] : timers) {
            std::stable_sort(list.begin(), list.end(),
                             [](const Timed& a, const Timed& b) { return a.begin < b.begin; });
        }
        const Computed* first = nullptr;
        const Computed* last = nullptr;
        for (const Computed& each : m_draft.computed[rank]) {
            const Node& node = m_draft.nodes[each.last];
            if (node.kind != NodeKind::Task || node.iteration != m_draft.iteration) continue;
            if (first == nullptr) first = &each;
            last = &each;
        }
        if (first == nullptr) return;
        NodeId before;
        for (const Timed& parameters : timers[kTimerBeforeTasks]) {
            link(before, parameters.entry);
            before = parameters.exit;
        }
        if (!timers[kTimerBeforeTasks].empty()) link(before, first->first);
        before = last->last;
        for (const std::string_view name : kTimersAfterTasks) {
            for (const Timed& timed : timers[name]) {
                link(before, timed.entry);
                before = timed.exit;
            }
        }
    }

    void link(NodeId before, NodeId after) {
        if (before.valid()) m_draft.addEdge(before, after, EdgeReason::Rule);
    }

    MeasuredDraft& m_draft;
    std::unordered_map<base::StringId, const Timer*> m_known;
    std::vector<std::map<std::string_view, std::vector<Timed>>> m_of;  // [RankId index]
};

}  // namespace

void addTimerLinks(MeasuredDraft& draft) { TimerLinks(draft).run(); }

}  // namespace pleat::graph
