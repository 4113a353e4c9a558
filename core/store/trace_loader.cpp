#include "store/trace_loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "trace/limits.h"

namespace pleat::store {
namespace {

// -1, "unknown", for NULL and for what no such number can be.
std::int32_t number(const Statement& row, int column) {
    const std::int64_t value = row.isNull(column) ? -1 : row.integer(column);
    return std::in_range<std::int32_t>(value) ? static_cast<std::int32_t>(value) : -1;
}

// When trace time was 0 by a clock that showed `moment_ns` at trace time `at_ns`.
std::optional<std::int64_t> originOf(std::int64_t moment_ns, std::int64_t at_ns) {
    std::int64_t ns = 0;
    if (__builtin_sub_overflow(moment_ns, at_ns, &ns) || ns < 0 || ns > trace::kFarthestNs)
        return std::nullopt;
    return ns;
}

// A moment as meta spells it; nothing for what is not one.
std::optional<std::int64_t> origin(std::string_view text) {
    std::int64_t ns = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ns);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return originOf(ns, 0);
}

bool isTime(std::int64_t ns) { return ns >= -trace::kFarthestNs && ns <= trace::kFarthestNs; }

base::TraceTime time(const Statement& row, int column) { return {row.integer(column)}; }

base::Interval span(const Statement& row, int start) {
    return {time(row, start), time(row, start + 1)};
}

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

template <class Row>
base::Result<void> TraceLoader::eachById(std::string_view table, std::string_view sql, Row row) {
    const base::Result<Statement> statement = Statement::prepare(m_database, sql);
    if (!statement) return statement.error();
    std::optional<std::int64_t> reached;
    const auto place = [&] {
        return reached ? fmt::format("table {}, after row {}", table, *reached)
                       : fmt::format("table {}, before its first row", table);
    };
    for (;;) {
        const base::Result<bool> more = statement->step();
        if (!more) {
            return base::Error{more.error().code,
                               fmt::format("{} ({})", more.error().message, place())};
        }
        if (!*more) return {};
        const std::int64_t id = statement->integer(0);
        if (reached && id <= *reached) {
            return base::Error{base::ErrorCode::Input,
                               fmt::format("{}: the file is damaged: row ids go backwards ({})",
                                           m_database.file(), place())};
        }
        reached = id;
        row(*statement);
    }
}

void TraceLoader::leaveOut(base::DiagnosticCode code, std::string_view table, std::int64_t row,
                           std::string_view why) {
    m_found.add(code, fmt::format("table {}, row {}: {}; row skipped", table, row, why));
}

void TraceLoader::dangling(std::string_view table, std::int64_t row, std::string_view what) {
    leaveOut("dangling_row", table, row, fmt::format("its {} is missing from the file", what));
}

void TraceLoader::lost(std::string_view table, std::int64_t row, std::string_view what) {
    m_found.add("dangling_row",
                fmt::format("table {}, row {}: its {} is missing from the file; the row counts as "
                            "without one",
                            table, row, what));
}

base::Result<LoadedTrace> TraceLoader::load() {
    using Step = base::Result<void> (TraceLoader::*)();
    for (const Step step :
         {&TraceLoader::loadMeta, &TraceLoader::loadRanks, &TraceLoader::loadLanes,
          &TraceLoader::loadStrings, &TraceLoader::loadEvents, &TraceLoader::loadDependencies}) {
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
    return LoadedTrace{trace::Trace::annotated(built.trace.sharedColumns(), built.trace.ranks(),
                                               built.trace.lanes(), std::move(m_annotations),
                                               allDiagnostics(built.trace.diagnostics())),
                       m_annotated, m_finished, m_unixZero_ns, m_monotonicZero_ns};
}

// An annotated file holds the counts of the loading before the annotation. What this loading met
// again is the same, so of both counts the larger is right, not the sum.
base::Diagnostics TraceLoader::allDiagnostics(const base::Diagnostics& built) const {
    base::Diagnostics counted = built;
    counted.add(m_found);
    base::Diagnostics all = m_stored;
    for (const base::Diagnostic& d : counted.entries()) {
        const base::Diagnostic* stored = m_stored.find(d.code);
        const std::int64_t more = d.count - (stored == nullptr ? 0 : stored->count);
        if (more > 0) all.add(base::Diagnostic{d.severity, d.code, more, d.example});
    }
    return all;
}

base::Result<void> TraceLoader::loadMeta() {
    const auto read = each("meta", "select key, value from meta", [&](const Statement& row) {
        if (row.text(0) == "annotated") m_annotated = row.text(1) == "1";
        if (row.text(0) == "state") m_finished = row.text(1) == "complete";
        if (row.text(0) == "origin_unix_ns") m_unixZero_ns = origin(row.text(1));
        if (row.text(0) == "origin_monotonic_ns") m_monotonicZero_ns = origin(row.text(1));
    });
    if (!read || m_unixZero_ns) return read;
    return each("clock_sample",
                "select trace_ns, monotonic_ns, unix_ns from clock_sample order by id limit 1",
                [&](const Statement& row) {
                    const auto zero = [&](int column) {
                        return originOf(row.integer(column), row.integer(0));
                    };
                    m_unixZero_ns = zero(2);
                    m_monotonicZero_ns = zero(1);
                });
}

base::Result<void> TraceLoader::loadRanks() {
    // Older files have no column for it. A rank with a bound then has a clock of its own.
    bool hasClock = false;
    const auto looked = each("rank", "select 1 from pragma_table_info('rank') where name = 'clock'",
                             [&](const Statement&) { hasClock = true; });
    if (!looked) return looked;
    return eachById(
        "rank",
        fmt::format("select id, number, dp, pp, tp, ep, cp, host, pid, program, device, end, "
                    "clock_bound_ns, {} from rank order by id",
                    hasClock ? "clock" : "iif(clock_bound_ns is null, 0, id)"),
        [&](const Statement& row) {
            trace::Rank rank;
            rank.number = number(row, 1);
            rank.coordinates = {number(row, 2), number(row, 3), number(row, 4), number(row, 5),
                                number(row, 6)};
            rank.host = row.text(7);
            rank.pid = row.integer(8);
            rank.program = row.text(9);
            rank.device = row.text(10);
            rank.end = trace::parseProcessEnd(row.text(11)).value_or(trace::ProcessEnd::Unknown);
            if (!row.isNull(12)) {
                rank.clockBound = base::Duration{
                    std::clamp<std::int64_t>(row.integer(12), 0, trace::kFarthestNs)};
            }
            rank.clock.clock = std::max(number(row, 13), 0);
            rank.clock.unixZero_ns = m_unixZero_ns;
            m_ranks.add(row.integer(0), m_builder.addRank(std::move(rank)));
        });
}

// Ranks of one number and one process are the devices that it worked on.
void TraceLoader::findDevices() {
    std::map<std::tuple<std::int32_t, std::string, std::int64_t>, std::vector<trace::RankId>> of;
    for (std::size_t i = 0; i < m_builder.ranks().size(); ++i) {
        const auto id = trace::RankId::at(i);
        const trace::Rank& rank = m_builder.ranks()[id];
        if (rank.pid != 0 && !rank.device.empty())
            of[{rank.number, rank.host, rank.pid}].push_back(id);
    }
    for (const auto& [process, devices] : of) {
        std::set<std::string> names;
        for (const trace::RankId id : devices) names.insert(m_builder.ranks()[id].device);
        if (devices.size() < 2 || names.size() != devices.size()) continue;
        for (const trace::RankId id : devices) m_builder.ranks()[id].oneOfSeveralDevices = true;
    }
}

base::Result<void> TraceLoader::loadLanes() {
    findDevices();
    return eachById("lane", "select id, rank, kind, native_id, name from lane order by id",
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
    return eachById("string", "select id, text from string order by id", [&](const Statement& row) {
        m_strings.add(row.integer(0), m_builder.intern(row.text(1)));
    });
}

base::Result<void> TraceLoader::loadEvents() {
    return eachById(
        "event",
        "select id, lane, name, domain, kind, flag, start_ns, end_ns, args from event order by id",
        [&](const Statement& row) { loadEvent(row); });
}

void TraceLoader::loadEvent(const Statement& row) {
    const std::int64_t id = row.integer(0);
    const trace::LaneId lane = m_lanes.find(row.integer(1));
    const base::StringId name = m_strings.find(row.integer(2));
    const bool hasDomain = !row.isNull(3);
    const base::StringId domain = hasDomain ? m_strings.find(row.integer(3)) : base::StringId();
    const std::int64_t start = row.integer(6);
    const std::int64_t end = row.integer(7);
    if (!lane.valid()) return dangling("event", id, "lane");
    if (!name.valid()) return dangling("event", id, "name");
    if (hasDomain && !domain.valid()) return dangling("event", id, "domain");
    if (!isTime(start) || !isTime(end) || !std::in_range<std::uint32_t>(id))
        return leaveOut("impossible_row", "event", id,
                        "a time or a number of rows is out of range");
    m_events.add(id, base::Id<struct AddedTag>(m_added++));
    m_builder.addEvent({lane,
                        name,
                        domain,
                        row.integer(4) == 1 ? trace::EventKind::Mark : trace::EventKind::Range,
                        row.integer(5) == 1 ? trace::EventFlag::OpenAtEnd : trace::EventFlag::None,
                        {{start}, {end}}},
                       row.text(8), static_cast<std::uint32_t>(id));
}

trace::EventId TraceLoader::eventId(std::int64_t row) const {
    const auto added = m_events.find(row);
    return added.valid() ? m_idOfAdded[added.index()] : trace::EventId();
}

base::Result<void> TraceLoader::loadDependencies() {
    // Files of the first days have no such table.
    bool present = false;
    const auto looked = each(
        "sqlite_master", "select 1 from sqlite_master where type = 'table' and name = 'dependency'",
        [&](const Statement&) { present = true; });
    if (!looked || !present) return looked;
    return eachById("dependency",
                    "select id, from_event, to_event, kind from dependency order by id",
                    [&](const Statement& row) {
                        const auto from = m_events.find(row.integer(1));
                        const auto to = m_events.find(row.integer(2));
                        const auto kind = trace::parseDependencyKind(row.text(3));
                        if (!from.valid() || !to.valid())
                            return dangling("dependency", row.integer(0), "event");
                        if (!kind) return dangling("dependency", row.integer(0), "kind");
                        m_builder.addDependency(from.index(), to.index(), *kind);
                    });
}

base::Result<void> TraceLoader::loadTasks() {
    return eachById(
        "task",
        "select id, rank, event, iteration, stage, chunk, microbatch, kind, start_ns, end_ns "
        "from task order by id",
        [&](const Statement& row) {
            const trace::RankId rank = m_ranks.find(row.integer(1));
            const trace::EventId event = eventId(row.integer(2));
            const auto kind = schedule::parseActionKind(row.text(7));
            if (!rank.valid()) return dangling("task", row.integer(0), "rank");
            if (!event.valid()) return dangling("task", row.integer(0), "event");
            if (!kind || !schedule::isCompute(*kind))
                return dangling("task", row.integer(0), "kind of action");
            m_annotations.tasks.push({rank, event, number(row, 3), number(row, 4), number(row, 5),
                                      number(row, 6), *kind, span(row, 8)});
        });
}

base::Result<void> TraceLoader::loadPhasesAndIterations() {
    const auto phases = eachById(
        "phase", "select id, rank, event, iteration, kind, start_ns, end_ns from phase order by id",
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
    return eachById(
        "iteration", "select id, rank, event, number, start_ns, end_ns from iteration order by id",
        [&](const Statement& row) {
            const trace::RankId rank = m_ranks.find(row.integer(1));
            const trace::EventId event = eventId(row.integer(2));
            if (!rank.valid()) return dangling("iteration", row.integer(0), "rank");
            if (!event.valid()) return dangling("iteration", row.integer(0), "event");
            m_annotations.iterations.push_back({rank, event, number(row, 3), span(row, 4)});
        });
}

base::Result<void> TraceLoader::loadGroups() {
    const auto groups = eachById(
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
    return eachById("match", "select id, ready_ns, last_rank, complete from match order by id",
                    [&](const Statement& row) {
                        const trace::RankId last = m_ranks.find(row.integer(2));
                        if (!last.valid()) return dangling("match", row.integer(0), "last rank");
                        m_matchRows.push_back(row.integer(0));
                        m_matches.add(row.integer(0),
                                      m_annotations.matches.push(
                                          {{}, time(row, 1), last, row.integer(3) == 1}));
                    });
}

base::Result<void> TraceLoader::loadTransfers() {
    return eachById(
        "transfer",
        "select id, rank, event, iteration, stage, chunk, microbatch, operation, dimension, "
        "bytes, process_group, peer, "
        "sequence, action, match, start_ns, end_ns from transfer order by id",
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
            if (!row.isNull(10)) {
                transfer.group = m_groups.find(row.integer(10));
                if (!transfer.group.valid()) lost("transfer", row.integer(0), "process group");
            }
            transfer.peer = number(row, 11);
            transfer.sequence = row.integer(12);
            if (!row.isNull(13)) transfer.action = schedule::parseActionKind(row.text(13));
            if (!row.isNull(14)) {
                transfer.match = m_matches.find(row.integer(14));
                if (!transfer.match.valid()) lost("transfer", row.integer(0), "match");
            }
            transfer.span = span(row, 15);
            m_annotations.transfers.push(transfer);
        });
}

// Gives every match its members. One whose transfers were all left out says nothing and goes too.
void TraceLoader::completeMatches() {
    const auto& transfers = m_annotations.transfers;
    auto& matches = m_annotations.matches;
    for (std::size_t i = 0; i < transfers.size(); ++i) {
        const trace::MatchId match = transfers[transfers.idAt(i)].match;
        if (match.valid()) matches[match].members.push_back(transfers.idAt(i));
    }
    std::vector<trace::MatchId> moved(matches.size());
    base::IdVector<trace::MatchTag, trace::Match> kept;
    for (std::size_t i = 0; i < matches.size(); ++i) {
        trace::Match& match = matches[matches.idAt(i)];
        if (match.members.empty()) {
            leaveOut("dangling_row", "match", m_matchRows[i],
                     "all of its transfers are missing from the file");
        } else {
            moved[i] = kept.push(std::move(match));
        }
    }
    matches = std::move(kept);
    for (trace::Transfer& transfer : m_annotations.transfers)
        if (transfer.match.valid()) transfer.match = moved[transfer.match.index()];
}

base::Result<void> TraceLoader::loadSchedule() {
    return each("schedule",
                "select name, ranks, chunks, microbatches, group_size, confidence from schedule "
                "order by rowid",
                [&](const Statement& row) {
                    const double confidence = row.real(5);
                    if (!(confidence >= 0 && confidence <= 1))
                        return leaveOut("impossible_row", "schedule", 1,
                                        "its confidence is not between 0 and 1");
                    if (m_annotations.schedule) {
                        m_annotations.schedule->also.emplace_back(row.text(0));
                        return;
                    }
                    m_annotations.schedule = trace::RecognisedSchedule{
                        std::string(row.text(0)), number(row, 1), number(row, 2),
                        number(row, 3),           number(row, 4), confidence};
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
            // What is met again is added, which must not overflow.
            constexpr std::int64_t kMost = std::int64_t{1} << 62;
            const std::int64_t count = std::clamp(row.integer(2), std::int64_t{0}, kMost);
            m_stored.add(base::Diagnostic{severity, std::string(row.text(0)), count,
                                          std::string(row.text(3))});
        });
}

}  // namespace pleat::store
