#include "models/sql_query.h"

#include <QSaveFile>
#include <QTemporaryDir>
#include <optional>
#include <utility>

#include "models/text.h"
#include "report/text_writer.h"
#include "store/reader.h"
#include "store/writer.h"

namespace pleat::models {
namespace {

struct Answer {
    Figures figures;
    SqlTable table;
    std::int64_t rowCount = 0;
    QString error;
};

// Where the columns that say a time stand; -1: nowhere.
struct TimeColumns {
    qsizetype start = -1, end = -1;
};

Place placeOf(const store::SqlRow& row, TimeColumns columns) {
    const auto number = [&](qsizetype column) -> std::optional<std::int64_t> {
        if (column < 0 || !row[static_cast<std::size_t>(column)]) return std::nullopt;
        bool isNumber = false;
        const qlonglong value =
            QString::fromStdString(*row[static_cast<std::size_t>(column)]).toLongLong(&isNumber);
        return isNumber ? std::optional<std::int64_t>(value) : std::nullopt;
    };
    Place place;
    if (const auto start = number(columns.start))
        place.range = base::Interval{{*start}, {number(columns.end).value_or(*start)}};
    return place;
}

Cell cellOf(const std::optional<std::string>& value, const Place& place) {
    if (!value) return {QStringLiteral("NULL"), {}, place};
    const QString text = shownText(*value);
    bool isNumber = false;
    const double number = text.toDouble(&isNumber);
    return {text, isNumber ? QVariant(number) : QVariant(), place};
}

Answer answerOf(const std::filesystem::path& database, const std::string& sql,
                const std::stop_token& stop) {
    Answer answer;
    TimeColumns times;
    const store::SqlSink sink{[&](const std::vector<std::string>& columns) {
                                  answer = {};
                                  answer.table.columns = columns;
                                  for (const std::string& column : columns)
                                      answer.figures.columns << shownText(column);
                                  times = {
                                      answer.figures.columns.indexOf(QStringLiteral("start_ns")),
                                      answer.figures.columns.indexOf(QStringLiteral("end_ns"))};
                              },
                              [&](const store::SqlRow& row) {
                                  if (++answer.rowCount > kMostRows) return;
                                  answer.table.rows.push_back(row);
                                  const Place place = placeOf(row, times);
                                  std::vector<Cell>& cells = answer.figures.rows.emplace_back();
                                  for (const auto& value : row)
                                      cells.push_back(cellOf(value, place));
                              }};
    const auto done = store::runSql(
        database, sql, sink, [&](std::uint64_t, std::uint64_t) { return !stop.stop_requested(); });
    if (!done) answer.error = shownText(done.error().message, 4'000);
    return answer;
}

void writeLine(report::TextWriter& out, const store::SqlRow& cells) {
    const char* between = "";
    for (const auto& cell : cells) {
        out.raw(between);
        between = ",";
        if (cell) cell->empty() ? out.raw("\"\"") : out.csv(*cell);
    }
    out.raw("\r\n");
}

}  // namespace

void SqlQuery::run(const std::filesystem::path& database, const QString& sql) {
    m_background.start([database, text = sql.toStdString()](
                           const std::stop_token& stop) { return answerOf(database, text, stop); },
                       [this](Answer answer) {
                           m_figures = std::move(answer.figures);
                           m_table = std::make_shared<const SqlTable>(std::move(answer.table));
                           m_rowCount = answer.rowCount;
                           m_error = answer.error;
                           emit finished();
                       });
}

void SqlQuery::cancel() {
    if (!running()) return;
    m_background.stop();
    m_error = tr("The query was cancelled.");
    emit finished();
}

QString saveCsv(const SqlTable& table, const QString& file) {
    QSaveFile out(file);
    out.setDirectWriteFallback(true);  // of a folder that takes no new files
    const report::TextSink sink = [&](std::string_view text) -> base::Result<void> {
        const auto size = static_cast<qint64>(text.size());
        if (out.write(text.data(), size) == size) return {};
        return base::Error{base::ErrorCode::Io, "not all could be written"};
    };
    report::TextWriter text(sink);
    if (out.open(QIODevice::WriteOnly)) {
        writeLine(text, {table.columns.begin(), table.columns.end()});
        for (const store::SqlRow& row : table.rows) writeLine(text, row);
        if (text.flush() && out.commit()) return {};
    }
    return QStringLiteral("%1: %2").arg(file, out.errorString());
}

QString saveDatabase(const trace::Trace& trace, const QString& file) {
    namespace fs = std::filesystem;
    const fs::path target = file.toStdString();
    std::error_code failed;
    // The log of a database would be taken for that of the one which replaces it.
    if (fs::exists(target.string() + "-wal", failed))
        return SqlQuery::tr(
                   "%1: another program has it open, or its recording was interrupted; "
                   "choose another name")
            .arg(file);
    const fs::path folder = fs::absolute(target, failed).parent_path();
    const QTemporaryDir beside(QString::fromStdString((folder / ".pleat-XXXXXX").string()));
    if (!beside.isValid()) return QStringLiteral("%1: %2").arg(file, beside.errorString());
    const fs::path made = beside.filePath(QStringLiteral("new.pleat")).toStdString();
    if (const auto written = store::writeTrace(trace, made); !written)
        return shownText(written.error().message, 4'000);
    fs::rename(made, target, failed);
    return failed ? QStringLiteral("%1: %2").arg(file, QString::fromStdString(failed.message()))
                  : QString();
}

}  // namespace pleat::models
