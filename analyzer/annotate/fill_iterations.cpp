#include "annotate/fill_iterations.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "annotate/drained_iterations.h"

namespace pleat::annotate {
namespace {

using trace::RankId;
constexpr std::int32_t kLastIteration = std::numeric_limits<std::int32_t>::max();

// Iteration ranges of the ranks, for asking in which one a moment lies.
class Enclosing {
  public:
    explicit Enclosing(const std::vector<trace::IterationSpan>& spans) : m_spans(spans) {}

    // The last one that began at or before `moment`, the rank's first when none did; nothing when
    // the rank has no iteration ranges.
    [[nodiscard]] const trace::IterationSpan* at(RankId rank, base::TraceTime moment) const {
        const auto after = std::upper_bound(m_spans.begin(), m_spans.end(), std::pair(rank, moment),
                                            [](const auto& key, const trace::IterationSpan& span) {
                                                return key < std::pair(span.rank, span.span.begin);
                                            });
        if (after != m_spans.begin() && std::prev(after)->rank == rank) return &*std::prev(after);
        return after != m_spans.end() && after->rank == rank ? &*after : nullptr;
    }

  private:
    const std::vector<trace::IterationSpan>& m_spans;
};

class IterationGuess {
  public:
    explicit IterationGuess(Draft& draft) : m_draft(draft), m_enclosing(draft.enclosing) {}

    // Iteration ranges that do not say their number are counted on their rank.
    void numberRanges() {
        RankId rank;
        std::int32_t next = 0;
        std::unordered_map<trace::EventId, std::int32_t> numberOf;
        for (trace::IterationSpan& span : m_draft.enclosing) {
            if (span.rank != rank) next = 0;
            rank = span.rank;
            if (span.iteration < 0) {
                span.iteration = next;
                note("fields_guessed", span.event, "iteration ranges were counted");
            }
            next = span.iteration + (span.iteration < kLastIteration ? 1 : 0);
            numberOf[span.event] = span.iteration;
        }
        for (trace::IterationSpan& span : m_draft.found.iterations) {
            span.iteration = numberOf[span.event];
        }
    }

    // A transfer outside all iteration ranges belongs to the iteration of the task in which it was
    // called, else of the task before, else of the rank's first task. Tasks have their own.
    void fillByTasks(trace::Transfer& transfer) {
        if (transfer.iteration >= 0) return;
        const auto& tasks = m_draft.found.tasks.items();
        const auto first =
            std::lower_bound(tasks.begin(), tasks.end(), transfer.rank,
                             [](const trace::Task& task, RankId rank) { return task.rank < rank; });
        if (first == tasks.end() || first->rank != transfer.rank) return;
        const bool onDevice = isOnDevice(m_draft.events.event(first->event).lane);
        const base::TraceTime moment = onDevice ? transfer.span.begin : calledAt(transfer);
        const auto after = std::upper_bound(first, tasks.end(), std::pair(transfer.rank, moment),
                                            [](const auto& key, const trace::Task& task) {
                                                return key < std::pair(task.rank, task.span.begin);
                                            });
        transfer.iteration = (after == first ? first : std::prev(after))->iteration;
        note("iteration_guessed", transfer.event,
             "iteration taken from the task in or after which it was called");
    }

    // Items come in order of rank and start.
    template <class Item>
    void fill(Item& item, bool countable) {
        if (item.iteration >= 0) return;
        if (const trace::IterationSpan* span = m_enclosing.at(item.rank, calledAt(item))) {
            item.iteration = span->iteration;
            note("fields_guessed", item.event, "iteration taken from the enclosing range");
        } else if (countable) {
            const base::StringId name = m_draft.events.columns().name[item.event.index()];
            item.iteration = m_repetitions[{item.rank, name, identityOf(item)}]++;
            note("iteration_guessed", item.event,
                 "iteration counted by how often the rank ran it before");
        }
    }

  private:
    // What tells items of one name apart that an iteration has once each: names may leave the stage
    // and microbatch to the arguments, and one range may be two messages.
    using Identity = std::tuple<int, std::int32_t, std::int32_t, std::int32_t>;
    static Identity identityOf(const trace::Task& task) {
        return {static_cast<int>(task.kind), task.stage, task.chunk, task.microbatch};
    }
    static Identity identityOf(const trace::Transfer& transfer) {
        return {transfer.action ? static_cast<int>(*transfer.action) : -1, transfer.stage,
                transfer.chunk, transfer.microbatch};
    }
    static Identity identityOf(const trace::Phase& phase) {
        return {static_cast<int>(phase.kind), -1, -1, -1};
    }

    template <class Item>
    [[nodiscard]] base::TraceTime calledAt(const Item& item) const {
        const trace::EventId call = callOf(item.event, item.span);
        return call.valid() ? m_draft.events.event(call).span.begin : item.span.begin;
    }

    // A range on a device's stream was not called itself: the first work within it was. The host
    // may be an iteration ahead of it.
    [[nodiscard]] trace::EventId callOf(trace::EventId event, base::Interval span) const {
        constexpr int kLongestSearch = 64;
        const trace::Trace& events = m_draft.events;
        const trace::EventId own = events.launchOf(event);
        const trace::LaneId lane = events.event(event).lane;
        if (own.valid() || !isOnDevice(lane)) return own;
        const auto ofLane = events.eventsOf(lane);
        trace::EventId next(event.index() + 1);
        for (int i = 0; i < kLongestSearch && next < ofLane.last; ++i) {
            if (events.event(next).span.begin > span.end) break;
            const trace::EventId call = events.launchOf(next);
            if (call.valid()) return call;
            next = trace::EventId(next.index() + 1);
        }
        return {};
    }

    [[nodiscard]] bool isOnDevice(trace::LaneId lane) const {
        return m_draft.events.lanes()[lane].kind == trace::LaneKind::DeviceStream;
    }

    void note(base::DiagnosticCode code, trace::EventId event, std::string_view what) {
        m_draft.diagnostics.add(
            code, [&] { return fmt::format("\"{}\": {}", m_draft.events.name(event), what); });
    }

    Draft& m_draft;
    Enclosing m_enclosing;
    std::map<std::tuple<RankId, base::StringId, Identity>, std::int32_t> m_repetitions;
};

}  // namespace

void fillIterations(Draft& draft) {
    IterationGuess guess(draft);
    guess.numberRanges();
    numberDrainedIterations(draft);
    for (trace::Task& task : draft.found.tasks) guess.fill(task, true);
    for (trace::Phase& phase : draft.found.phases) guess.fill(phase, true);
    for (trace::Transfer& transfer : draft.found.transfers) {
        guess.fill(transfer, transfer.action.has_value());
        guess.fillByTasks(transfer);
    }
}

}  // namespace pleat::annotate
