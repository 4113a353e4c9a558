// pleat-gui as a program: pictures without a screen, one line on an error.
#include <gtest/gtest.h>

#include <QImage>

#include "gui/gui_support.h"
#include "support/run_program.h"

namespace pleat {
namespace {

const std::string kProgram = std::string(PLEAT_BIN_DIR) + "/pleat-gui";

test::ProgramResult run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), kProgram);
    return test::runProgram(arguments, {{"QT_QPA_PLATFORM", "offscreen"}});
}

TEST(PleatGui, WritesAPictureOfEveryViewInTheSizeAskedFor) {
    const test::TemporaryFolder folder;
    const std::string trace = testing::writeFolded(folder).string();
    for (const char* view : {"pipeline", "timeline", "answer", "compare", "diagnostics", "sql"}) {
        const std::string picture = folder.file(std::string(view) + ".png").string();
        const auto done =
            run({"--screenshot", picture, "--view", view, "--trace", trace, "--size", "800x600"});
        EXPECT_EQ(done.status, 0) << done.errors;
        const QImage image(QString::fromStdString(picture));
        EXPECT_EQ(image.size(), QSize(800, 600)) << view;
    }
}

TEST(PleatGui, GivesTheSamePictureTwice) {
    const test::TemporaryFolder folder;
    const std::string trace = testing::writeFolded(folder).string();
    std::vector<std::string> pictures;
    for (const char* name : {"a.png", "b.png"}) {
        const auto done = run({"--screenshot", folder.file(name).string(), "--view", "pipeline",
                               "--range", "0:9000000", "--trace", trace});
        ASSERT_EQ(done.status, 0) << done.errors;
        pictures.push_back(test::readBytes(folder.file(name)));
    }
    EXPECT_EQ(pictures[0], pictures[1]);
}

// Qt would end the program with a signal.
TEST(PleatGui, WithoutAScreenItHelpsAndSaysSo) {
    const std::vector<std::string> without = {
        "env", "-u", "DISPLAY", "-u", "WAYLAND_DISPLAY", "-u", "QT_QPA_PLATFORM", kProgram};
    const auto runWithout = [&](const std::string& argument) {
        std::vector<std::string> command = without;
        command.push_back(argument);
        return test::runProgram(command);
    };
    const auto help = runWithout("--help");
    EXPECT_EQ(help.status, 0) << help.errors;
    EXPECT_NE(help.output.find("--screenshot"), std::string::npos) << help.output;
    const auto window = runWithout("run.pleat");
    EXPECT_EQ(window.status, 3);
    EXPECT_EQ(window.errors.find("pleat-gui: there is no screen"), 0U) << window.errors;
}

TEST(PleatGui, SaysInOneLineWhatIsWrong) {
    const test::TemporaryFolder folder;
    const std::string trace = testing::writeFolded(folder).string();
    const std::string picture = folder.file("x.png").string();
    struct Case {
        std::vector<std::string> arguments;
        int status;
        const char* says;
    };
    for (const Case& c :
         {Case{{"--screenshot", picture, "--trace", "/absent.pleat"}, 3, "no such file"},
          Case{{"--screenshot", picture}, 2, "name the trace"},
          Case{{"--screenshot", picture, "--trace", trace, "--view", "x"}, 2, "none of"},
          Case{{"--screenshot", picture, "--trace", trace, "--size", "9"}, 2, "WxH"},
          Case{{"--screenshot", picture, "--trace", trace, "--range", "5:1"}, 2, "A:B"},
          Case{{"--screenshot", "/nowhere/x.png", "--trace", trace}, 3, "/nowhere"},
          Case{{"--no-such-option"}, 2, "no-such-option"}}) {
        const auto done = run(c.arguments);
        EXPECT_EQ(done.status, c.status) << done.errors;
        EXPECT_NE(done.errors.find(c.says), std::string::npos) << done.errors;
    }
}

}  // namespace
}  // namespace pleat
