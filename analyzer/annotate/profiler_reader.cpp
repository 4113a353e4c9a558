#include "annotate/profiler_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "annotate/action_names.h"
#include "annotate/communication.h"
#include "base/say.h"
#include "trace/categories.h"
#include "trace/communication_kernels.h"
#include "trace/device_work.h"

namespace pleat::annotate {
namespace {

namespace categories = trace::categories;
using trace::EventId;
using trace::Operation;
using trace::RankId;

// The number of "ProfilerStep#551"; nothing for other names.
std::optional<std::int32_t> stepNumber(std::string_view name) {
    constexpr std::string_view kStep = "ProfilerStep#";
    std::int32_t number = 0;
    if (!name.starts_with(kStep)) return std::nullopt;
    name.remove_prefix(kStep.size());
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error != std::errc() || end == name.data()) return std::nullopt;
    return number;
}

// A whole text as a step's number.
std::optional<std::int32_t> wholeNumber(std::string_view text) {
    std::int32_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool whole = error == std::errc() && end == text.data() + text.size() && number >= 0;
    return whole && !text.empty() ? std::optional(number) : std::nullopt;
}

// The action of "PP:2F0"; nothing for other names.
std::optional<schedule::Action> pipelineAction(std::string_view name) {
    if (!name.starts_with("PP:")) return std::nullopt;
    auto action = actionNamed(name);
    if (!action || !isCompute(action->kind)) return std::nullopt;
    return action;
}

class ProfilerReader {
  public:
    explicit ProfilerReader(Draft& draft) : m_draft(draft), m_groups(draft), m_work(draft.events) {}

    void run() {
        for (std::size_t i = 0; i < m_draft.events.eventCount(); ++i) look(EventId::at(i));
        checkDurations();
        for (const EventId kernel : m_kernels) addTransfer(kernel);
        addDeviceSteps();
        addTasks();
        m_groups.finish();
    }

  private:
    // A stream runs one thing after another, give or take; an event that lasts far into the next
    // was not timed rightly.
    void checkDurations() {
        constexpr base::Duration kFar{100'000'000};
        for (std::size_t i = 0; i < m_draft.events.lanes().size(); ++i) {
            const auto lane = trace::LaneId::at(i);
            if (m_draft.events.lanes()[lane].kind != trace::LaneKind::DeviceStream) continue;
            const auto events = m_draft.events.eventsOf(lane);
            std::optional<EventId> before;
            for (std::size_t e = events.first.index(); e < events.last.index(); ++e) {
                const EventId id = EventId::at(e);
                if (!categories::isDeviceWork(m_draft.events.domain(id))) continue;
                const base::Interval now = m_draft.events.event(id).span;
                if (before && m_draft.events.event(*before).span.end > now.begin + kFar) {
                    m_draft.diagnostics.add("impossible_duration", [&] {
                        return fmt::format(
                            "\"{}\" at {} ns lasts {} ns, far past the start of the next "
                            "work on its stream",
                            base::printable(m_draft.events.name(*before), 80),
                            m_draft.events.event(*before).span.begin.ns,
                            m_draft.events.event(*before).span.length().ns);
                    });
                }
                before = id;
            }
        }
    }

    // Sorts an event by what its name may mean; most mean nothing, which is known per name.
    void look(EventId id) {
        const trace::Event event = m_draft.events.event(id);
        if (event.kind != trace::EventKind::Range) return;
        const std::string_view name = m_draft.events.name(id);
        if (m_work.of(id) != trace::DeviceWork::None) {
            m_ranksWithWork.insert(m_draft.rankOf(event));
            // A fusion of XLA's is called so whatever it does; its category says it.
            if (m_work.of(id) == trace::DeviceWork::Communication ||
                operationOfXla(m_draft.events.arguments(id)))
                m_kernels.push_back(id);
            return;
        }
        const auto [known, isNew] = m_relevant.try_emplace(event.name, false);
        if (isNew) {
            std::int32_t peer = -1;
            known->second = stepNumber(name) || wholeNumber(name) || pipelineAction(name) ||
                            operationOfAnnotation(name, peer) || isShardedDataParallel(name);
        }
        if (!known->second && name != "record_param_comms") return;
        const std::string_view category =
            event.domain.valid() ? m_draft.events.domain(id) : std::string_view();
        std::int32_t ignored = -1;
        if (category == categories::kAnnotation) {
            readAnnotation(id, event, name);
        } else if (category == categories::kDeviceAnnotation) {
            if (pipelineAction(name)) m_deviceActions.push_back(id);
            if (stepNumber(name)) m_deviceSteps.push_back(id);
            if (const auto step = xlaStep(name, event.lane)) addStep(id, event, *step);
        } else if (name == "record_param_comms" || operationOfAnnotation(name, ignored)) {
            m_hostCalls[event.lane].push_back(id);
        }
    }

