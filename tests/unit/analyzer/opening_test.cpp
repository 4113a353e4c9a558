#include "opening/open_trace.h"

#include <gtest/gtest.h>

#include <vector>

#include "store/reader.h"
#include "store/writer.h"
#include "support/temporary_folder.h"
#include "trace/trace_builder.h"

namespace pleat::opening {
namespace {

struct Told {
    std::uint64_t done, total;
};

trace::Trace manyEvents(std::int64_t count) {
    trace::TraceBuilder builder;
    const trace::LaneId lane = builder.addLane({builder.addRank({}), {}, 1, {}});
    const base::StringId name = builder.intern("step");
    for (std::int64_t i = 0; i < count; ++i)
        builder.addEvent({lane, name, {}, {}, {}, {{2 * i}, {2 * i + 1}}});
    return std::move(builder).build().trace;
}

std::string manyEventsAsJson(std::int64_t count) {
    std::string text = "[";
    for (std::int64_t i = 0; i < count; ++i) {
        text += i > 0 ? "," : "";
        text += R"({"ph":"X","name":"step","pid":1,"tid":1,"ts":)" + std::to_string(2 * i) +
                R"(,"dur":1})";
    }
    return text + "]";
}

TEST(Opening, TellsHowFarItGotAndEndsWhenNobodyWaits) {
    const test::TemporaryFolder folder;
    ASSERT_TRUE(store::writeTrace(manyEvents(300'000), folder.file("many.pleat")).ok());
    test::writeBytes(folder.file("many.json"), manyEventsAsJson(100'000));
    for (const char* file : {"many.pleat", "many.json"}) {
        const OpenRequest request{{folder.file(file)}, {}, {}};
        std::vector<Told> told;
        const auto whole = openTrace(request, [&](std::uint64_t done, std::uint64_t total) {
            told.push_back({done, total});
            return true;
        });
        ASSERT_TRUE(whole.ok()) << file;
        ASSERT_GE(told.size(), 2U) << file;
        for (std::size_t i = 0; i < told.size(); ++i) {
            EXPECT_LE(told[i].done, told[i].total) << file;
            EXPECT_GE(told[i].done, told[i == 0 ? 0 : i - 1].done) << file;
        }
        EXPECT_GT(told.back().done, 0U) << file;
        std::size_t asked = 0;
        const auto ended =
            openTrace(request, [&](std::uint64_t, std::uint64_t) { return ++asked < told.size(); });
        ASSERT_FALSE(ended.ok()) << file;
        EXPECT_EQ(ended.error().code, base::ErrorCode::Cancelled) << file;
        EXPECT_EQ(asked, told.size()) << file;
    }
}

TEST(Opening, SaysWhatTheTraceCameFrom) {
    const test::TemporaryFolder folder;
    ASSERT_TRUE(store::writeTrace(manyEvents(3), folder.file("run.pleat")).ok());
    test::writeBytes(folder.file("run.json"), manyEventsAsJson(3));
    const auto recorded = openTrace({{folder.file("run.pleat")}, {}, {}});
    ASSERT_TRUE(recorded.ok());
    EXPECT_EQ(recorded->database, folder.file("run.pleat"));
    EXPECT_TRUE(recorded->finished);
    const auto imported = openTrace({{folder.file("run.json")}, {}, {}});
    ASSERT_TRUE(imported.ok());
    EXPECT_TRUE(imported->database.empty());
    EXPECT_EQ(
        openTrace({{folder.file("run.json")}, {{"other.json", std::vector<std::int32_t>{1}}}, {}})
            .error()
            .code,
        base::ErrorCode::Usage);
    EXPECT_EQ(openTrace({{folder.file("run.json"), folder.file("run.pleat")}, {}, {}}).error().code,
              base::ErrorCode::Input);
}

TEST(Opening, EndsAQueryThatNobodyWaitsFor) {
    const test::TemporaryFolder folder;
    ASSERT_TRUE(store::writeTrace(manyEvents(1'000), folder.file("run.pleat")).ok());
    const store::SqlSink sink{[](const auto&) {}, [](const auto&) {}};
    const auto done =
        store::runSql(folder.file("run.pleat"), "select count(*) from event a, event b, event c",
                      sink, [](std::uint64_t, std::uint64_t) { return false; });
    ASSERT_FALSE(done.ok());
    EXPECT_EQ(done.error().code, base::ErrorCode::Cancelled);
}

}  // namespace
}  // namespace pleat::opening
