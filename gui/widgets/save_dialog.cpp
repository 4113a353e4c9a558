#include "widgets/save_dialog.h"

namespace pleat::widgets {

std::unique_ptr<QFileDialog> makeSaveDialog(QWidget& parent, const QString& title,
                                            const QString& filter, const QString& suffix) {
    auto dialog = std::make_unique<QFileDialog>(&parent, title, QString(), filter);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setFileMode(QFileDialog::AnyFile);
    dialog->setDefaultSuffix(suffix);
    return dialog;
}

QString chooseFileToSave(QWidget& parent, const QString& title, const QString& filter,
                         const QString& suffix, const QString& name) {
    const auto dialog = makeSaveDialog(parent, title, filter, suffix);
    if (!name.isEmpty()) dialog->selectFile(name);
    return dialog->exec() == QDialog::Accepted ? dialog->selectedFiles().value(0) : QString();
}

}  // namespace pleat::widgets
