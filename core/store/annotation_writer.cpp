// Writing annotations (tasks, phases, transfers, …) and whole traces.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "store/database.h"
#include "store/trace_file.h"
#include "store/writer.h"

namespace pleat::store {
namespace {

// Runs `insert` once per item, with the columns that `bind` gives it.
template <class Items, class Bind>
base::Result<void> insertAll(const Database& database, std::string_view sql, const Items& items,
                             Bind bind) {
    const base::Result<Statement> insert = Statement::prepare(database, sql);
    if (!insert) return insert.error();
    for (const auto& item : items) {
        bind(*insert, item);
        if (const auto done = insert->run(); !done) return done;
    }
    return {};
}

void bindAll(const Statement& statement, int first, std::initializer_list<std::int64_t> values) {
    for (const std::int64_t value : values) statement.bind(first++, value);
}

// Which rows the file's events have: those the trace was loaded with, or its own order, counted
// from 1.
enum class EventRows : std::uint8_t { AsLoaded, InTraceOrder };

bool isAnnotated(const trace::Trace& trace) {
    const trace::Annotations& found = trace.annotations();
    return !found.tasks.empty() || !found.phases.empty() || !found.transfers.empty() ||
           !found.iterations.empty() || !found.groups.empty() || found.schedule.has_value();
}

class AnnotationWriter {
  public:
    AnnotationWriter(const Database& database, const trace::Trace& trace, EventRows eventRows)
        : m_database(database), m_trace(trace), m_eventRows(eventRows) {}

    base::Result<void> write() {
        using Step = base::Result<void> (AnnotationWriter::*)();
        for (const Step step :
             {&AnnotationWriter::clear, &AnnotationWriter::findRanks, &AnnotationWriter::ranks,
              &AnnotationWriter::tasks, &AnnotationWriter::phases, &AnnotationWriter::iterations,
              &AnnotationWriter::groups, &AnnotationWriter::matches, &AnnotationWriter::transfers,
              &AnnotationWriter::schedule, &AnnotationWriter::diagnostics}) {
            if (const auto done = (this->*step)(); !done) return done;
        }
        return {};
    }

  private:
    [[nodiscard]] std::int64_t eventRow(trace::EventId id) const {
        return m_eventRows == EventRows::AsLoaded ? std::int64_t{m_trace.sourceRow(id)} : rowId(id);
    }

    base::Result<void> clear() {
        return m_database.execute(
            "delete from task; delete from phase; delete from iteration; delete from transfer; "
            "delete from match;"
            "delete from process_group_member; delete from process_group; delete from schedule; "
            "delete from diagnostic;");
    }

    // The file's ranks in the order in which they were loaded, by row id.
    base::Result<void> findRanks() {
        const base::Result<Statement> rows =
            Statement::prepare(m_database, "select id from rank order by id");
        if (!rows) return rows.error();
        for (;;) {
            const base::Result<bool> more = rows->step();
            if (!more) return more.error();
            if (!*more) break;
            m_rankRows.push_back(rows->integer(0));
        }
        if (m_rankRows.size() == m_trace.ranks().size()) return {};
        return base::Error{
            base::ErrorCode::Input,
            fmt::format("{}: has {} ranks, but the annotated trace has {}; the file changed after "
                        "it was read",
                        m_database.file(), m_rankRows.size(), m_trace.ranks().size())};
    }

    [[nodiscard]] std::int64_t rankRow(trace::RankId id) const { return m_rankRows[id.index()]; }

    base::Result<void> ranks() {
        std::size_t position = 0;
        return insertAll(
            m_database,
            "update rank set number=?, dp=?, pp=?, tp=?, ep=?, cp=?, device=? where id=?",
            m_trace.ranks(), [&](const Statement& statement, const trace::Rank& rank) {
                const trace::Coordinates& at = rank.coordinates;
                int parameter = 1;
                for (const std::int32_t value : {rank.number, at.dp, at.pp, at.tp, at.ep, at.cp}) {
                    bindOrNull(statement, parameter++, value);
                }
                statement.bind(7, std::string_view(rank.device));
                statement.bind(8, m_rankRows[position++]);
            });
    }

    base::Result<void> tasks() {
        return insertAll(
            m_database,
            "insert into task (rank, event, iteration, stage, chunk, microbatch, start_ns, end_ns, "
            "kind) "
            "values (?,?,?,?,?,?,?,?,?)",
            m_trace.annotations().tasks, [&](const Statement& statement, const trace::Task& task) {
                bindAll(statement, 1,
                        {rankRow(task.rank), eventRow(task.event), task.iteration, task.stage,
                         task.chunk, task.microbatch, task.span.begin.ns, task.span.end.ns});
                statement.bind(9, schedule::toString(task.kind));
            });
    }