    void readAnnotation(EventId id, const trace::Event& event, std::string_view name) {
        if (const auto step = stepNumber(name)) {
            addStep(id, event, *step);
        } else if (pipelineAction(name)) {
            m_hostActions.push_back(id);
        } else {
            m_hostCalls[event.lane].push_back(id);
        }
    }

    // Annotations may be nested or written twice: a step is a step once.
    void addStep(EventId id, const trace::Event& event, std::int32_t step) {
        const RankId rank = m_draft.rankOf(event);
        if (!m_steps.emplace(rank, step).second) return;
        const trace::IterationSpan span{rank, id, step, event.span};
        m_draft.enclosing.push_back(span);
        m_draft.found.iterations.push_back(span);
    }

    // Where the host's steps were not recorded, those that the profiler laid around their kernels.
    void addDeviceSteps() {
        std::set<RankId> byHost;
        for (const auto& [rank, step] : m_steps) byHost.insert(rank);
        for (const EventId id : m_deviceSteps) {
            const trace::Event event = m_draft.events.event(id);
            if (!byHost.contains(m_draft.rankOf(event)))
                addStep(id, event, *stepNumber(m_draft.events.name(id)));
        }
    }

    // XLA's profilers have a line "Steps" for every device, of ranges that are named by number.
    [[nodiscard]] std::optional<std::int32_t> xlaStep(std::string_view name,
                                                      trace::LaneId lane) const {
        if (m_draft.events.lanes()[lane].name != "Steps") return std::nullopt;
        return wholeNumber(name);
    }

    // Device times where they were recorded; the host's ranges are only how long launching took.
    void addTasks() {
        std::set<RankId> onDevice;
        for (const EventId id : m_deviceActions) {
            onDevice.insert(m_draft.rankOf(m_draft.events.event(id)));
            addTask(id);
        }
        for (const EventId id : m_hostActions) {
            const RankId rank = m_draft.rankOf(m_draft.events.event(id));
            if (onDevice.contains(rank)) continue;
            addTask(id);
            // Where there is device work, that of the task is looked for (device_times.h).
            if (m_ranksWithWork.contains(rank)) continue;
            m_draft.diagnostics.add("host_time_of_task", [&] {
                return fmt::format("\"{}\": only its host range was recorded, not its device work",
                                   m_draft.events.name(id));
            });
        }
    }

    void addTask(EventId id) {
        const trace::Event event = m_draft.events.event(id);
        const schedule::Action action = *pipelineAction(m_draft.events.name(id));
        trace::Task task;
        task.rank = m_draft.rankOf(event);
        task.event = id;
        task.stage = action.stage;
        task.microbatch = action.microbatch;
        task.kind = action.kind;
        task.span = event.span;
        m_draft.found.tasks.push(task);
    }

    // What the kernel's arguments say, else those of the host call around the one that launched it.
    Communication describe(EventId kernel) {
        Communication found;
        std::string_view sharded;
        const std::string_view arguments = m_draft.events.arguments(kernel);
        if (!arguments.empty()) (void)readCommunication(arguments, found);
        for (const trace::Dependency& launch : m_draft.events.dependenciesOf(kernel)) {
            if (launch.kind != trace::DependencyKind::Launch) continue;
            const trace::Event call = m_draft.events.event(launch.from);
            for (const EventId around : callsAround(call)) {
                if (isShardedDataParallel(m_draft.events.name(around))) {
                    sharded = m_draft.events.name(around);
                    continue;
                }
                if (found.operation && !found.group.empty()) continue;
                Communication said;
                std::int32_t peer = -1;
                if (readCommunication(m_draft.events.arguments(around), said) &&
                    found.group.empty()) {
                    found = said;
                } else if (const auto named =
                               operationOfAnnotation(m_draft.events.name(around), peer)) {
                    if (!found.operation) found.operation = named;
                    if (found.peer < 0) found.peer = peer;
                }
            }
        }
        if (!found.operation || found.operation == Operation::Other)
            found.operation = operationOfKernel(m_draft.events.name(kernel));
        if (found.operation == Operation::Other)
            found.operation = operationOfXla(arguments).value_or(Operation::Other);
        if (found.description.empty()) found.description = sharded;
        return found;
    }

