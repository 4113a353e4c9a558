#include "store/writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>
#include <utility>

#include "store/database.h"
#include "store/schema.h"

namespace pleat::store {
namespace {

constexpr std::size_t kRowsPerStatement = 32;
constexpr int kEventColumns = 8;
constexpr int kPatienceWithReadersMs = 500;

std::string insertEvents(std::size_t rows) {
    std::string sql =
        "insert into event (lane, name, domain, kind, flag, start_ns, end_ns, args) values ";
    for (std::size_t i = 0; i < rows; ++i)
        sql += i == 0 ? "(?,?,?,?,?,?,?,?)" : ",(?,?,?,?,?,?,?,?)";
    return sql;
}

template <class Tag>
void bindId(const Statement& statement, int parameter, base::Id<Tag> id) {
    if (id.valid()) {
        statement.bind(parameter, rowId(id));
    } else {
        statement.bindNull(parameter);
    }
}

void bindRank(const Statement& statement, const trace::Rank& rank) {
    bindOrNull(statement, 1, rank.number);
    bindOrNull(statement, 2, rank.coordinates.dp);
    bindOrNull(statement, 3, rank.coordinates.pp);
    bindOrNull(statement, 4, rank.coordinates.tp);
    bindOrNull(statement, 5, rank.coordinates.ep);
    bindOrNull(statement, 6, rank.coordinates.cp);
    statement.bind(7, std::string_view(rank.host));
    statement.bind(8, rank.pid);
    statement.bind(9, std::string_view(rank.program));
    statement.bind(10, std::string_view(rank.device));
    statement.bind(11, trace::toString(rank.end));
    if (rank.clockBound) {
        statement.bind(12, rank.clockBound->ns);
    } else {
        statement.bindNull(12);
    }
    statement.bind(13, std::int64_t{rank.clock.clock});
}

constexpr std::string_view kUpdateRank =
    "update rank set number=?1, dp=?2, pp=?3, tp=?4, ep=?5, cp=?6, host=?7, pid=?8, program=?9, "
    "device=?10, end=?11, clock_bound_ns=?12, "
    "clock=?13 where id=?14";

constexpr std::string_view kAddDiagnostic =
    "insert into diagnostic (code, severity, count, example) values (?, ?, ?, ?) "
    "on conflict (code) do update set count = count + excluded.count";

base::Result<void> insertDiagnostics(const Statement& insert,
                                     const base::Diagnostics& diagnostics) {
    for (const base::Diagnostic& diagnostic : diagnostics.entries()) {
        insert.bind(1, std::string_view(diagnostic.code));
        insert.bind(2, base::toString(diagnostic.severity));
        insert.bind(3, diagnostic.count);
        insert.bind(4, std::string_view(diagnostic.example));
        if (const auto done = insert.run(); !done) return done;
    }
    return {};
}

}  // namespace

struct Writer::State {
    Database database;
    std::optional<Statement> beginTransaction, commitTransaction, meta, rank, rankUpdate, lane,
        laneName, string, event, events, clockSample, diagnostic;
    base::StringPool strings;
    std::uint32_t ranks = 0;
    std::uint32_t lanes = 0;
    bool inTransaction = false;
    // The first failure. SQLite may have rolled the transaction back with it (a full disk does),
    // so what was interned or counted since the last commit is gone and nothing can follow.
    std::optional<base::Error> failure;

    base::Result<void> keep(base::Result<void> done) {
        if (!done && !failure) failure = done.error();
        return done;
    }

