// The store against SQLite itself: writing events beside a bare loop of 32-row inserts of the same
// columns, loading a trace beside a bare scan of the same columns.
#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/memory.h"
#include "bench/bare_database.h"
#include "bench/ratio.h"
#include "store/reader.h"
#include "store/writer.h"

namespace {

using namespace pleat;
namespace fs = std::filesystem;

constexpr std::size_t kEvents = 1'000'000;
constexpr std::size_t kRowsPerBatch = 8'192;
constexpr std::size_t kRowsPerCommit = 131'072;
constexpr int kRounds = 5;

[[noreturn]] void fail(const std::string& why) {
    fmt::print(stderr, "store_bench: {}\n", why);
    std::exit(1);
}

// What a recorded training run looks like: a few hundred names, a payload on every fourth event.
std::vector<store::EventRow> makeRows() {
    static std::vector<std::string> names;
    for (int i = 0; i < 400; ++i) names.push_back(fmt::format("{}F{}", i % 16, i / 16));
    static const std::string payload = R"({"iteration":3,"stage":1,"chunk":0,"microbatch":7})";
    std::vector<store::EventRow> rows(kEvents);
    for (std::size_t i = 0; i < kEvents; ++i) {
        rows[i].lane = trace::LaneId(0);
        rows[i].name = names[i * 7 % names.size()];
        if (i % 2 == 0) rows[i].domain = "pleat";
        rows[i].startNs = static_cast<std::int64_t>(i) * 1'000;
        rows[i].endNs = rows[i].startNs + 700;
        if (i % 4 == 0) rows[i].arguments = payload;
    }
    return rows;
}

void write(const fs::path& file, const std::vector<store::EventRow>& rows) {
    fs::remove(file);
    auto writer = store::Writer::create(file);
    if (!writer) fail(writer.error().message);
    (void)writer->addRank({});
    (void)writer->addLane({trace::RankId(0), trace::LaneKind::HostThread, 1, "main"});
    for (std::size_t at = 0; at < rows.size(); at += kRowsPerBatch) {
        const std::size_t count = std::min(kRowsPerBatch, rows.size() - at);
        if (const auto done = writer->addEvents(std::span(rows).subspan(at, count)); !done)
            fail(done.error().message);
        if (at % kRowsPerCommit == 0) (void)writer->commit();
    }
    if (const auto done = writer->commit(); !done) fail(done.error().message);
}

// The same rows with their texts numbered.
std::vector<bench::BareRow> bareRows(const std::vector<store::EventRow>& rows) {
    std::vector<bench::BareRow> bare(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        bare[i].name = static_cast<std::int64_t>(i * 7 % 400);
        bare[i].domain = rows[i].domain.empty() ? 0 : 2;
        bare[i].startNs = rows[i].startNs;
        bare[i].endNs = rows[i].endNs;
        bare[i].arguments = rows[i].arguments;
    }
    return bare;
}

void load(const fs::path& file) {
    const auto loaded = store::load(file);
    if (!loaded || loaded->trace.eventCount() != kEvents) fail("the trace was not loaded whole");
}

void scanBare(const fs::path& file) {
    bench::BareDatabase database(file);
    sqlite3_stmt* all = database.prepare(
        "select id, lane, name, domain, kind, flag, start_ns, end_ns, args from event order by id");
    std::int64_t sum = 0;
    while (sqlite3_step(all) == SQLITE_ROW) {
        for (int column = 0; column < 8; ++column) sum += sqlite3_column_int64(all, column);
        const unsigned char* text = sqlite3_column_text(all, 8);
        sum += text == nullptr ? 0 : sqlite3_column_bytes(all, 8);
    }
    sqlite3_finalize(all);
    if (sum == 0) fail("nothing was read");
}

}  // namespace

int main() {
    base::keepFreedMemory();
    std::string folder = (fs::temp_directory_path() / "pleat-bench-XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr) fail("no temporary folder");
    const fs::path ours = fs::path(folder) / "ours.pleat", bare = fs::path(folder) / "bare.db";
    const std::vector<store::EventRow> rows = makeRows();
    const std::vector<bench::BareRow> numbered = bareRows(rows);
    bench::printAtLeast(
        "rows into SQLite / a bare loop of 32-row inserts",
        bench::speedRatio(
            kRounds, [&] { bench::insertBare(bare, numbered); }, [&] { write(ours, rows); }),
        0.9);
    bench::printAtLeast("trace load / a bare scan",
                        bench::speedRatio(
                            kRounds, [&] { scanBare(ours); }, [&] { load(ours); }),
                        0.7);
    fs::remove_all(folder);
}
