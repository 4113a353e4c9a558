#include "models/recent_files.h"

#include <QSettings>

namespace pleat::models {
namespace {

constexpr qsizetype kMostRecent = 10;
const QString kKey = QStringLiteral("recent_files");

}  // namespace

QList<QStringList> recentFiles() {
    QList<QStringList> recent;
    for (const QVariant& entry : QSettings().value(kKey).toList()) recent << entry.toStringList();
    return recent;
}

void addRecentFiles(const QStringList& files) {
    if (files.isEmpty()) return;
    QList<QStringList> recent = recentFiles();
    recent.removeAll(files);
    recent.prepend(files);
    QVariantList kept;
    for (const QStringList& entry : recent.first(qMin(recent.size(), kMostRecent))) kept << entry;
    QSettings().setValue(kKey, kept);
}

void clearRecentFiles() { QSettings().remove(kKey); }

}  // namespace pleat::models
