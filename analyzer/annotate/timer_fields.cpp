#include "annotate/timer_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/say.h"
#include "trace/arguments.h"
#include "trace/limits.h"

namespace pleat::annotate {
namespace {

class TimerFieldReader {
  public:
    explicit TimerFieldReader(Draft& draft) : m_draft(draft) {}

    std::vector<TimerFields> run() {
        const base::StringPool& strings = m_draft.events.columns().strings;
        for (std::size_t i = 0; i < strings.size(); ++i)
            m_meanings.push_back(trace::timerNamed(strings.text(base::StringId::at(i))));
        const bool any = std::any_of(m_meanings.begin(), m_meanings.end(),
                                     [](const trace::Timer* timer) { return timer != nullptr; });
        if (!any) return {};
        for (std::size_t i = 0; i < m_draft.events.eventCount(); ++i) read(trace::EventId::at(i));
        const bool anyStep = std::any_of(m_timers.begin(), m_timers.end(),
                                         [](const TimerFields& t) { return t.step >= 0; });
        if (!anyStep) return {};
        fillSteps();
        fillTasks();
        std::sort(m_timers.begin(), m_timers.end(),
                  [](const TimerFields& a, const TimerFields& b) { return a.event < b.event; });
        return std::move(m_timers);
    }

  private:
    void read(trace::EventId id) {
        const trace::Timer* known = m_meanings[m_draft.events.columns().name[id.index()].index()];
        if (known == nullptr) return;
        const trace::Event event = m_draft.events.event(id);
        if (event.kind != trace::EventKind::Range) return;
        (void)m_arguments.read(m_draft.events.arguments(id));
        TimerFields timer;
        timer.event = id;
        timer.timer = known;
        timer.rank = m_draft.rankOf(event);
        timer.span = event.span;
        timer.step = m_arguments.integer32("step").value_or(-1);
        timer.sequence = m_arguments.integer("seq_id");
        timer.chunk = numberOf("model_chunk");
        timer.microbatch = numberOf("mb_id");
        // These timers write -1 where they mean none.
        if (timer.chunk < 0 && m_arguments.has("model_chunk") &&
            m_arguments.integer("model_chunk") != -1)
            m_lost.push_back({id, "model_chunk"});
        // Without any chunk in the file, a rank has one.
        m_chunks = std::max(m_chunks, timer.chunk + 1);
        m_timers.push_back(timer);
    }

    // -1 where it is no number that a trace can hold.
    [[nodiscard]] std::int32_t numberOf(std::string_view field) const {
        const auto value = m_arguments.integer32(field);
        return value && *value >= 0 && *value <= trace::kMaximumNumber ? *value : -1;
    }

    void fillSteps() {
        std::sort(m_timers.begin(), m_timers.end(), [](const auto& a, const auto& b) {
            return std::tie(a.rank, a.span.begin, a.event) <
                   std::tie(b.rank, b.span.begin, b.event);
        });
        // By timer: the next of its rank that says its step.
        std::vector<const TimerFields*> after(m_timers.size(), nullptr);
        for (std::size_t i = m_timers.size(); i-- > 0;) {
            if (i + 1 == m_timers.size() || m_timers[i + 1].rank != m_timers[i].rank) continue;
            after[i] = m_timers[i + 1].step >= 0 ? &m_timers[i + 1] : after[i + 1];
        }
        std::vector<std::pair<std::size_t, std::int32_t>> filled;
        const TimerFields* before = nullptr;
        for (std::size_t i = 0; i < m_timers.size(); ++i) {
            TimerFields& timer = m_timers[i];
            if (before != nullptr && before->rank != timer.rank) before = nullptr;
            if (timer.step >= 0) {
                before = &timer;
            } else if (const TimerFields* near = nearer(before, timer, after[i])) {
                filled.emplace_back(i, near->step);
                lost(timer.event, "step");
            }
        }
        for (const auto& [i, step] : filled) m_timers[i].step = step;
        // Ranks of which no timer says its step.
        std::erase_if(m_timers, [&](const TimerFields& timer) {
            if (timer.step < 0) lost(timer.event, "step");
            return timer.step < 0;
        });
    }

    // A lost step is that of the rank's timer before or after, whichever is nearer: steps lie
    // apart.
    [[nodiscard]] static const TimerFields* nearer(const TimerFields* before,
                                                   const TimerFields& timer,
                                                   const TimerFields* after) {
        if (before == nullptr || after == nullptr) return before == nullptr ? after : before;
        const base::Duration since = timer.span.begin - before->span.end;
        return since <= after->span.begin - timer.span.end ? before : after;
    }

    void fillTasks() {
        using Key = std::tuple<trace::RankId, std::int32_t, schedule::ActionKind>;
        std::map<Key, std::vector<TimerFields*>> groups;
        for (TimerFields& timer : m_timers) {
            if (timer.timer->role != trace::TimerRole::Task) {
                timer.chunk = std::max(timer.chunk, 0);
                continue;
            }
            if (timer.chunk < 0 && m_chunks <= 1) timer.chunk = 0;
            groups[{timer.rank, timer.step, timer.timer->action}].push_back(&timer);
        }
        for (auto& [key, tasks] : groups) fillGroup(tasks);
        for (const auto& [event, field] : m_lost) lost(event, field);
    }

    // One rank's forwards, or backwards, of one step.
    void fillGroup(std::vector<TimerFields*>& tasks) {
        const bool numbered = std::all_of(tasks.begin(), tasks.end(), [](const auto* task) {
            return task->sequence.has_value();
        });
        if (numbered) {
            std::stable_sort(tasks.begin(), tasks.end(), [](const auto* a, const auto* b) {
                return *a->sequence < *b->sequence;
            });
        }
        std::set<std::pair<std::int32_t, std::int32_t>> taken;  // chunk, microbatch
        for (const TimerFields* task : tasks) {
            if (task->chunk >= 0 && task->microbatch >= 0)
                taken.emplace(task->chunk, task->microbatch);
        }
        std::map<std::int32_t, std::int32_t> nextOfChunk;
        for (TimerFields* task : tasks) {
            if (task->chunk < 0 && task->microbatch >= 0) {
                for (std::int32_t chunk = 0; chunk < m_chunks && task->chunk < 0; ++chunk) {
                    if (taken.emplace(chunk, task->microbatch).second) task->chunk = chunk;
                }
            } else if (task->chunk >= 0 && task->microbatch < 0) {
                std::int32_t& next = nextOfChunk[task->chunk];
                while (!taken.emplace(task->chunk, next).second) ++next;
                task->microbatch = next++;
                lost(task->event, "mb_id");
            }
        }
    }

    void lost(trace::EventId event, std::string_view field) {
        const base::Diagnostic* known = m_draft.diagnostics.find("field_unreadable");
        m_draft.diagnostics.add(
            "field_unreadable",
            known != nullptr
                ? std::string()
                : fmt::format("\"{}\" at {} ns: \"{}\" is missing, null, out of range or not a "
                              "whole number; derived from the rank's other timers",
                              base::printable(m_draft.events.name(event), 80),
                              m_draft.events.event(event).span.begin.ns, field));
    }

    Draft& m_draft;
    trace::Arguments m_arguments;
    std::vector<const trace::Timer*> m_meanings;  // by name
    std::vector<TimerFields> m_timers;
    std::vector<std::pair<trace::EventId, std::string_view>> m_lost;  // noted where timers are used
    std::int32_t m_chunks = 0;
};

}  // namespace

std::vector<TimerFields> readTimerFields(Draft& draft) { return TimerFieldReader(draft).run(); }

}  // namespace pleat::annotate
