// pleat-gui: the viewer. Parses, opens the window, and leaves.
#include <QApplication>
#include <QCommandLineParser>

#include "base/memory.h"
#include "widgets/main_window.h"

int main(int argumentCount, char** arguments) {
    pleat::base::keepFreedMemory();
    QApplication application(argumentCount, arguments);
    QApplication::setOrganizationName(QStringLiteral("pleat"));
    QApplication::setApplicationName(QStringLiteral("pleat-gui"));
    QCommandLineParser parser;
    parser.setApplicationDescription(
        QApplication::translate("main", "Shows a trace: where an iteration went."));
    parser.addHelpOption();
    parser.addPositionalArgument(QStringLiteral("trace"),
                                 QApplication::translate("main", "Files or folders of one trace"),
                                 QStringLiteral("[trace…]"));
    parser.process(application);
    pleat::widgets::MainWindow window;
    window.resize(1280, 800);
    window.show();
    window.open(parser.positionalArguments());
    return QApplication::exec();
}
