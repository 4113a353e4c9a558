// Reads *.pleat files, finished or still being recorded, and answers read-only SQL on them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/progress.h"
#include "base/result.h"
#include "trace/trace.h"

namespace pleat::store {

// Does the file begin like a Pleat trace (SQLite header with our application id)?
[[nodiscard]] bool isPleatFile(const std::filesystem::path& file);

struct LoadedTrace {
    trace::Trace trace;
    bool annotated = false;  // the file holds annotations; else they still have to be made
    bool finished = false;   // the recording was closed; else it is running or was interrupted
    // Time 0 on UTC and on the monotonic clock of the host that recorded; none where not in the
    // file.
    std::optional<std::int64_t> unixZero_ns, monotonicZero_ns;
};

// Input error naming the file and what is wrong: not SQLite, not ours, newer schema (both versions
// named), damaged (table and row named). Rows that refer to nothing are dropped and counted (code
// "dangling_row"). Progress counts events.
[[nodiscard]] base::Result<LoadedTrace> load(const std::filesystem::path& file,
                                             const base::Progress& progress = {});

// One row of text cells; NULL is an empty optional.
using SqlRow = std::vector<std::optional<std::string>>;
struct SqlSink {
    std::function<void(const std::vector<std::string>& columns)> columns;
    std::function<void(const SqlRow& row)> row;
};
// Whether `text` ends with the semicolon of a statement: one within a literal, a name or a comment
// ends none ("select ';'").
[[nodiscard]] bool endsStatement(const std::string& text);

// Runs the statements of `query` on the file opened read-only; anything that would write is an
// error. Usage error with SQLite's message for bad SQL. Progress counts nothing; it can only end
// the query.
[[nodiscard]] base::Result<void> runSql(const std::filesystem::path& file, std::string_view query,
                                        const SqlSink& sink, const base::Progress& progress = {});

}  // namespace pleat::store
