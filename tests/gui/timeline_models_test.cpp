#include <gtest/gtest.h>

#include <algorithm>

#include "gui/gui_support.h"
#include "models/bookmarks.h"
#include "models/timeline_data.h"
#include "unit/timeline/made_trace.h"

namespace pleat::models {
namespace {

TEST(Bookmarks, AreKeptInOrderOfTimeAndComeBackFromTheirFile) {
    const test::TemporaryFolder folder;
    const auto file = Bookmarks::fileFor(folder.file("run.pleat"));
    EXPECT_EQ(file.filename(), "run.pleat.bookmarks.json");
    Bookmarks bookmarks;
    bookmarks.add({{1'000'000'000'000'000'001}, "late"});
    bookmarks.add({{5}, QString::fromUtf8("früh \"zitiert\" שלום")});
    bookmarks.add({{5}, "early"});
    ASSERT_EQ(bookmarks.all().size(), 2U);
    ASSERT_TRUE(bookmarks.save(file).ok());
    const auto loaded = Bookmarks::load(file);
    ASSERT_TRUE(loaded.ok());
    EXPECT_EQ(loaded->all(), bookmarks.all());
    EXPECT_EQ(loaded->next({5})->note, "late");
    EXPECT_EQ(loaded->previous({6})->note, "early");
    EXPECT_EQ(loaded->previous({5}), nullptr);
}

TEST(Bookmarks, WithoutAnyThereIsNoFile) {
    const test::TemporaryFolder folder;
    const auto file = folder.file("a.bookmarks.json");
    EXPECT_TRUE(Bookmarks::load(file)->all().empty());
    Bookmarks bookmarks;
    bookmarks.add({{1}, {}});
    ASSERT_TRUE(bookmarks.save(file).ok());
    bookmarks.remove({1});
    ASSERT_TRUE(bookmarks.save(file).ok());
    EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(Bookmarks, AFileOfAnotherKindIsRefused) {
    const test::TemporaryFolder folder;
    const auto file = folder.file("a.bookmarks.json");
    for (const char* text : {"", "{}", "[1]", "{\"schema\": \"pleat-bookmarks/2\"}",
                             "{\"schema\": \"pleat-bookmarks/1\", \"bookmarks\": [{}]}"}) {
        test::writeBytes(file, text);
        const auto loaded = Bookmarks::load(file);
        ASSERT_FALSE(loaded.ok()) << text;
        EXPECT_NE(loaded.error().message.find("stays unchanged"), std::string::npos);
    }
}

TEST(TimelineData, IterationsLastFromTheFirstRankToTheLast) {
    const trace::Trace trace = testing::foldedTrace();
    const std::vector<IterationMark> marks = iterationMarks(trace);
    ASSERT_EQ(marks.size(), 3U);
    for (const trace::IterationSpan& one : trace.annotations().iterations) {
        const auto mark = std::find_if(marks.begin(), marks.end(), [&](const IterationMark& m) {
            return m.iteration == one.iteration;
        });
        ASSERT_NE(mark, marks.end());
        EXPECT_LE(mark->span.begin, one.span.begin);
        EXPECT_GE(mark->span.end, one.span.end);
    }
}

TEST(TimelineData, TheStripIsTheMeanOverRanks) {
    timeline::MadeTrace made;
    made.addLane(made.addRank(0), {{0, 1000}});
    made.addLane(made.addRank(1), {{0, 500}, {999, 1000}});
    const auto data = makeTimelineData(made.build(), {});
    ASSERT_NE(data, nullptr);
    EXPECT_EQ(busyStrip(*data, 4, {}), (std::vector<std::uint8_t>{255, 255, 127, 128}));
}

TEST(TimelineData, StopsWhenAsked) {
    std::stop_source stop;
    stop.request_stop();
    EXPECT_EQ(makeTimelineData(timeline::oneLane({{0, 1}}), stop.get_token()), nullptr);
}

}  // namespace
}  // namespace pleat::models