    base::Result<void> prepare() {
        const auto make = [&](std::optional<Statement>& statement,
                              std::string_view sql) -> base::Result<void> {
            base::Result<Statement> prepared = Statement::prepare(database, sql);
            if (!prepared) return prepared.error();
            statement = std::move(*prepared);
            return {};
        };
        const std::array<std::pair<std::optional<Statement>*, std::string>, 12> all = {{
            {&beginTransaction, "begin immediate"},
            {&commitTransaction, "commit"},
            {&meta,
             "insert into meta (key, value) values (?, ?) on conflict (key) do update set value = "
             "excluded.value"},
            {&rank,
             "insert into rank (number, dp, pp, tp, ep, cp, host, pid, program, device, end, "
             "clock_bound_ns, clock) values (?,?,?,?,?,?,?,?,?,?,?,?,?)"},
            {&rankUpdate, std::string(kUpdateRank)},
            {&lane, "insert into lane (rank, kind, native_id, name) values (?, ?, ?, ?)"},
            {&laneName, "update lane set name = ? where id = ?"},
            {&string, "insert into string (id, text) values (?, ?)"},
            {&event, insertEvents(1)},
            {&events, insertEvents(kRowsPerStatement)},
            {&clockSample,
             "insert into clock_sample (rank, trace_ns, monotonic_ns, unix_ns) values (?, ?, ?, "
             "?)"},
            {&diagnostic, std::string(kAddDiagnostic)},
        }};
        for (const auto& [statement, sql] : all) {
            if (const auto made = make(*statement, sql); !made) return made;
        }
        return {};
    }

    base::Result<void> begin() {
        if (failure) return *failure;
        if (inTransaction) return {};
        const auto begun = keep(beginTransaction->run());
        inTransaction = begun.ok();
        return begun;
    }

    base::Result<void> commit() {
        if (failure) return *failure;
        if (!inTransaction) return {};
        inTransaction = false;
        return keep(commitTransaction->run());
    }

    // The database's id of a text, inserted at its first use.
    base::Result<std::int64_t> stringId(std::string_view text) {
        const std::size_t known = strings.size();
        const base::StringId id = strings.intern(text);
        if (strings.size() > known) {
            string->bind(1, rowId(id));
            string->bind(2, text);
            if (const auto done = string->run(); !done) return done.error();
        }
        return rowId(id);
    }

    base::Result<void> bindEvent(const Statement& statement, std::size_t position,
                                 const EventRow& row) {
        const base::Result<std::int64_t> name = stringId(row.name);
        if (!name) return name.error();
        const int first = static_cast<int>(position) * kEventColumns;
        statement.bind(first + 1, rowId(row.lane));
        statement.bind(first + 2, *name);
        if (row.domain.empty()) {
            statement.bindNull(first + 3);
        } else {
            const base::Result<std::int64_t> domain = stringId(row.domain);
            if (!domain) return domain.error();
            statement.bind(first + 3, *domain);
        }
        statement.bind(first + 4, static_cast<std::int64_t>(row.kind));
        statement.bind(first + 5, static_cast<std::int64_t>(row.flag));
        statement.bind(first + 6, row.startNs);
        statement.bind(first + 7, row.endNs);
        if (row.arguments.empty()) {
            statement.bindNull(first + 8);
        } else {
            statement.bind(first + 8, row.arguments);
        }
        return {};
    }
};

Writer::Writer(std::unique_ptr<State> state) : m_state(std::move(state)) {}
Writer::Writer(Writer&&) noexcept = default;
Writer& Writer::operator=(Writer&&) noexcept = default;
Writer::~Writer() = default;

namespace {

base::Error cannotCreate(const std::filesystem::path& file, int error) {
    const std::string why = error == EEXIST ? "already exists; choose another name or remove it"
                                            : fmt::format("cannot be created: {}", strerror(error));
    return base::Error{base::ErrorCode::Io, fmt::format("{}: {}", file.string(), why)};
}

// A file that is still being made, under a name of its own beside the one it gets. Gone with this
// object unless it was published.
class UnpublishedFile {
  public:
    static base::Result<UnpublishedFile> beside(const std::filesystem::path& file) {
        static std::atomic<unsigned> s_count{0};  // relaxed: only the number matters
        UnpublishedFile made;
        made.m_path =
            file.parent_path() / fmt::format(".pleat-{}-{}.new", ::getpid(),
                                             s_count.fetch_add(1, std::memory_order_relaxed));
        ::unlink(made.m_path.c_str());  // of a process that was killed and had the same number
        const int descriptor =
            ::open(made.m_path.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0644);
        if (descriptor < 0) {
            const int error = errno;
            made.m_path.clear();
            return cannotCreate(file, error);
        }
        ::close(descriptor);
        return made;
    }
    UnpublishedFile(UnpublishedFile&& other) noexcept
        : m_path(std::exchange(other.m_path, std::filesystem::path())) {}
    UnpublishedFile& operator=(UnpublishedFile&&) = delete;
    ~UnpublishedFile() {
        std::error_code ignored;
        if (!m_path.empty()) std::filesystem::remove(m_path, ignored);
    }
    [[nodiscard]] const std::filesystem::path& path() const { return m_path; }