    // Communication calls of the host that last around the start of `call`, innermost first.
    std::vector<EventId> callsAround(const trace::Event& call) const {
        std::vector<EventId> around;
        const auto lane = m_hostCalls.find(call.lane);
        if (lane == m_hostCalls.end()) return around;
        const auto after = std::upper_bound(lane->second.begin(), lane->second.end(),
                                            call.span.begin, [&](base::TraceTime time, EventId id) {
                                                return time < m_draft.events.event(id).span.begin;
                                            });
        constexpr int kLongestSearch = 8;
        auto id = after;
        for (int i = 0; id != lane->second.begin() && i < kLongestSearch; ++i) {
            --id;
            if (m_draft.events.event(*id).span.end >= call.span.begin) around.push_back(*id);
        }
        return around;
    }

    void addTransfer(EventId kernel) {
        const trace::Event event = m_draft.events.event(kernel);
        const Communication said = describe(kernel);
        trace::Transfer transfer;
        transfer.rank = m_draft.rankOf(event);
        transfer.event = kernel;
        transfer.operation = said.operation.value_or(Operation::Other);
        transfer.dimension = dimensionOfGroup(said.description);
        // vLLM's groups have names, "tp:0".
        if (transfer.dimension == trace::Dimension::Other)
            transfer.dimension = dimensionOfGroup(said.group);
        // A library may serve one dimension only: DeepEP moves tokens between experts.
        if (transfer.dimension == trace::Dimension::Other)
            transfer.dimension = dimensionOfKernel(kernel);
        transfer.bytes = said.bytes;
        transfer.span = event.span;
        const auto relative = static_cast<std::size_t>(said.peer);
        transfer.peer = said.peer >= 0 && relative < said.groupRanks.size()
                            ? said.groupRanks[relative]
                            : said.peer;
        const bool message = isMessage(transfer.operation);
        // In a group of two the other one is meant.
        if (message && transfer.peer < 0 && said.groupRanks.size() == 2) {
            const bool first = said.groupRanks.front() == m_draft.ranks[transfer.rank].number;
            transfer.peer = first ? said.groupRanks.back() : said.groupRanks.front();
        }
        if (message && transfer.dimension == trace::Dimension::Other)
            transfer.dimension = trace::Dimension::Pp;
        joinGroup(transfer, said);
        m_draft.found.transfers.push(transfer);
    }

    trace::Dimension dimensionOfKernel(EventId kernel) {
        const auto [known, isNew] =
            m_dimensions.try_emplace(m_draft.events.event(kernel).name, trace::Dimension::Other);
        if (isNew) {
            known->second = trace::communicationKernel(m_draft.events.name(kernel))
                                .value_or(trace::CommunicationKernel())
                                .dimension;
        }
        return known->second;
    }

    // A message's number counts those of its own process, whatever their ends: it is not shared.
    void joinGroup(trace::Transfer& transfer, const Communication& said) {
        if (said.group.empty() && said.communicator.empty()) return;
        const std::string name = !said.communicator.empty()
                                     ? said.communicator
                                     : fmt::format("{}|{}|{}", said.group, said.description,
                                                   fmt::join(said.groupRanks, ","));
        transfer.group = m_groups.join(name, transfer.dimension, said.groupSize, transfer.rank);
        if (!isMessage(transfer.operation)) transfer.sequence = said.sequence;
    }

    Draft& m_draft;
    NamedGroups m_groups;
    const trace::DeviceWorkKinds m_work;
    std::unordered_map<base::StringId, bool> m_relevant;                // by name
    std::unordered_map<base::StringId, trace::Dimension> m_dimensions;  // likewise
    std::vector<EventId> m_kernels, m_hostActions, m_deviceActions, m_deviceSteps;
    std::unordered_set<RankId> m_ranksWithWork;
    std::unordered_map<trace::LaneId, std::vector<EventId>> m_hostCalls;  // ascending by start
    std::set<std::pair<RankId, std::int32_t>> m_steps;
};

}  // namespace

void readProfiler(Draft& draft) { ProfilerReader(draft).run(); }

}  // namespace pleat::annotate
