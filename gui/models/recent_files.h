// The traces opened last, kept between runs of the viewer. One thread, the window's.
#pragma once

#include <QList>
#include <QStringList>

namespace pleat::models {

// Each entry is the files of one trace; the latest first, at most ten.
[[nodiscard]] QList<QStringList> recentFiles();
void addRecentFiles(const QStringList& files);
void clearRecentFiles();

}  // namespace pleat::models
