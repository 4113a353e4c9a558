// The table of docs/importing.md, row by row, against the real traces it names.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "annotate/annotate.h"
#include "unit/analyzer/importers/imported.h"

namespace pleat::annotate {
namespace {

using importers::sharedTraces;
namespace fs = std::filesystem;

struct Row {
    std::string file;
    std::vector<std::string> cells;  // behind the file's
};

std::string trimmed(const std::string& text) {
    const std::size_t first = text.find_first_not_of(' ');
    return first == std::string::npos ? std::string()
                                      : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::vector<Row> rowsOfTable() {
    std::ifstream document(fs::path(PLEAT_SOURCE_DIR) / "docs" / "importing.md");
    std::vector<Row> rows;
    bool inTable = false;
    for (std::string line; std::getline(document, line);) {
        if (line.starts_with("## ")) inTable = line == "## Files tested";
        if (!inTable || !line.starts_with("| `")) continue;
        std::istringstream cells(line.substr(1));
        Row row;
        std::getline(cells, row.file, '|');
        row.file = trimmed(row.file);
        row.file = row.file.substr(1, row.file.size() - 2);
        for (std::string cell; std::getline(cells, cell, '|');) row.cells.push_back(trimmed(cell));
        rows.push_back(std::move(row));
    }
    return rows;
}

// The file or folder of that name, wherever it lies.
std::vector<fs::path> filesOf(const std::string& name) {
    for (const auto& entry : fs::recursive_directory_iterator(sharedTraces())) {
        const fs::path path = entry.path();
        if (path.filename() == name) return importers::traceFiles(std::span(&path, 1)).value();
    }
    return {};
}

template <class Items>
void addIterations(const Items& items, std::set<std::int32_t>& iterations) {
    for (const auto& item : items)
        if (item.iteration >= 0) iterations.insert(item.iteration);
}

// "events | ranks | iterations | tasks | transfers | `code` count, …" as the table has it.
std::string lineOf(const trace::Trace& trace) {
    std::set<std::int32_t> iterations;
    addIterations(trace.annotations().iterations, iterations);
    addIterations(trace.annotations().tasks, iterations);
    std::size_t ranks = 0;
    for (const trace::Rank& rank : trace.ranks()) ranks += rank.number >= 0 ? 1 : 0;
    std::vector<std::string> notes;
    for (const base::Diagnostic& said : trace.diagnostics().entries())
        notes.push_back(fmt::format("`{}` {}", said.code, said.count));
    return fmt::format("{} | {} | {} | {} | {} | {}", trace.eventCount(), ranks, iterations.size(),
                       trace.annotations().tasks.size(), trace.annotations().transfers.size(),
                       fmt::join(notes, ", "));
}

TEST(TriedFiles, AreReadAsTheDocumentSays) {
    SKIP_WITHOUT_SHARED_TRACES();
    const std::vector<Row> rows = rowsOfTable();
    EXPECT_GE(rows.size(), 20U);
    for (const Row& row : rows) {
        const std::vector<fs::path> files = filesOf(row.file);
        ASSERT_FALSE(files.empty()) << row.file;
        auto imported = importers::importTraces(files);
        const std::string said = fmt::format("{}", fmt::join(row.cells, " | "));
        if (!imported) {
            const std::string message = importers::messageOf(imported);
            const std::string refused = "refused: ";
            ASSERT_TRUE(row.cells.back().starts_with(refused)) << row.file << ": " << message;
            EXPECT_NE(message.find(row.cells.back().substr(refused.size())), std::string::npos)
                << message;
            continue;
        }
        auto trace =
            files.size() > 1 ? annotateOnOneClock(std::move(*imported)) : annotate(*imported);
        ASSERT_TRUE(trace) << row.file;
        EXPECT_EQ(lineOf(*trace), said) << row.file;
    }
}

// Every trace at hand is in the table, or one of many small ones that other tests name.
TEST(TriedFiles, NoneIsLeftOut) {
    SKIP_WITHOUT_SHARED_TRACES();
    std::set<std::string> known;
    for (const Row& row : rowsOfTable()) known.insert(row.file);
    for (const char* folder : {"kineto", "nsys", "straggler"}) {
        for (const auto& entry : fs::directory_iterator(sharedTraces() / folder)) {
            const std::string name = entry.path().filename().string();
            const bool trace = name.ends_with(".json.gz") || name.ends_with(".sqlite");
            EXPECT_EQ(known.contains(name), trace) << name;
        }
    }
}

}  // namespace
}  // namespace pleat::annotate
