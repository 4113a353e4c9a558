// The main of every GUI test: one QApplication for all of its tests, without the user's settings
// and with the fonts of the pictures alone, also for the programs that the tests run.
#include <gtest/gtest.h>

#include <QApplication>
#include <QSettings>

#include "support/temporary_folder.h"

int main(int argumentCount, char** arguments) {
    ::testing::InitGoogleTest(&argumentCount, arguments);
    const pleat::test::TemporaryFolder settings;
    QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope,
                       QString::fromStdString(settings.file("").string()));
    // Here and not in ctest: the list of tests is asked of the program without its environment.
    qputenv("QT_QPA_PLATFORM", "offscreen");
    qputenv("FONTCONFIG_FILE", PLEAT_SOURCE_DIR "/tests/gui/fonts.conf");
    QApplication application(argumentCount, arguments);
    QApplication::setOrganizationName(QStringLiteral("pleat-test"));
    QApplication::setApplicationName(QStringLiteral("pleat-gui-test"));
    return RUN_ALL_TESTS();
}
