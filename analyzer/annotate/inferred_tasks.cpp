#include "annotate/inferred_tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "annotate/advice.h"
#include "annotate/message_order.h"
#include "base/interval_set.h"
#include "base/statistics.h"
#include "schedule/generators.h"
#include "trace/device_work.h"

namespace pleat::annotate {
namespace {

using base::Duration;
using base::Interval;
using base::TraceTime;
using schedule::ActionKind;
using trace::TransferId;

struct Step {
    Flow flow = Forward;
    std::int32_t microbatch = 0;
};
using Order = std::vector<Step>;

// The compute order of every stage.
std::vector<Order> ordersOf(const schedule::Schedule& schedule) {
    std::vector<Order> orders;
    for (const auto& actions : schedule.order) {
        orders.emplace_back();
        for (const schedule::Action& action : actions) {
            if (!isCompute(action.kind)) continue;
            orders.back().push_back(
                {action.kind == ActionKind::Forward ? Forward : Backward, action.microbatch});
        }
    }
    return orders;
}

class Inference {
  public:
    explicit Inference(Draft& draft) : m_draft(draft), m_busy(draft.ranks.size()) {
        numberIterations(draft);
        m_messages = messagesOfRanks(draft);
    }

    InferredSchedule run() {
        if (m_messages.empty()) return {};
        m_microbatches = usualCount();
        m_stages = m_messages.front().place.stages;
        std::string best;
        std::vector<std::string> also;
        for (const char* name : {"1f1b", "gpipe"}) {
            const auto made = schedule::makeSchedule(name, {m_stages, m_microbatches, 1, 0});
            if (!made) continue;
            auto orders = ordersOf(*made);
            const double share = shareThatFits(orders);
            // With few microbatches both may fit, for the last stage's order shows in no message.
            if (share > 0 && share == m_confidence) also.emplace_back(name);
            if (share <= m_confidence) continue;
            also.clear();
            m_confidence = share;
            m_orders = std::move(orders);
            best = name;
        }
        if (m_confidence < 0.5) {
            m_draft.diagnostics.add(
                "pattern_not_understood",
                fmt::format("ranks exchange messages, but not in the order of GPipe or 1F1B with "
                            "one stage per rank, so no tasks were inferred; {}",
                            kHowToNameActions));
            return {};
        }
        findBusyTimes();
        measureAlone();
        for (const RankIteration& of : m_messages)
            if (of.isComplete(m_microbatches)) place(of);
        m_draft.diagnostics.add(
            "tasks_inferred",
            fmt::format("no event names a task; they were inferred from messages as {} with {} "
                        "microbatches on {} ranks, which fits {:.0f} % of the ranks' iterations{}",
                        best, m_microbatches, m_stages, 100 * m_confidence,
                        also.empty() ? "" : fmt::format("; {} fits as well", also.front())),
            static_cast<std::int64_t>(m_draft.found.tasks.size()));
        m_draft.sort();
        return {m_confidence, std::move(also)};
    }

  private:
    // How many messages of one kind an iteration usually has.
    [[nodiscard]] std::int32_t usualCount() const {
        std::map<std::size_t, int> seen;
        for (const RankIteration& of : m_messages)
            for (const auto* list : {&of.sent[Forward], &of.received[Forward]})
                if (!list->empty()) ++seen[list->size()];
        const auto usual =
            std::max_element(seen.begin(), seen.end(),
                             [](const auto& a, const auto& b) { return a.second < b.second; });
        return usual == seen.end() ? 0 : static_cast<std::int32_t>(usual->first);
    }

    [[nodiscard]] const trace::Transfer& transfer(TransferId id) const {
        return m_draft.found.transfers[id];
    }

    // When an action surely ended, and when what it needs had come; nothing at the pipeline's ends.
    [[nodiscard]] std::optional<TraceTime> endOf(const RankIteration& of, Step step) const {
        const auto& sent = of.sent[step.flow];
        if (sent.empty()) return std::nullopt;
        return transfer(sent[static_cast<std::size_t>(step.microbatch)]).span.begin;
    }
    [[nodiscard]] std::optional<TraceTime> arrivalOf(const RankIteration& of, Step step) const {
        const auto& received = of.received[step.flow];
        if (received.empty()) return std::nullopt;
        return transfer(received[static_cast<std::size_t>(step.microbatch)]).span.end;
    }

