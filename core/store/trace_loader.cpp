#include "store/trace_loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <utility>

namespace pleat::store {
namespace {

std::optional<schedule::ActionKind> parseActionKind(std::string_view text) {
    for (int kind = 0; kind <= static_cast<int>(schedule::ActionKind::OverlapForwardBackward);
         ++kind) {
        if (schedule::toString(static_cast<schedule::ActionKind>(kind)) == text) {
            return static_cast<schedule::ActionKind>(kind);
        }
    }
    return std::nullopt;
}

std::int32_t number(const Statement& row, int column) {
    return row.isNull(column) ? -1 : static_cast<std::int32_t>(row.integer(column));
}

base::Interval span(const Statement& row, int start) {
    const base::TraceTime begin{row.integer(start)};
    return {begin, std::max(begin, base::TraceTime{row.integer(start + 1)})};
}

constexpr auto kByRankThenStart = [](const auto& a, const auto& b) {
    return std::tie(a.rank, a.span.begin) < std::tie(b.rank, b.span.begin);
};

}  // namespace

template <class Row>
base::Result<void> TraceLoader::each(std::string_view table, std::string_view sql, Row row) {
    const base::Result<Statement> statement = Statement::prepare(m_database, sql);
    if (!statement) return statement.error();
    for (std::int64_t count = 0;; ++count) {
        const base::Result<bool> more = statement->step();
        if (!more) {
            return base::Error{more.error().code, fmt::format("{} (table {}, after {} rows)",
                                                              more.error().message, table, count)};
        }
        if (!*more) return {};
        row(*statement);
    }
}

void TraceLoader::dangling(std::string_view table, std::int64_t row, std::string_view what) {
    m_found.add(base::Severity::DataLoss, "dangling_row",
                fmt::format("table {}, row {}: its {} is not in the file; the row was left out",
                            table, row, what));
}

base::Result<LoadedTrace> TraceLoader::load() {
    using Step = base::Result<void> (TraceLoader::*)();
    for (const Step step :
         {&TraceLoader::loadMeta, &TraceLoader::loadRanks, &TraceLoader::loadLanes,
          &TraceLoader::loadStrings, &TraceLoader::loadEvents}) {
        if (const auto done = (this->*step)(); !done) return done.error();
    }
    trace::TraceBuilder::Built built = std::move(m_builder).build();
    m_idOfAdded = std::move(built.idOfAdded);
    for (const Step step :
         {&TraceLoader::loadTasks, &TraceLoader::loadPhasesAndIterations, &TraceLoader::loadGroups,
          &TraceLoader::loadMatches, &TraceLoader::loadTransfers, &TraceLoader::loadSchedule,
          &TraceLoader::loadDiagnostics}) {
        if (const auto done = (this->*step)(); !done) return done.error();
    }
    completeMatches();
    m_stored.add(built.trace.diagnostics());
    m_stored.add(m_found);
    return LoadedTrace{
        trace::Trace(built.trace.sharedColumns(), built.trace.ranks(), built.trace.lanes(),
                     std::move(m_annotations), std::move(m_stored)),
        m_annotated, m_finished};
}

base::Result<void> TraceLoader::loadMeta() {
    return each("meta", "select key, value from meta", [&](const Statement& row) {
        if (row.text(0) == "annotated") m_annotated = row.text(1) == "1";
        if (row.text(0) == "state") m_finished = row.text(1) == "complete";
    });
}

base::Result<void> TraceLoader::loadRanks() {
    return each("rank",
                "select id, number, dp, pp, tp, ep, cp, host, pid, program, device, end from rank "
                "order by id",
                [&](const Statement& row) {
                    trace::Rank rank;
                    rank.number = number(row, 1);
                    rank.coordinates = {number(row, 2), number(row, 3), number(row, 4),
                                        number(row, 5), number(row, 6)};
                    rank.host = row.text(7);
                    rank.pid = row.integer(8);
                    rank.program = row.text(9);
                    rank.device = row.text(10);
                    rank.end =
                        trace::parseProcessEnd(row.text(11)).value_or(trace::ProcessEnd::Unknown);
                    m_ranks.add(row.integer(0), m_builder.addRank(std::move(rank)));
                });
}

base::Result<void> TraceLoader::loadLanes() {
    return each("lane", "select id, rank, kind, native_id, name from lane order by id",
                [&](const Statement& row) {
                    const trace::RankId rank = m_ranks.find(row.integer(1));
                    if (!rank.valid()) return dangling("lane", row.integer(0), "rank");
                    const auto kind =
                        trace::parseLaneKind(row.text(2)).value_or(trace::LaneKind::HostThread);
                    m_lanes.add(row.integer(0), m_builder.addLane({rank, kind, row.integer(3),
                                                                   std::string(row.text(4))}));
                });
}

base::Result<void> TraceLoader::loadStrings() {
    return each("string", "select id, text from string order by id", [&](const Statement& row) {
        m_strings.add(row.integer(0), m_builder.intern(row.text(1)));
    });
}

base::Result<void> TraceLoader::loadEvents() {
    std::uint32_t added = 0;
    return each(
        "event",
        "select id, lane, name, domain, kind, flag, start_ns, end_ns, args from event order by id",
        [&](const Statement& row) {
            const trace::LaneId lane = m_lanes.find(row.integer(1));
            const base::StringId name = m_strings.find(row.integer(2));
            if (!lane.valid()) return dangling("event", row.integer(0), "lane");
            if (!name.valid()) return dangling("event", row.integer(0), "name");
            const base::StringId domain =
                row.isNull(3) ? base::StringId() : m_strings.find(row.integer(3));
            m_events.add(row.integer(0), base::Id<struct AddedTag>(added++));
            m_builder.addEvent(
                {lane,
                 name,
                 domain,
                 row.integer(4) == 1 ? trace::EventKind::Mark : trace::EventKind::Range,
                 row.integer(5) == 1 ? trace::EventFlag::OpenAtEnd : trace::EventFlag::None,
                 {{row.integer(6)}, {row.integer(7)}}},
                row.text(8), static_cast<std::uint32_t>(row.integer(0)));
        });
}

trace::EventId TraceLoader::eventId(std::int64_t row) const {
    const auto added = m_events.find(row);
    return added.valid() ? m_idOfAdded[added.index()] : trace::EventId();
}

base::Result<void> TraceLoader::loadTasks() {
    std::vector<trace::Task> tasks;
    const auto done =
        each("task",
             "select id, rank, event, iteration, stage, chunk, microbatch, kind, start_ns, end_ns "
             "from task",
             [&](const Statement& row) {
                 const trace::RankId rank = m_ranks.find(row.integer(1));
                 const trace::EventId event = eventId(row.integer(2));
                 const auto kind = parseActionKind(row.text(7));
                 if (!rank.valid()) return dangling("task", row.integer(0), "rank");
                 if (!event.valid()) return dangling("task", row.integer(0), "event");
                 if (!kind || !schedule::isCompute(*kind))
                     return dangling("task", row.integer(0), "kind of action");
                 tasks.push_back({rank, event, number(row, 3), number(row, 4), number(row, 5),
                                  number(row, 6), *kind, span(row, 8)});
             });
    std::stable_sort(tasks.begin(), tasks.end(), kByRankThenStart);
    for (trace::Task& task : tasks) m_annotations.tasks.push(task);
    return done;
}

base::Result<void> TraceLoader::loadPhasesAndIterations() {
    const auto phases =
        each("phase", "select id, rank, event, iteration, kind, start_ns, end_ns from phase",
             [&](const Statement& row) {
                 const trace::RankId rank = m_ranks.find(row.integer(1));
                 const trace::EventId event = eventId(row.integer(2));
                 const auto kind = trace::parsePhaseKind(row.text(4));
                 if (!rank.valid()) return dangling("phase", row.integer(0), "rank");
                 if (!event.valid()) return dangling("phase", row.integer(0), "event");
                 if (!kind) return dangling("phase", row.integer(0), "kind");
                 m_annotations.phases.push_back({rank, event, number(row, 3), *kind, span(row, 5)});
             });
    if (!phases) return phases;
    std::stable_sort(m_annotations.phases.begin(), m_annotations.phases.end(), kByRankThenStart);
    const auto iterations =
        each("iteration", "select id, rank, event, number, start_ns, end_ns from iteration",
             [&](const Statement& row) {
                 const trace::RankId rank = m_ranks.find(row.integer(1));
                 const trace::EventId event = eventId(row.integer(2));
                 if (!rank.valid()) return dangling("iteration", row.integer(0), "rank");
                 if (!event.valid()) return dangling("iteration", row.integer(0), "event");
                 m_annotations.iterations.push_back({rank, event, number(row, 3), span(row, 4)});
             });
    std::stable_sort(m_annotations.iterations.begin(), m_annotations.iterations.end(),
                     kByRankThenStart);
    return iterations;
}

base::Result<void> TraceLoader::loadGroups() {
    const auto groups = each(
        "process_group", "select id, native_id, dimension, size from process_group order by id",
        [&](const Statement& row) {
            trace::ProcessGroup group;
            group.nativeId = row.integer(1);
            group.dimension = trace::parseDimension(row.text(2)).value_or(trace::Dimension::Other);
            group.size = number(row, 3);
            m_groups.add(row.integer(0), m_annotations.groups.push(std::move(group)));
        });
    if (!groups) return groups;
    return each("process_group_member",
                "select process_group, rank from process_group_member order by process_group, rank",
                [&](const Statement& row) {
                    const trace::GroupId group = m_groups.find(row.integer(0));
                    const trace::RankId rank = m_ranks.find(row.integer(1));
                    if (!group.valid() || !rank.valid())
                        return dangling("process_group_member", row.integer(0), "rank");
                    m_annotations.groups[group].members.push_back(rank);
                });
}

base::Result<void> TraceLoader::loadMatches() {
    return each("match", "select id, ready_ns, last_rank, complete from match order by id",
                [&](const Statement& row) {
                    const trace::RankId last = m_ranks.find(row.integer(2));
                    if (!last.valid()) return dangling("match", row.integer(0), "last rank");
                    m_matches.add(row.integer(0),
                                  m_annotations.matches.push(
                                      {{}, {row.integer(1)}, last, row.integer(3) == 1}));
                });
}

base::Result<void> TraceLoader::loadTransfers() {
    std::vector<trace::Transfer> transfers;
    const auto done =
        each("transfer",
             "select id, rank, event, iteration, stage, chunk, microbatch, operation, dimension, "
             "bytes, process_group, peer, "
             "sequence, action, match, start_ns, end_ns from transfer",
             [&](const Statement& row) {
                 trace::Transfer transfer;
                 transfer.rank = m_ranks.find(row.integer(1));
                 transfer.event = eventId(row.integer(2));
                 if (!transfer.rank.valid()) return dangling("transfer", row.integer(0), "rank");
                 if (!transfer.event.valid()) return dangling("transfer", row.integer(0), "event");
                 transfer.iteration = number(row, 3);
                 transfer.stage = number(row, 4);
                 transfer.chunk = number(row, 5);
                 transfer.microbatch = number(row, 6);
                 transfer.operation =
                     trace::parseOperation(row.text(7)).value_or(trace::Operation::Other);
                 transfer.dimension =
                     trace::parseDimension(row.text(8)).value_or(trace::Dimension::Other);
                 transfer.bytes = row.integer(9);
                 if (!row.isNull(10)) transfer.group = m_groups.find(row.integer(10));
                 transfer.peer = number(row, 11);
                 transfer.sequence = row.integer(12);
                 if (!row.isNull(13)) transfer.action = parseActionKind(row.text(13));
                 if (!row.isNull(14)) transfer.match = m_matches.find(row.integer(14));
                 transfer.span = span(row, 15);
                 transfers.push_back(transfer);
             });
    std::stable_sort(transfers.begin(), transfers.end(), kByRankThenStart);
    for (const trace::Transfer& transfer : transfers) m_annotations.transfers.push(transfer);
    return done;
}

void TraceLoader::completeMatches() {
    for (std::size_t i = 0; i < m_annotations.transfers.size(); ++i) {
        const trace::TransferId id = m_annotations.transfers.idAt(i);
        const trace::MatchId match = m_annotations.transfers[id].match;
        if (match.valid()) m_annotations.matches[match].members.push_back(id);
    }
}

base::Result<void> TraceLoader::loadSchedule() {
    return each("schedule",
                "select name, ranks, chunks, microbatches, group_size, confidence from schedule",
                [&](const Statement& row) {
                    m_annotations.schedule = trace::RecognisedSchedule{
                        std::string(row.text(0)), number(row, 1), number(row, 2),
                        number(row, 3),           number(row, 4), row.real(5)};
                });
}

base::Result<void> TraceLoader::loadDiagnostics() {
    return each(
        "diagnostic", "select code, severity, count, example from diagnostic order by code",
        [&](const Statement& row) {
            base::Severity severity = base::Severity::Info;
            for (const base::Severity known : {base::Severity::DataLoss, base::Severity::Error}) {
                if (row.text(1) == base::toString(known)) severity = known;
            }
            m_stored.add(severity, row.text(0), row.text(3), row.integer(2));
        });
}

}  // namespace pleat::store
