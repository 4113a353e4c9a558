// Where to save something. The dialog itself adds the ending to a name without one, so the question
// whether to replace a file is about the file that is then written.
#pragma once

#include <QFileDialog>
#include <QString>
#include <memory>

namespace pleat::widgets {

[[nodiscard]] std::unique_ptr<QFileDialog> makeSaveDialog(QWidget& parent, const QString& title,
                                                          const QString& filter,
                                                          const QString& suffix);
// Empty: nothing was chosen. `name` is what the dialog offers.
[[nodiscard]] QString chooseFileToSave(QWidget& parent, const QString& title, const QString& filter,
                                       const QString& suffix, const QString& name = {});

}  // namespace pleat::widgets
