#include "models/bookmarks.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSaveFile>
#include <algorithm>

namespace pleat::models {
namespace {

namespace fs = std::filesystem;

const QString kSchema = QStringLiteral("pleat-bookmarks/1");

QString pathOf(const fs::path& file) { return QString::fromStdString(file.string()); }

base::Error error(base::ErrorCode code, const fs::path& file, const QString& why) {
    return {code, file.string() + ": " + why.toStdString()};
}

auto atOrBehind(std::vector<Bookmark>& all, base::TraceTime time) {
    return std::partition_point(all.begin(), all.end(),
                                [&](const Bookmark& one) { return one.time < time; });
}

}  // namespace

void Bookmarks::add(Bookmark bookmark) {
    remove(bookmark.time);
    m_all.insert(atOrBehind(m_all, bookmark.time), std::move(bookmark));
}

void Bookmarks::remove(base::TraceTime time) {
    std::erase_if(m_all, [&](const Bookmark& one) { return one.time == time; });
}

const Bookmark* Bookmarks::next(base::TraceTime time) const {
    const auto found = std::find_if(m_all.begin(), m_all.end(),
                                    [&](const Bookmark& one) { return one.time > time; });
    return found == m_all.end() ? nullptr : &*found;
}

const Bookmark* Bookmarks::previous(base::TraceTime time) const {
    const auto found = std::find_if(m_all.rbegin(), m_all.rend(),
                                    [&](const Bookmark& one) { return one.time < time; });
    return found == m_all.rend() ? nullptr : &*found;
}

base::Result<Bookmarks> Bookmarks::load(const fs::path& file) {
    QFile stream(pathOf(file));
    if (!stream.exists()) return Bookmarks();
    if (!stream.open(QIODevice::ReadOnly))
        return error(base::ErrorCode::Io, file, stream.errorString());
    const QJsonDocument document = QJsonDocument::fromJson(stream.readAll());
    if (document.object().value(QStringLiteral("schema")).toString() != kSchema)
        return error(
            base::ErrorCode::Input, file,
            QStringLiteral("no readable bookmarks (expected schema %1); it stays unchanged")
                .arg(kSchema));
    Bookmarks bookmarks;
    for (const QJsonValue& value : document.object().value(QStringLiteral("bookmarks")).toArray()) {
        const QJsonValue time = value.toObject().value(QStringLiteral("time_ns"));
        if (!time.isDouble())
            return error(base::ErrorCode::Input, file,
                         QStringLiteral("has a bookmark without time_ns; it stays unchanged"));
        bookmarks.add(
            {{time.toInteger()}, value.toObject().value(QStringLiteral("note")).toString()});
    }
    return bookmarks;
}

base::Result<void> Bookmarks::save(const fs::path& file) const {
    if (m_all.empty()) {
        QFile old(pathOf(file));
        if (old.exists() && !old.remove())
            return error(base::ErrorCode::Io, file, old.errorString());
        return {};
    }
    QJsonArray array;
    for (const Bookmark& bookmark : m_all)
        array.append(QJsonObject{{QStringLiteral("time_ns"), qint64{bookmark.time.ns}},
                                 {QStringLiteral("note"), bookmark.note}});
    const QJsonDocument document(
        QJsonObject{{QStringLiteral("schema"), kSchema}, {QStringLiteral("bookmarks"), array}});
    QSaveFile stream(pathOf(file));
    if (!stream.open(QIODevice::WriteOnly) || stream.write(document.toJson()) < 0 ||
        !stream.commit())
        return error(base::ErrorCode::Io, file, stream.errorString());
    return {};
}

fs::path Bookmarks::fileFor(const fs::path& trace) {
    fs::path file = trace;
    if (!file.has_filename()) file = file.parent_path();  // "folder/"
    file += ".bookmarks.json";
    return file;
}

}  // namespace pleat::models