    // Ranks at the ends of the pipeline show only one kind of send; the first shows the order by
    // how many forwards left before the first gradient came, the last by nothing.
    [[nodiscard]] double shareThatFits(const std::vector<Order>& orders) const {
        std::size_t fits = 0, all = 0;
        for (const RankIteration& of : m_messages) {
            if (!of.isComplete(m_microbatches) || of.place.stage + 1 == of.place.stages) continue;
            if (of.place.stages != m_stages) continue;
            ++all;
            const Order& order = orders[static_cast<std::size_t>(of.place.stage)];
            fits += (of.place.stage == 0 ? forwardsFit(of, order) : sendsFit(of, order)) ? 1 : 0;
        }
        return all == 0 ? 0 : static_cast<double>(fits) / static_cast<double>(all);
    }

    [[nodiscard]] bool forwardsFit(const RankIteration& of, const Order& order) const {
        const auto firstBackward = std::find_if(
            order.begin(), order.end(), [](const Step& step) { return step.flow == Backward; });
        const TraceTime arrived = *arrivalOf(of, {Backward, firstBackward->microbatch});
        const auto left =
            std::count_if(of.sent[Forward].begin(), of.sent[Forward].end(),
                          [&](TransferId id) { return transfer(id).span.begin < arrived; });
        return left == firstBackward - order.begin();
    }

    [[nodiscard]] bool sendsFit(const RankIteration& of, const Order& order) const {
        return std::is_sorted(order.begin(), order.end(),
                              [&](Step a, Step b) { return *endOf(of, a) < *endOf(of, b); });
    }

    // Device work of each rank that is no communication.
    void findBusyTimes() {
        std::vector<std::vector<Interval>> busy(m_draft.ranks.size());
        const trace::DeviceWorkKinds kinds(m_draft.events.columns(), m_draft.found.transfers);
        for (std::size_t i = 0; i < m_draft.events.eventCount(); ++i) {
            const auto id = trace::EventId::at(i);
            const trace::Event event = m_draft.events.event(id);
            const trace::DeviceWork work = kinds.of(id);
            if (work == trace::DeviceWork::None || work == trace::DeviceWork::Communication)
                continue;
            busy[m_draft.rankOf(event).index()].push_back(event.span);
        }
        for (std::size_t i = 0; i < busy.size(); ++i)
            m_busy[trace::RankId::at(i)] = base::IntervalSet(std::move(busy[i]));
    }

    // `span` without idle time at its ends; as it is where the rank has no device work within.
    [[nodiscard]] Interval trimmed(trace::RankId rank, Interval span) const {
        const auto busy = m_busy[rank].intervals();
        auto first =
            std::upper_bound(busy.begin(), busy.end(), span.begin,
                             [](TraceTime time, const Interval& work) { return time < work.end; });
        if (first == busy.end() || first->begin >= span.end) return span;
        auto last = std::lower_bound(
            first, busy.end(), span.end,
            [](const Interval& work, TraceTime time) { return work.begin < time; });
        return {std::max(span.begin, first->begin), std::min(span.end, std::prev(last)->end)};
    }

    // Walks the order, stretch by stretch: from one known end to the next.
    void place(const RankIteration& of) {
        const Order& order = m_orders[static_cast<std::size_t>(of.place.stage)];
        std::optional<TraceTime> cursor;
        for (auto first = order.begin(); first != order.end();) {
            const auto known = std::find_if(first, order.end(),
                                            [&](Step step) { return endOf(of, step).has_value(); });
            const auto last = known == order.end() ? known : known + 1;
            cursor = divide(of, std::span(first, last), cursor,
                            known == order.end() ? std::nullopt : endOf(of, *known));
            first = last;
        }
    }

