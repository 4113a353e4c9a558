#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/measured_draft.h"
#include "graph/timer_rules.h"
#include "trace/timer_names.h"

namespace pleat::graph {
namespace {

using trace::RankId;
using trace::Timer;

// What a rank did around its tasks: where what leads to it goes, what follows it.
struct Timed {
    base::TraceTime begin;
    NodeId entry, exit;
};

class TimerLinks {
  public:
    explicit TimerLinks(MeasuredDraft& draft) : m_draft(draft), m_names(draft.trace) {}

    void run() {
        for (const TransferPart& part : m_draft.parts) {
            add(part.transfer->rank, part.transfer->event, part.transfer->iteration,
                {m_draft.nodes[part.node].measured.begin, part.entry, part.node});
        }
        if (m_of.empty()) return;
        for (std::size_t r = 0; r < m_draft.computed.size(); ++r) {
            for (const Computed& each : m_draft.computed[r]) {
                const Node& node = m_draft.nodes[each.last];
                if (node.kind == NodeKind::Task) {
                    Tasks& tasks = m_tasks[{r, node.iteration}];
                    if (tasks.first == nullptr) tasks.first = &each;
                    tasks.last = &each;
                }
                if (node.kind == NodeKind::Phase)
                    add(RankId::at(r), each.event, m_draft.nodes[each.last].iteration,
                        {each.span.begin, each.first, each.last});
            }
        }
        for (auto& [pass, timers] : m_of) linkPass(m_tasks[pass], timers);
    }

  private:
    using Pass = std::pair<std::size_t, std::int32_t>;  // RankId index, iteration
    using Timers = std::map<std::string_view, std::vector<Timed>>;
    struct Tasks {
        const Computed* first = nullptr;
        const Computed* last = nullptr;
    };

    void add(RankId rank, trace::EventId event, std::int32_t iteration, const Timed& timed) {
        if (!event.valid() || !m_draft.isOwn(iteration)) return;
        if (const Timer* timer = m_names.of(event))
            m_of[{rank.index(), iteration}][timer->name].push_back(timed);
    }

    void linkPass(const Tasks& tasks, Timers& timers) {
        if (tasks.first == nullptr) return;
        for (auto& [name, list] : timers) {
            std::stable_sort(list.begin(), list.end(),
                             [](const Timed& a, const Timed& b) { return a.begin < b.begin; });
        }
        NodeId before;
        for (const Timed& parameters : timers[kTimerBeforeTasks]) {
            link(before, parameters.entry);
            before = parameters.exit;
        }
        if (!timers[kTimerBeforeTasks].empty()) link(before, tasks.first->first);
        before = tasks.last->last;
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
    trace::TimerNames m_names;
    std::map<Pass, Timers> m_of;
    std::map<Pass, Tasks> m_tasks;
};

}  // namespace

void addTimerLinks(MeasuredDraft& draft) { TimerLinks(draft).run(); }

}  // namespace pleat::graph
