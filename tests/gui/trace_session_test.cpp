#include "models/trace_session.h"

#include <gtest/gtest.h>

#include <array>

#include "gui/gui_support.h"

namespace pleat::models {
namespace {

using State = TraceSession::State;
using pleat::testing::waitUntil;
using pleat::testing::writeFolded;

opening::OpenRequest requestFor(const std::filesystem::path& file) { return {{file}, {}, {}}; }

TEST(TraceSession, OpensInTheBackgroundAndThenAnalyses) {
    const test::TemporaryFolder folder;
    TraceSession session;
    EXPECT_EQ(session.state(), State::Empty);
    session.open(requestFor(writeFolded(folder)));
    EXPECT_EQ(session.state(), State::Loading);
    EXPECT_EQ(session.trace(), nullptr);
    ASSERT_TRUE(waitUntil([&] { return session.state() == State::Loaded; }));
    EXPECT_EQ(session.trace()->ranks().size(), 4U);
    ASSERT_TRUE(waitUntil([&] { return session.results() != nullptr; }));
    EXPECT_EQ(session.results()->run.ranks.size(), 4U);
    EXPECT_EQ(session.results()->windows.size(), 3U);
    EXPECT_EQ(session.notice(), QString());
}

TEST(TraceSession, SaysInOneLineWhyAFileCannotBeShown) {
    const test::TemporaryFolder folder;
    test::writeBytes(folder.file("x.json"), "no trace at all");
    TraceSession session;
    session.open(requestFor(folder.file("x.json")));
    ASSERT_TRUE(waitUntil([&] { return session.state() == State::Failed; }));
    EXPECT_TRUE(session.error().contains("x.json")) << session.error().toStdString();
    EXPECT_FALSE(session.error().contains('\n'));
    session.open(requestFor(folder.file("absent.pleat")));
    ASSERT_TRUE(waitUntil([&] { return session.state() == State::Failed; }));
    EXPECT_TRUE(session.error().contains("no such file")) << session.error().toStdString();
}

TEST(TraceSession, ForgetsWhatWasCancelled) {
    const test::TemporaryFolder folder;
    TraceSession session;
    session.open(requestFor(writeFolded(folder)));
    session.cancel();
    EXPECT_EQ(session.state(), State::Empty);
    // The newest one is shown, whatever was asked for before.
    session.open(requestFor(folder.file("absent.pleat")));
    session.open(requestFor(folder.file("folded.pleat")));
    ASSERT_TRUE(waitUntil([&] { return session.results() != nullptr; }));
    EXPECT_EQ(session.state(), State::Loaded);
}

TEST(TraceSession, FollowsARecordingWhileItIsMade) {
    const test::TemporaryFolder folder;
    auto writer = store::Writer::create(folder.file("live.pleat"));
    ASSERT_TRUE(writer.ok());
    trace::Rank rank;
    rank.number = 0;
    const auto lane = writer->addLane({*writer->addRank(rank), {}, 1, {}});
    const auto record = [&](std::int64_t begin) {
        store::EventRow row;
        row.lane = *lane;
        row.name = "step";
        row.startNs = begin;
        row.endNs = begin + 1;
        ASSERT_TRUE(writer->addEvents(std::array{row}).ok());
        ASSERT_TRUE(writer->commit().ok());
    };
    record(0);
    TraceSession session;
    session.setWatchInterval(5);
    session.open(requestFor(folder.file("live.pleat")));
    ASSERT_TRUE(waitUntil([&] { return session.state() == State::Loaded; }));
    EXPECT_TRUE(session.recordingGoesOn());
    EXPECT_TRUE(session.notice().contains("still running"));
    const auto before = session.trace();
    EXPECT_EQ(before->eventCount(), 1U);
    record(10);
    ASSERT_TRUE(waitUntil([&] { return session.trace()->eventCount() == 2; }));
    EXPECT_EQ(session.state(), State::Loaded);
    EXPECT_EQ(before->eventCount(), 1U);  // what was handed out does not change
    ASSERT_TRUE(writer->setMeta("state", "complete").ok());
    ASSERT_TRUE(std::move(*writer).finish().ok());
    ASSERT_TRUE(waitUntil([&] { return !session.recordingGoesOn(); }));
    EXPECT_EQ(session.notice(), QString());
}

TEST(TraceSession, KeepsWhatItReadWhenTheFileVanishesAndSaysSo) {
    const test::TemporaryFolder folder;
    TraceSession session;
    session.setWatchInterval(5);
    const auto file = writeFolded(folder);
    session.open(requestFor(file));
    ASSERT_TRUE(waitUntil([&] { return session.results() != nullptr; }));
    std::filesystem::remove(file);
    ASSERT_TRUE(waitUntil([&] { return !session.notice().isEmpty(); }));
    EXPECT_TRUE(session.notice().contains("no longer exists"));
    EXPECT_EQ(session.state(), State::Loaded);
    session.reload();
    ASSERT_TRUE(waitUntil([&] { return session.notice().contains("no such file"); }));
    EXPECT_NE(session.trace(), nullptr);
}

TEST(TraceSession, SaysWhenAFileIsCutOffWhileItIsOpenAndKeepsWhatItRead) {
    const test::TemporaryFolder folder;
    TraceSession session;
    session.setWatchInterval(5);
    const auto file = writeFolded(folder);
    session.open(requestFor(file));
    ASSERT_TRUE(waitUntil([&] { return session.results() != nullptr; }));
    const auto trace = session.trace();
    const auto bytes = std::filesystem::file_size(file);
    std::filesystem::resize_file(file, bytes / 2);
    ASSERT_TRUE(waitUntil([&] { return !session.notice().isEmpty(); }));
    EXPECT_TRUE(session.notice().contains(
        QStringLiteral("was truncated: %1 of its %2 bytes").arg(bytes / 2).arg(bytes)))
        << session.notice().toStdString();
    EXPECT_TRUE(session.notice().contains("is still shown"));
    EXPECT_EQ(session.trace(), trace);
    EXPECT_EQ(session.state(), State::Loaded);
    session.reload();
    ASSERT_TRUE(waitUntil([&] { return !session.notice().contains("was truncated"); }));
    EXPECT_TRUE(session.notice().endsWith("showing what was read before"))
        << session.notice().toStdString();
    EXPECT_EQ(session.trace(), trace);
}

TEST(TraceSession, SaysWhenAFinishedFileHasChangedAndReadsItWhenAsked) {
    const test::TemporaryFolder folder;
    const auto file = folder.file("x.json");
    const std::string event = R"({"ph":"X","name":"step","pid":1,"tid":1,"ts":0,"dur":1})";
    test::writeBytes(file, "[" + event + "]");
    TraceSession session;
    session.setWatchInterval(5);
    session.open(requestFor(file));
    ASSERT_TRUE(waitUntil([&] { return session.analysed(); }));
    ASSERT_EQ(session.trace()->eventCount(), 1U);
    test::writeBytes(file, "[" + event + "," + event + "]");
    ASSERT_TRUE(waitUntil([&] { return session.notice().contains("has changed"); }));
    EXPECT_EQ(session.trace()->eventCount(), 1U);
    session.reload();
    ASSERT_TRUE(waitUntil([&] { return session.trace()->eventCount() == 2; }));
    EXPECT_FALSE(session.notice().contains("has changed"));
}

}  // namespace
}  // namespace pleat::models