    base::Result<void> phases() {
        return insertAll(m_database,
                         "insert into phase (rank, event, iteration, start_ns, end_ns, kind) "
                         "values (?,?,?,?,?,?)",
                         m_trace.annotations().phases,
                         [&](const Statement& statement, const trace::Phase& phase) {
                             bindAll(statement, 1,
                                     {rankRow(phase.rank), eventRow(phase.event), phase.iteration,
                                      phase.span.begin.ns, phase.span.end.ns});
                             statement.bind(6, trace::toString(phase.kind));
                         });
    }

    base::Result<void> iterations() {
        return insertAll(
            m_database,
            "insert into iteration (rank, event, number, start_ns, end_ns) values (?,?,?,?,?)",
            m_trace.annotations().iterations,
            [&](const Statement& statement, const trace::IterationSpan& iteration) {
                bindAll(statement, 1,
                        {rankRow(iteration.rank), eventRow(iteration.event), iteration.iteration,
                         iteration.span.begin.ns, iteration.span.end.ns});
            });
    }

    base::Result<void> groups() {
        const auto& groups = m_trace.annotations().groups;
        const auto inserted = insertAll(
            m_database, "insert into process_group (native_id, size, dimension) values (?,?,?)",
            groups, [](const Statement& statement, const trace::ProcessGroup& group) {
                bindAll(statement, 1, {group.nativeId, group.size});
                statement.bind(3, trace::toString(group.dimension));
            });
        if (!inserted) return inserted;
        std::vector<std::pair<std::int64_t, std::int64_t>> members;
        for (std::size_t i = 0; i < groups.size(); ++i) {
            for (const trace::RankId rank : groups[groups.idAt(i)].members) {
                members.emplace_back(static_cast<std::int64_t>(i) + 1, rankRow(rank));
            }
        }
        return insertAll(m_database,
                         "insert into process_group_member (process_group, rank) values (?,?)",
                         members, [](const Statement& statement, const auto& member) {
                             bindAll(statement, 1, {member.first, member.second});
                         });
    }

    base::Result<void> matches() {
        return insertAll(
            m_database, "insert into match (ready_ns, last_rank, complete) values (?,?,?)",
            m_trace.annotations().matches,
            [&](const Statement& statement, const trace::Match& match) {
                bindAll(statement, 1,
                        {match.ready.ns, rankRow(match.lastRank), match.complete ? 1 : 0});
            });
    }

    base::Result<void> transfers() {
        return insertAll(
            m_database,
            "insert into transfer (rank, event, iteration, stage, chunk, microbatch, bytes, "
            "sequence, start_ns, end_ns, "
            "operation, dimension, process_group, peer, action, match) values "
            "(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            m_trace.annotations().transfers,
            [&](const Statement& statement, const trace::Transfer& transfer) {
                bindAll(statement, 1,
                        {rankRow(transfer.rank), eventRow(transfer.event), transfer.iteration,
                         transfer.stage, transfer.chunk, transfer.microbatch, transfer.bytes,
                         transfer.sequence, transfer.span.begin.ns, transfer.span.end.ns});
                statement.bind(11, trace::toString(transfer.operation));
                statement.bind(12, trace::toString(transfer.dimension));
                for (const int parameter : {13, 14, 15, 16}) statement.bindNull(parameter);
                if (transfer.group.valid()) statement.bind(13, rowId(transfer.group));
                if (transfer.peer >= 0) statement.bind(14, std::int64_t{transfer.peer});
                if (transfer.action) statement.bind(15, schedule::toString(*transfer.action));
                if (transfer.match.valid()) statement.bind(16, rowId(transfer.match));
            });
    }

    base::Result<void> schedule() {
        std::vector<trace::RecognisedSchedule> rows;
        if (const auto& found = m_trace.annotations().schedule) {
            rows.push_back(*found);
            for (const std::string& other : found->also) {
                rows.push_back(*found);
                rows.back().name = other;
            }
        }
        return insertAll(
            m_database,
            "insert into schedule (ranks, chunks, microbatches, group_size, name, confidence) "
            "values "
            "(?,?,?,?,?,?)",
            rows, [](const Statement& statement, const trace::RecognisedSchedule& row) {
                bindAll(statement, 1, {row.ranks, row.chunks, row.microbatches, row.group});
                statement.bind(5, std::string_view(row.name));
                statement.bind(6, row.confidence);
            });
    }