    // Gives it its name, and only if nothing has that name: between a look and a later renaming
    // another program could have made such a file. Not every file system can rename in this way.
    base::Result<void> publish(const std::filesystem::path& file) {
        if (::renameat2(AT_FDCWD, m_path.c_str(), AT_FDCWD, file.c_str(), RENAME_NOREPLACE) == 0) {
            m_path.clear();
            return {};
        }
        if (errno == EEXIST || ::link(m_path.c_str(), file.c_str()) != 0)
            return cannotCreate(file, errno);
        return {};
    }

  private:
    UnpublishedFile() = default;
    std::filesystem::path m_path;
};

// Schema first and WAL last: the header is then in the file itself, not in the log.
base::Result<void> makeSchema(const Database& database) {
    const std::string sql = fmt::format(
        "pragma application_id={}; pragma user_version={}; begin; {} commit; "
        "pragma journal_mode=wal;",
        kApplicationId, kSchemaVersion, kSchema);
    return database.execute(sql.c_str());
}

// An empty trace. Readers look for the file as soon as a recording starts, so it gets its name
// when its tables are all there.
base::Result<void> makeEmptyTrace(const std::filesystem::path& file) {
    if (std::error_code ignored; std::filesystem::exists(file, ignored))
        return cannotCreate(file, EEXIST);
    base::Result<UnpublishedFile> unpublished = UnpublishedFile::beside(file);
    if (!unpublished) return unpublished.error();
    {
        const base::Result<Database> database =
            Database::open(unpublished->path(), SQLITE_OPEN_READWRITE);
        if (!database) return database.error();
        if (const auto made = makeSchema(*database); !made)
            return made.error().within(file.string() + ": cannot be created");
    }
    return unpublished->publish(file);
}

}  // namespace

base::Result<Writer> Writer::create(const std::filesystem::path& file) {
    if (const auto made = makeEmptyTrace(file); !made) return made.error();
    base::Result<Database> database = Database::open(file, SQLITE_OPEN_READWRITE);
    if (!database) return database.error();
    auto state = std::make_unique<State>();
    state->database = std::move(*database);
    base::Result<void> ready = state->database.execute("pragma synchronous=normal");
    if (ready) ready = state->prepare();
    Writer writer(std::move(state));
    if (ready) ready = writer.setMeta("state", "recording");
    if (ready) ready = writer.setMeta("pleat_version", kVersion);
    if (ready) ready = writer.commit();
    if (ready) return writer;
    writer.m_state.reset();
    std::error_code ignored;  // the first failure is the one to tell
    std::filesystem::remove(file, ignored);
    return ready.error();
}

base::Result<void> Writer::setMeta(std::string_view key, std::string_view value) {
    if (const auto begun = m_state->begin(); !begun) return begun;
    m_state->meta->bind(1, key);
    m_state->meta->bind(2, value);
    return m_state->keep(m_state->meta->run());
}

base::Result<trace::RankId> Writer::addRank(const trace::Rank& rank) {
    if (const auto begun = m_state->begin(); !begun) return begun.error();
    bindRank(*m_state->rank, rank);
    if (const auto done = m_state->keep(m_state->rank->run()); !done) return done.error();
    return trace::RankId(m_state->ranks++);
}

base::Result<void> Writer::updateRank(trace::RankId id, const trace::Rank& rank) {
    if (const auto begun = m_state->begin(); !begun) return begun;
    bindRank(*m_state->rankUpdate, rank);
    m_state->rankUpdate->bind(14, rowId(id));
    return m_state->keep(m_state->rankUpdate->run());
}

base::Result<trace::LaneId> Writer::addLane(const trace::Lane& lane) {
    if (const auto begun = m_state->begin(); !begun) return begun.error();
    m_state->lane->bind(1, rowId(lane.rank));
    m_state->lane->bind(2, trace::toString(lane.kind));
    m_state->lane->bind(3, lane.nativeId);
    m_state->lane->bind(4, std::string_view(lane.name));
    if (const auto done = m_state->keep(m_state->lane->run()); !done) return done.error();
    return trace::LaneId(m_state->lanes++);
}

base::Result<void> Writer::renameLane(trace::LaneId id, std::string_view name) {
    if (const auto begun = m_state->begin(); !begun) return begun;
    m_state->laneName->bind(1, name);
    m_state->laneName->bind(2, rowId(id));
    return m_state->keep(m_state->laneName->run());
}

base::Result<void> Writer::addEvents(std::span<const EventRow> rows) {
    if (const auto begun = m_state->begin(); !begun) return begun;
    while (!rows.empty()) {
        const bool full = rows.size() >= kRowsPerStatement;
        const std::size_t count = full ? kRowsPerStatement : 1;
        const Statement& statement = full ? *m_state->events : *m_state->event;
        for (std::size_t i = 0; i < count; ++i) {
            if (const auto bound = m_state->bindEvent(statement, i, rows[i]); !bound)
                return m_state->keep(bound);
        }
        if (const auto done = m_state->keep(statement.run()); !done) return done;
        rows = rows.subspan(count);
    }
    return {};
}

base::Result<void> Writer::addClockSample(const ClockSampleRow& row) {
    if (const auto begun = m_state->begin(); !begun) return begun;
    bindId(*m_state->clockSample, 1, row.rank);
    m_state->clockSample->bind(2, row.traceNs);
    m_state->clockSample->bind(3, row.monotonicNs);
    m_state->clockSample->bind(4, row.unixNs);
    return m_state->keep(m_state->clockSample->run());
}

base::Result<void> Writer::addDiagnostics(const base::Diagnostics& diagnostics) {
    if (const auto begun = m_state->begin(); !begun) return begun;
    return m_state->keep(insertDiagnostics(*m_state->diagnostic, diagnostics));
}

base::Result<void> Writer::commit() { return m_state->commit(); }

base::Result<void> Writer::finish() && {
    if (const auto begun = m_state->begin(); !begun) return begun;
    if (const auto done = m_state->database.execute(kIndexes); !done) return done;
    if (const auto done = setMeta("state", "complete"); !done) return done;
    if (const auto done = commit(); !done) return done;
    const std::unique_ptr<State> state = std::move(m_state);
    // Statements of a connection in WAL mode keep it from leaving that mode.
    const Database database = std::move(state->database);
    *state = State{};
    // While somebody reads, the file cannot leave WAL mode. All rows are in all the same, so that
    // is no failure: the last to close folds the log in.
    sqlite3_busy_timeout(database.handle(), kPatienceWithReadersMs);
    if (!database.execute("pragma journal_mode=delete") &&
        (sqlite3_errcode(database.handle()) & 0xff) != SQLITE_BUSY) {
        return database.error("merging the log into the file");
    }
    return {};
}

}  // namespace pleat::store
