// Read-only SQL on a trace's database, in the background. Rows beyond kMostRows are counted, not
// kept. One thread, the window's.
#pragma once

#include <QObject>
#include <QString>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "models/background.h"
#include "models/figure_model.h"
#include "store/reader.h"
#include "trace/trace.h"

namespace pleat::models {

inline constexpr std::int64_t kMostRows = 100'000;

// What a query answered, as the database has it: the figures show long values cut and unprintable
// ones escaped.
struct SqlTable {
    std::vector<std::string> columns;
    std::vector<store::SqlRow> rows;  // at most kMostRows
};

class SqlQuery : public QObject {
    Q_OBJECT

  public:
    using QObject::QObject;

    // Ends the query before it.
    void run(const std::filesystem::path& database, const QString& sql);
    void cancel();
    [[nodiscard]] bool running() const { return m_background.running(); }
    // Of the last statement that gave any. A row with start_ns (and end_ns) leads to that time.
    [[nodiscard]] const Figures& figures() const { return m_figures; }
    // The same rows, whole; null before the first answer.
    [[nodiscard]] std::shared_ptr<const SqlTable> table() const { return m_table; }
    [[nodiscard]] std::int64_t rowCount() const { return m_rowCount; }
    [[nodiscard]] const QString& error() const { return m_error; }

  signals:
    void finished();

  private:
    Figures m_figures;
    std::shared_ptr<const SqlTable> m_table;
    std::int64_t m_rowCount = 0;
    QString m_error;
    Background m_background;
};

// As CSV (RFC 4180) with a line of column names; NULL is an empty cell, an empty text is "".
// Replaces the file once all is written. The error in one line, else empty.
[[nodiscard]] QString saveCsv(const SqlTable& table, const QString& file);

// A *.pleat file of any trace, so that SQL can be asked of it. Replaces a file that is there, once
// all is written, unless it is a database in use. The error in one line, else empty.
[[nodiscard]] QString saveDatabase(const trace::Trace& trace, const QString& file);

}  // namespace pleat::models
