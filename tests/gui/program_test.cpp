// pleat-gui as a program: pictures without a screen, one line on an error.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <QImage>
#include <set>

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

TEST(PleatGui, MakesAPictureOfTwoRunsSideBySide) {
    const test::TemporaryFolder folder;
    const std::string base = testing::writeFolded(folder).string();
    testing::SyntheticOptions slower = testing::foldedOptions();
    slower.forward = {{1'500'000}};
    const std::string other = folder.file("slower.pleat").string();
    ASSERT_TRUE(store::writeTrace(testing::traceWith(slower), other).ok());
    const auto pictureOf = [&](const std::vector<std::string>& more) {
        const std::string picture = folder.file("compare.png").string();
        std::vector<std::string> arguments{"--screenshot", picture,   "--view",
                                           "compare",      "--trace", base};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const auto done = run(arguments);
        EXPECT_EQ(done.status, 0) << done.errors;
        return test::readBytes(picture);
    };
    const std::string both = pictureOf({"--with", other});
    EXPECT_NE(both, pictureOf({}));
    EXPECT_EQ(both, pictureOf({"--with", other}));
    // --with asks for the page too.
    const std::string picture = folder.file("page.png").string();
    EXPECT_EQ(run({"--screenshot", picture, "--trace", base, "--with", other}).status, 0);
    EXPECT_EQ(test::readBytes(picture), both);
}

// What lies in another iteration than the one closest to the median is looked for there.
TEST(PleatGui, ShowsTheIterationThatHasMostOfTheRange) {
    const test::TemporaryFolder folder;
    const trace::Trace trace = testing::foldedTrace();
    const std::string file = testing::writeFolded(folder).string();
    const auto& last = trace.annotations().iterations.back();
    const base::TraceTime origin = trace.span().begin;
    std::set<std::string> pictures;
    for (const base::TraceTime from : {origin, last.span.begin + base::Duration{1'000'000}}) {
        const std::string picture = folder.file("p.png").string();
        const std::int64_t begin = (from - origin).ns;
        const auto done = run({"--screenshot", picture, "--view", "pipeline", "--trace", file,
                               "--range", fmt::format("{}:{}", begin, begin + 2'000'000)});
        EXPECT_EQ(done.status, 0) << done.errors;
        pictures.insert(test::readBytes(picture));
    }
    EXPECT_EQ(pictures.size(), 2U);
}

// Text, lines and events have the pixels of the screen, of which some have parts for one.
TEST(PleatGui, IsAsLargeAsAFineScreenWantsIt) {
    const test::TemporaryFolder folder;
    const std::string trace = testing::writeFolded(folder).string();
    for (const auto& [factor, size] :
         {std::pair{"2", QSize(1600, 1200)}, std::pair{"1.25", QSize(1000, 750)}}) {
        const std::string picture = folder.file("fine.png").string();
        const auto done =
            test::runProgram({kProgram, "--screenshot", picture, "--view", "timeline", "--trace",
                              trace, "--size", "800x600"},
                             {{"QT_QPA_PLATFORM", "offscreen"}, {"QT_SCALE_FACTOR", factor}});
        ASSERT_EQ(done.status, 0) << done.errors;
        EXPECT_EQ(QImage(QString::fromStdString(picture)).size(), size);
    }
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

// The folded run, and an event a second after its iterations.
std::filesystem::path writeWithATail(const test::TemporaryFolder& folder) {
    testing::SyntheticRun made = testing::makeSyntheticRun(testing::foldedOptions());
    testing::SyntheticEvent late;
    late.name = "late";
    late.span = {{1'000'000'000}, {1'000'000'001}};
    made.events.push_back(late);
    const auto file = folder.file("tail.pleat");
    (void)store::writeTrace(*annotate::annotate(testing::traceOf(made)), file);
    return file;
}

TEST(PleatGui, SaysInOneLineWhatIsWrong) {
    const test::TemporaryFolder folder;
    const std::string trace = testing::writeFolded(folder).string();
    const std::string picture = folder.file("x.png").string();
    const std::string tail = writeWithATail(folder).string();
    struct Case {
        std::vector<std::string> arguments;
        int status;
        const char* says;
    };
    for (const Case& c :
         {Case{{"--screenshot", picture, "--trace", "/absent.pleat"}, 3, "no such file"},
          Case{{"--screenshot", picture}, 2, "name the trace"},
          Case{{"--screenshot", picture, "--trace", trace, "--view", "x"},
               2,
               "expected one of pipeline, "},
          Case{{"--screenshot", picture, "--trace", trace, "--size", "9"}, 2, "WxH"},
          Case{{"--screenshot", picture, "--trace", trace, "--range", "5:1"}, 2, "A:B"},
          Case{{"--screenshot", picture, "--trace", trace, "--size", "16000x9000"},
               2,
               "at most 64 million"},
          Case{{"--screenshot", picture, "--trace", trace, "--view", "timeline", "--range",
                "900000000000:900000000001"},
               2,
               "--range 900000000000:900000000001: outside the trace, which is "},
          Case{{"--screenshot", picture, "--trace", tail, "--view", "pipeline", "--range",
                "900000000:900000001"},
               2,
               "no complete iteration there"},
          Case{{"--screenshot", picture, "--trace", trace, "--with", "/absent.pleat"},
               3,
               "/absent.pleat: no such file"},
          Case{{"--screenshot", picture, "--trace", trace, "--with", trace, "--view", "sql"},
               2,
               "--with: needs --view compare, not sql"},
          Case{{"--screenshot", picture, "--with", trace}, 2, "--with: name the run"},
          Case{{"--screenshot", "/nowhere/x.png", "--trace", trace}, 3, "/nowhere"},
          Case{{"--no-such-option"}, 2, "no-such-option"}}) {
        const auto done = run(c.arguments);
        EXPECT_EQ(done.status, c.status) << done.errors;
        EXPECT_NE(done.errors.find(c.says), std::string::npos) << done.errors;
    }
}

}  // namespace
}  // namespace pleat
