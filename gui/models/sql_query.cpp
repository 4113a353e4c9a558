#include "models/sql_query.h"

#include <optional>
#include <utility>

#include "models/text.h"
#include "store/reader.h"
#include "store/writer.h"

namespace pleat::models {
namespace {

struct Answer {
    Figures figures;
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
                                  for (const std::string& column : columns)
                                      answer.figures.columns << shownText(column);
                                  times = {
                                      answer.figures.columns.indexOf(QStringLiteral("start_ns")),
                                      answer.figures.columns.indexOf(QStringLiteral("end_ns"))};
                              },
                              [&](const store::SqlRow& row) {
                                  if (++answer.rowCount > kMostRows) return;
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

QString quoted(const QString& text) {
    static const QString special = QStringLiteral(",\"\n\r");
    for (const QChar c : text) {
        if (special.contains(c))
            return QLatin1Char('"') +
                   QString(text).replace(QLatin1Char('"'), QStringLiteral("\"\"")) +
                   QLatin1Char('"');
    }
    return text;
}

}  // namespace

void SqlQuery::run(const std::filesystem::path& database, const QString& sql) {
    m_background.start([database, text = sql.toStdString()](
                           const std::stop_token& stop) { return answerOf(database, text, stop); },
                       [this](Answer answer) {
                           m_figures = std::move(answer.figures);
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

QString csvOf(const Figures& figures) {
    QStringList lines, cells;
    for (const QString& column : figures.columns) cells << quoted(column);
    lines << cells.join(QLatin1Char(','));
    for (const auto& row : figures.rows) {
        cells.clear();
        for (const Cell& cell : row) cells << quoted(cell.text);
        lines << cells.join(QLatin1Char(','));
    }
    return lines.join(QStringLiteral("\r\n")) + QStringLiteral("\r\n");
}

QString saveDatabase(const trace::Trace& trace, const QString& file) {
    const auto written = store::writeTrace(trace, file.toStdString());
    return written ? QString() : shownText(written.error().message, 4'000);
}

}  // namespace pleat::models
