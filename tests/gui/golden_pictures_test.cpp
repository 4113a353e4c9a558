// Pictures of a made run, compared with those kept in tests/golden/gui to the last pixel. What text
// looks like is Qt's and the font's: with another Qt, or without the font, they are not compared.
// PLEAT_UPDATE_GOLDEN=1 writes them anew; look at each before keeping it.
#include <gtest/gtest.h>

#include <QFontDatabase>
#include <QImage>
#include <cstdlib>
#include <filesystem>

#include "gui/gui_support.h"
#include "support/run_program.h"

namespace pleat {
namespace {

namespace fs = std::filesystem;

struct Picture {
    const char* name;
    std::vector<std::string> arguments;
};

std::ostream& operator<<(std::ostream& out, const Picture& picture) { return out << picture.name; }

class GoldenPicture : public ::testing::TestWithParam<Picture> {};

// The made run with a backward pass that takes twice as long.
void writeSlower(const test::TemporaryFolder& folder) {
    testing::SyntheticOptions options = testing::foldedOptions();
    options.backward = {{4'000'000}};
    (void)store::writeTrace(testing::traceWith(options), folder.file("slower.pleat"));
}

// Where two pictures of one size differ, in words.
std::string difference(const QImage& is, const QImage& should) {
    QRect where;
    std::size_t pixels = 0;
    for (int y = 0; y < is.height(); ++y) {
        for (int x = 0; x < is.width(); ++x) {
            if (is.pixel(x, y) == should.pixel(x, y)) continue;
            where |= QRect(x, y, 1, 1);
            ++pixels;
        }
    }
    return std::to_string(pixels) + " pixels differ, all within x " + std::to_string(where.left()) +
           ".." + std::to_string(where.right()) + ", y " + std::to_string(where.top()) + ".." +
           std::to_string(where.bottom());
}

// The picture as pleat-gui writes it, with the fonts of tests/gui/<fonts>.
QImage picture(const Picture& about, const test::TemporaryFolder& folder, const char* fonts) {
    const std::string made = folder.file("made.png").string();
    (void)testing::writeFolded(folder);
    writeSlower(folder);
    // A picture may show the names of files as they were given.
    std::vector<std::string> command = {"env",
                                        "-C",
                                        folder.file("").string(),
                                        std::string(PLEAT_BIN_DIR) + "/pleat-gui",
                                        "--screenshot",
                                        made,
                                        "--size",
                                        "1000x640",
                                        "--trace",
                                        "folded.pleat"};
    command.insert(command.end(), about.arguments.begin(), about.arguments.end());
    const auto done = test::runProgram(
        command, {{"QT_QPA_PLATFORM", "offscreen"},
                  {"FONTCONFIG_FILE", std::string(PLEAT_SOURCE_DIR) + "/tests/gui/" + fonts}});
    EXPECT_EQ(done.status, 0) << done.errors;
    return QImage(QString::fromStdString(made));
}

// Why pictures cannot be compared here; empty where they can.
std::string missingFont() {
    for (const char* family : {"DejaVu Sans", "DejaVu Sans Mono"}) {
        if (!QFontDatabase::families().contains(QString::fromLatin1(family)))
            return std::string("the font ") + family + " is not installed (fonts-dejavu-core)";
    }
    return {};
}

TEST_P(GoldenPicture, IsAsKept) {
    constexpr const char* kQt = "6.4.2";
    if (std::string(qVersion()) != kQt)
        GTEST_SKIP() << "the pictures were made with Qt " << kQt << ", this is " << qVersion();
    if (const std::string missing = missingFont(); !missing.empty()) GTEST_SKIP() << missing;
    const test::TemporaryFolder folder;
    const QImage is = picture(GetParam(), folder, "fonts.conf");

    const std::string name = std::string(GetParam().name) + ".png";
    const fs::path kept = fs::path(PLEAT_SOURCE_DIR) / "tests/golden/gui" / name;
    if (std::getenv("PLEAT_UPDATE_GOLDEN") != nullptr) {
        fs::create_directories(kept.parent_path());
        ASSERT_TRUE(is.save(QString::fromStdString(kept.string())));
    }
    const QImage should(QString::fromStdString(kept.string()));
    ASSERT_FALSE(should.isNull()) << kept << " is missing";
    ASSERT_EQ(is.size(), should.size());
    if (is == should) return;
    const fs::path other = fs::path(PLEAT_BIN_DIR) / ("picture_" + name);
    EXPECT_TRUE(is.save(QString::fromStdString(other.string())));
    ADD_FAILURE() << name << ": " << difference(is, should) << "; what came is in " << other;
}

// Serif letters would stand wherever a picture asks the machine for its own font.
TEST_P(GoldenPicture, IsTheSameWithOtherFontsInstalled) {
    if (const std::string missing = missingFont(); !missing.empty()) GTEST_SKIP() << missing;
    const test::TemporaryFolder folder;
    const QImage usual = picture(GetParam(), folder, "fonts.conf");
    const QImage other = picture(GetParam(), folder, "other_fonts.conf");
    ASSERT_FALSE(usual.isNull());
    ASSERT_EQ(other.size(), usual.size());
    EXPECT_TRUE(other == usual) << difference(other, usual);
}

INSTANTIATE_TEST_SUITE_P(
    Views, GoldenPicture,
    ::testing::Values(
        Picture{"pipeline", {"--view", "pipeline"}},
        Picture{"pipeline_near", {"--view", "pipeline", "--range", "29000000:35000000"}},
        Picture{"timeline", {"--view", "timeline"}},
        Picture{"timeline_near", {"--view", "timeline", "--range", "29000000:35000000"}},
        Picture{"answer", {"--view", "answer"}},
        Picture{"compare", {"--view", "compare", "--with", "slower.pleat"}},
        Picture{"sql", {"--view", "sql"}}, Picture{"diagnostics", {"--view", "diagnostics"}}),
    [](const auto& about) { return std::string(about.param.name); });

}  // namespace
}  // namespace pleat
