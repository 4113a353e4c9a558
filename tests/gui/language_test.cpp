// The window speaks the language of its translations: everything that is not data goes through one.
#include "widgets/language.h"

#include <gtest/gtest.h>

#include <QAbstractButton>
#include <QAction>
#include <QComboBox>
#include <QDockWidget>
#include <QFile>
#include <QHeaderView>
#include <QLabel>
#include <QTabWidget>
#include <QTableView>
#include <QTranslator>
#include <QTreeView>
#include <set>

#include "gui/gui_support.h"
#include "timeline/event_colours.h"
#include "widgets/main_window.h"

namespace pleat::widgets {
namespace {

// Every text in marks.
class Marking : public QTranslator {
  public:
    [[nodiscard]] QString translate(const char*, const char* text, const char*,
                                    int) const override {
        return QStringLiteral("«%1»").arg(QString::fromUtf8(text));
    }
    [[nodiscard]] bool isEmpty() const override { return false; }
};

bool hasWords(const QString& text) {
    return std::any_of(text.begin(), text.end(), [](QChar c) { return c.isLetter(); });
}

// What a person reads in a window, but for rows of tables, which are data.
std::set<QString> textsOf(const QWidget& window) {
    std::set<QString> texts;
    for (const auto* action : window.findChildren<QAction*>()) texts.insert(action->text());
    for (const auto* label : window.findChildren<QLabel*>()) texts.insert(label->text());
    for (const auto* button : window.findChildren<QAbstractButton*>()) texts.insert(button->text());
    for (const auto* dock : window.findChildren<QDockWidget*>()) texts.insert(dock->windowTitle());
    for (const auto* box : window.findChildren<QComboBox*>())
        for (int i = 0; i < box->count(); ++i) texts.insert(box->itemText(i));
    for (const auto* tabs : window.findChildren<QTabWidget*>())
        for (int i = 0; i < tabs->count(); ++i) texts.insert(tabs->tabText(i));
    for (const auto* header : window.findChildren<QHeaderView*>())
        for (int i = 0; header->orientation() == Qt::Horizontal && i < header->count(); ++i)
            texts.insert(header->model()->headerData(i, Qt::Horizontal).toString());
    for (const auto* widget : window.findChildren<QWidget*>()) {
        texts.insert(widget->accessibleName());
        texts.insert(widget->toolTip());
    }
    return texts;
}

TEST(Language, EveryWordOfTheWindowCanBeTranslated) {
    Marking marking;
    QCoreApplication::installTranslator(&marking);
    {
        const test::TemporaryFolder folder;
        MainWindow window;
        window.resize(1000, 700);
        window.show();
        window.open({QString::fromStdString(testing::writeFolded(folder).string())});
        ASSERT_TRUE(testing::waitUntil([&] {
            return window.session().analysed() && window.iteration().results() != nullptr;
        }));
        std::set<QString> texts;
        for (const QString& page : window.pageIds()) {
            window.showPage(page);
            ASSERT_TRUE(testing::waitUntil([&] { return window.page(page)->settled(); }));
            texts.merge(textsOf(window));
        }
        std::size_t words = 0;
        for (const QString& text : texts) {
            if (!hasWords(text) || text.endsWith(QStringLiteral(".pleat"))) continue;
            ++words;
            EXPECT_TRUE(text.contains(u'«')) << text.toStdString();
        }
        EXPECT_GT(words, 60U);
    }
    QCoreApplication::removeTranslator(&marking);
}

// In any way of colouring: each word there is stands in the page's list of words to translate.
TEST(Language, TheLegendOfEveryColouringCanBeTranslated) {
    timeline::WorkerPool pool;
    const trace::Trace trace = testing::foldedTrace();
    const std::string page =
        test::readBytes(std::filesystem::path(PLEAT_SOURCE_DIR) / "gui/widgets/timeline_page.cpp");
    for (const auto mode : {timeline::ColourMode::Kind, timeline::ColourMode::Microbatch,
                            timeline::ColourMode::Stage}) {
        const timeline::EventColours colours(trace, mode, pool);
        EXPECT_FALSE(colours.legend().empty());
        for (const timeline::LegendEntry& entry : colours.legend()) {
            const std::string word =
                entry.text.substr(0, entry.text.find_last_not_of(" 0123456789") + 1);
            EXPECT_NE(page.find("QT_TRANSLATE_NOOP(\"Legend\", \"" + word + "\")"),
                      std::string::npos)
                << word;
        }
    }
}

TEST(Language, CountsInEnglishAsEnglishDoes) {
    if (!QFile::exists(QStringLiteral(":/translations/pleat_en.qm")))
        GTEST_SKIP() << "built without Qt's translation tools";
    installLanguage(QLocale(QLocale::Zulu));  // of which there is none
    const auto rows = [](int count) {
        return QCoreApplication::translate("pleat::widgets::SqlPage", "%n row(s)", nullptr, count);
    };
    EXPECT_EQ(rows(1), "1 row");
    EXPECT_EQ(rows(2), "2 rows");
    for (QTranslator* translator : qApp->findChildren<QTranslator*>()) delete translator;
}

// The literals of a source file that hold "%n", pieces that stand beside each other joined.
std::vector<std::string> countedTexts(const std::string& source) {
    std::vector<std::string> texts;
    std::string text;
    std::size_t at = source.find('"');
    while (at != std::string::npos) {
        const std::size_t end = source.find('"', at + 1);
        if (end == std::string::npos) break;
        text += source.substr(at + 1, end - at - 1);
        at = source.find_first_not_of(" \n", end + 1);
        if (at != std::string::npos && source[at] == '"') continue;
        if (text.find("%n") != std::string::npos) texts.push_back(text);
        text.clear();
        at = source.find('"', end + 1);
    }
    return texts;
}

// scripts/translations.sh collects them.
TEST(Language, EnglishHasEveryTextThatDependsOnANumber) {
    namespace fs = std::filesystem;
    const fs::path gui = fs::path(PLEAT_SOURCE_DIR) / "gui";
    const std::string kept = test::readBytes(gui / "translations/pleat_en.ts");
    std::size_t found = 0;
    for (const auto& file : fs::recursive_directory_iterator(gui)) {
        if (file.path().extension() != ".cpp") continue;
        for (const std::string& text : countedTexts(test::readBytes(file.path()))) {
            ++found;
            EXPECT_NE(kept.find("<source>" + text + "</source>"), std::string::npos)
                << file.path() << ": " << text;
        }
    }
    EXPECT_GT(found, 2U);
    EXPECT_EQ(kept.find("unfinished"), std::string::npos);
}

}  // namespace
}  // namespace pleat::widgets