    base::Result<void> diagnostics() {
        return insertAll(m_database,
                         "insert into diagnostic (code, severity, count, example) values (?,?,?,?)",
                         m_trace.diagnostics().entries(),
                         [](const Statement& statement, const base::Diagnostic& diagnostic) {
                             statement.bind(1, std::string_view(diagnostic.code));
                             statement.bind(2, base::toString(diagnostic.severity));
                             statement.bind(3, diagnostic.count);
                             statement.bind(4, std::string_view(diagnostic.example));
                         });
    }

    const Database& m_database;
    const trace::Trace& m_trace;
    const EventRows m_eventRows;
    std::vector<std::int64_t> m_rankRows;
};

constexpr const char* kMarkAnnotated =
    "insert into meta (key, value) values ('annotated', '1') on conflict (key) do update set value "
    "= '1'";

base::Result<void> replaceAnnotations(const trace::Trace& annotated,
                                      const std::filesystem::path& file, EventRows eventRows) {
    const base::Result<Database> database = openTrace(file, Access::Write);
    if (!database) return database.error();
    if (const auto begun = database->execute("begin immediate"); !begun) return begun;
    base::Result<void> written = AnnotationWriter(*database, annotated, eventRows).write();
    if (written && (eventRows == EventRows::AsLoaded || isAnnotated(annotated)))
        written = database->execute(kMarkAnnotated);
    if (written) written = database->execute("commit");
    return written;  // where it failed, closing the database rolls back
}

base::Result<void> writeRows(const trace::Trace& trace, Writer writer) {
    if (const auto origin = originUnixNs(trace)) {
        const auto said = writer.setMeta("origin_unix_ns", fmt::to_string(*origin));
        if (!said) return said;
    }
    for (const trace::Rank& rank : trace.ranks()) {
        if (const auto added = writer.addRank(rank); !added) return added.error();
    }
    for (const trace::Lane& lane : trace.lanes()) {
        if (const auto added = writer.addLane(lane); !added) return added.error();
    }
    constexpr std::size_t kBatch = 4'096;
    std::vector<EventRow> rows;
    for (std::size_t i = 0; i < trace.eventCount(); ++i) {
        const auto id = trace::EventId::at(i);
        const trace::Event event = trace.event(id);
        rows.push_back({event.lane, trace.name(id), trace.domain(id), event.kind, event.flag,
                        event.span.begin.ns, event.span.end.ns, trace.arguments(id)});
        if (rows.size() < kBatch && i + 1 < trace.eventCount()) continue;
        if (const auto added = writer.addEvents(rows); !added) return added;
        rows.clear();
    }
    return std::move(writer).finish();
}

base::Result<void> writeDependencies(const trace::Trace& trace, const std::filesystem::path& file) {
    const base::Result<Database> database = openTrace(file, Access::Write);
    if (!database) return database.error();
    if (const auto begun = database->execute("begin immediate"); !begun) return begun;
    const auto written = insertAll(
        *database, "insert into dependency (from_event, to_event, kind) values (?,?,?)",
        trace.dependencies(), [](const Statement& statement, const trace::Dependency& dependency) {
            bindAll(statement, 1, {rowId(dependency.from), rowId(dependency.to)});
            statement.bind(3, trace::toString(dependency.kind));
        });
    return written ? database->execute("commit") : written;
}

}  // namespace

std::optional<std::int64_t> originUnixNs(const trace::Trace& trace) {
    std::optional<std::int64_t> origin;
    for (const trace::Rank& rank : trace.ranks()) {
        if (!rank.clock.unixZero_ns) return std::nullopt;
        if (!origin) origin = rank.clock.unixZero_ns;
    }
    return origin;
}

base::Result<void> writeAnnotations(const trace::Trace& annotated,
                                    const std::filesystem::path& file) {
    return replaceAnnotations(annotated, file, EventRows::AsLoaded);
}

base::Result<void> writeTrace(const trace::Trace& trace, const std::filesystem::path& file) {
    base::Result<Writer> writer = Writer::create(file);
    if (!writer) return writer.error();
    base::Result<void> written = writeRows(trace, std::move(*writer));
    if (written) written = writeDependencies(trace, file);
    if (written) written = replaceAnnotations(trace, file, EventRows::InTraceOrder);
    if (written) return {};
    std::error_code ignored;  // the first failure is the one to tell
    std::filesystem::remove(file, ignored);
    return written;
}

}  // namespace pleat::store
