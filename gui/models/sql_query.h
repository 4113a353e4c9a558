// Read-only SQL on a trace's database, in the background. Rows beyond kMostRows are counted, not
// kept. One thread, the window's.
#pragma once

#include <QObject>
#include <QString>
#include <cstdint>
#include <filesystem>

#include "models/background.h"
#include "models/figure_model.h"
#include "trace/trace.h"

namespace pleat::models {

inline constexpr std::int64_t kMostRows = 100'000;

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
    [[nodiscard]] std::int64_t rowCount() const { return m_rowCount; }
    [[nodiscard]] const QString& error() const { return m_error; }

  signals:
    void finished();

  private:
    Figures m_figures;
    std::int64_t m_rowCount = 0;
    QString m_error;
    Background m_background;
};

// As RFC 4180 has it, with a head.
[[nodiscard]] QString csvOf(const Figures& figures);

// A *.pleat file of any trace, so that SQL can be asked of it. The error in one line, else empty.
[[nodiscard]] QString saveDatabase(const trace::Trace& trace, const QString& file);

}  // namespace pleat::models
