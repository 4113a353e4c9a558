#include "cli/command_sql.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/say.h"
#include "cli/exit_status.h"
#include "store/reader.h"

namespace pleat::cli {
namespace {

// Characters, not bytes, so that columns of UTF-8 text line up.
std::size_t width(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    }));
}

// Prints rows as aligned columns, in blocks, so that a long result needs little memory.
class Table {
  public:
    void begin(const std::vector<std::string>& columns) {
        print();
        m_rows.assign(1, columns);
    }
    void add(const store::SqlRow& row) {
        std::vector<std::string>& cells = m_rows.emplace_back();
        for (const auto& cell : row) cells.push_back(cell.value_or("NULL"));
        if (m_rows.size() >= kBlock) print();
    }
    void print() {
        std::vector<std::size_t> widths;
        for (const auto& row : m_rows) {
            widths.resize(std::max(widths.size(), row.size()));
            for (std::size_t i = 0; i < row.size(); ++i)
                widths[i] = std::max(widths[i], width(row[i]));
        }
        for (const auto& row : m_rows) {
            std::string line;
            for (std::size_t i = 0; i < row.size(); ++i) {
                if (i > 0) line += "  ";
                line += row[i];
                if (i + 1 < row.size()) line.append(widths[i] - width(row[i]), ' ');
            }
            line = base::printable(line, line.size() * 4 + 16) + "\n";
            std::fwrite(line.data(), 1, line.size(), stdout);
        }
        m_rows.clear();
    }

  private:
    static constexpr std::size_t kBlock = 1'000;
    std::vector<std::vector<std::string>> m_rows;
};

int runQuery(const std::string& file, const std::string& query) {
    Table table;
    const base::Result<void> done =
        store::runSql(file, query,
                      {[&](const std::vector<std::string>& columns) { table.begin(columns); },
                       [&](const store::SqlRow& row) { table.add(row); }});
    table.print();
    if (!done) {
        if (done.error().code != base::ErrorCode::Usage) return fail(done.error());
        return fail({base::ErrorCode::Usage,
                     done.error().message +
                         " (tables: select name from sqlite_schema; docs/trace_database.md)"});
    }
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return kDone;
    return fail({base::ErrorCode::Io, "standard output: not all of the answer could be written"});
}

bool nextLine(std::string_view prompt, std::string& line) {
    std::fwrite(prompt.data(), 1, prompt.size(), stderr);
    return static_cast<bool>(std::getline(std::cin, line));
}

// Statements end with a semicolon; a wrong one is reported and the next is read. At a terminal a
// prompt is shown and a mistake does not change the exit status; in a script the first mistake
// decides it.
int runPrompt(const std::string& file) {
    // Reports a file that cannot be used before anybody types.
    int status = runQuery(file, "");
    if (status != kDone) return status;
    const bool interactive = isatty(STDIN_FILENO) == 1;
    std::string statement;
    const auto prompt = [&] { return interactive ? (statement.empty() ? "sql> " : "...> ") : ""; };
    for (std::string line; nextLine(prompt(), line);) {
        if (statement.empty() && (line == ".quit" || line == ".exit")) break;
        statement += line + "\n";
        if (!store::endsStatement(statement)) continue;
        const int result = runQuery(file, statement);
        if (!interactive && status == kDone) status = result;
        statement.clear();
    }
    if (statement.find_first_not_of(" \t\n") != std::string::npos) {
        const int result = runQuery(file, statement);
        if (!interactive && status == kDone) status = result;
    }
    return status;
}

}  // namespace

void addSqlCommand(CLI::App& app, int& exitStatus) {
    CLI::App* command = app.add_subcommand("sql", "Query a trace with read-only SQL");
    command->footer(
        "Without QUERY, statements are read from standard input until its end.\n"
        "Example: pleat sql demo.pleat \"select kind, count(*) from task group by kind\"");
    struct Arguments {
        std::string file, query;
    };
    auto arguments = std::make_shared<Arguments>();
    command->add_option("FILE", arguments->file, "A *.pleat file")->required()->type_name("");
    CLI::Option* query =
        command->add_option("QUERY", arguments->query, "One or more statements")->type_name("");
    command->callback([arguments, query, &exitStatus] {
        exitStatus = query->count() > 0 ? runQuery(arguments->file, arguments->query)
                                        : runPrompt(arguments->file);
    });
}

}  // namespace pleat::cli