    // Divides a stretch among its steps. Without a known end each takes its usual time.
    TraceTime divide(const RankIteration& of, std::span<const Step> steps,
                     std::optional<TraceTime> cursor, std::optional<TraceTime> end) {
        double rest = 0;
        for (const Step& step : steps) rest += static_cast<double>(usual(step.flow).ns);
        for (const Step& step : steps) {
            const std::optional<TraceTime> arrival = arrivalOf(of, step);
            const auto own = static_cast<double>(usual(step.flow).ns);
            const bool isLast = &step == &steps.back();
            // The first step of an iteration whose input nothing shows begins its usual time before
            // its end.
            TraceTime begin = cursor.value_or(arrival.value_or(
                end ? *end - Duration{static_cast<std::int64_t>(rest)} : TraceTime{}));
            if (arrival) begin = std::max(begin, *arrival);
            if (end) begin = std::min(begin, *end);
            double share = own;
            if (end) share *= std::min(1.0, static_cast<double>((*end - begin).ns) / rest);
            const TraceTime finish =
                end && isLast ? *end : begin + Duration{static_cast<std::int64_t>(share)};
            addTask(of, step, {begin, finish});
            rest -= own;
            cursor = finish;
        }
        return *cursor;
    }

    [[nodiscard]] Duration usual(Flow flow) const {
        const Duration own = m_usual[flow];
        if (own.ns > 0) return own;
        const Duration other = m_usual[flow == Forward ? Backward : Forward];
        if (other.ns <= 0) return {flow == Forward ? 1'000 : 2'000};
        return {flow == Forward ? other.ns / 2 : other.ns * 2};
    }

    // The usual duration of a forward and of a backward, from those that share no stretch: that
    // follow a known end and have one.
    void measureAlone() {
        for (const RankIteration& of : m_messages) {
            if (!of.isComplete(m_microbatches)) continue;
            const Order& order = m_orders[static_cast<std::size_t>(of.place.stage)];
            for (std::size_t i = 1; i < order.size(); ++i) {
                const auto before = endOf(of, order[i - 1]), end = endOf(of, order[i]);
                if (!before || !end) continue;
                const TraceTime begin =
                    std::max(*before, arrivalOf(of, order[i]).value_or(*before));
                if (begin >= *end) continue;
                m_alone[order[i].flow].push_back(trimmed(of.rank, {begin, *end}).length());
            }
        }
        for (const Flow flow : {Forward, Backward})
            if (!m_alone[flow].empty()) m_usual[flow] = base::medianOf(m_alone[flow]);
    }

    void addTask(const RankIteration& of, Step step, Interval span) {
        const ActionKind kind =
            step.flow == Forward ? ActionKind::Forward : ActionKind::FullBackward;
        const auto at = static_cast<std::size_t>(step.microbatch);
        const auto name = [&](const std::vector<TransferId>& list, ActionKind action) {
            if (list.empty()) return trace::EventId();
            trace::Transfer& message = m_draft.found.transfers[list[at]];
            message.stage = of.place.stage;
            message.chunk = 0;
            message.microbatch = step.microbatch;
            message.iteration = of.iteration;
            message.action = action;
            return message.event;
        };
        const bool forward = step.flow == Forward;
        const trace::EventId came =
            name(of.received[step.flow],
                 forward ? ActionKind::ReceiveForward : ActionKind::ReceiveBackward);
        const trace::EventId went =
            name(of.sent[step.flow], forward ? ActionKind::SendForward : ActionKind::SendBackward);
        m_draft.found.tasks.push({of.rank, went.valid() ? went : came, of.iteration, of.place.stage,
                                  0, step.microbatch, kind, trimmed(of.rank, span)});
    }

    Draft& m_draft;
    std::vector<RankIteration> m_messages;
    base::IdVector<trace::RankTag, base::IntervalSet> m_busy;
    std::int32_t m_microbatches = 0, m_stages = 0;
    std::vector<Order> m_orders;
    std::array<std::vector<Duration>, 2> m_alone;
    std::array<Duration, 2> m_usual{};
    double m_confidence = 0;
};

}  // namespace

InferredSchedule inferTasks(Draft& draft) { return Inference(draft).run(); }

}  // namespace pleat::annotate
