#include "widgets/language.h"

#include <QCoreApplication>
#include <QLibraryInfo>
#include <QTranslator>

namespace pleat::widgets {
namespace {

// False where there is no such file.
bool install(const QLocale& locale, const QString& name, const QString& folder) {
    auto* translator = new QTranslator(qApp);
    const bool found = translator->load(locale, name, QStringLiteral("_"), folder) &&
                       QCoreApplication::installTranslator(translator);
    if (!found) delete translator;
    return found;
}

}  // namespace

void installLanguage(const QLocale& locale) {
    const QString name = QStringLiteral("pleat"), ours = QStringLiteral(":/translations");
    // English needs one as well: for "1 row", "2 rows".
    if (!install(locale, name, ours)) install(QLocale(QLocale::English), name, ours);
    install(locale, QStringLiteral("qt"), QLibraryInfo::path(QLibraryInfo::TranslationsPath));
}

}  // namespace pleat::widgets
