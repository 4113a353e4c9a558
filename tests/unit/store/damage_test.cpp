// A damaged file either loads or gives one line; it never crashes.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "store/reader.h"
#include "store/writer.h"
#include "support/temporary_folder.h"
#include "unit/store/example_trace.h"
#include "unit/store/sqlite_client.h"

namespace pleat::store {
namespace {

using test::TemporaryFolder;

// A finished trace whose event table takes several pages.
std::string finishedFile(const TemporaryFolder& folder) {
    const auto file = folder.file("whole.pleat");
    EXPECT_TRUE(writeTrace(test::exampleTrace(), file));
    test::executeSql(file,
                     "with recursive n (i) as (select 10 union all select i + 1 from n where i "
                     "< 600) insert into event select i, 1 + i % 3, 1 + i % 5, null, 0, 0, i, i "
                     "+ 2, '{\"i\":' || i || '}' from n");
    EXPECT_EQ(load(file)->trace.eventCount(), 600U);
    return test::readBytes(file);
}

// Loads what the file has become. Counts those that still load.
void expectLoadsOrOneLine(const std::filesystem::path& file, const std::string& what, int& loads) {
    const auto loaded = load(file);
    if (loaded) {
        ++loads;
        const trace::Trace& trace = loaded->trace;
        EXPECT_LE(trace.eventCount(), 700U) << what;
        std::size_t reached = 0;
        for (std::size_t lane = 0; lane < trace.lanes().size(); ++lane) {
            const auto [first, last] = trace.eventsOf(trace.lanes().idAt(lane));
            reached += last.index() - first.index();
        }
        EXPECT_EQ(reached, trace.eventCount()) << what;
        for (const trace::Task& task : trace.annotations().tasks)
            EXPECT_LT(task.event.index(), trace.eventCount()) << what;
        return;
    }
    const std::string& message = loaded.error().message;
    EXPECT_EQ(message.find(file.string()), 0U) << what << ": " << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << what << ": " << message;
    EXPECT_LT(message.size(), 600U) << what << ": " << message;
}

TEST(Damage, EveryTruncationLoadsOrGivesOneLine) {
    const TemporaryFolder folder;
    const std::string whole = finishedFile(folder);
    std::vector<std::size_t> sizes = {0, 1, 15, 16, 17, 71, 72, 99, 100, 101, 4095, 4097};
    for (std::size_t size = 512; size < whole.size(); size += 512) sizes.push_back(size);
    int loads = 0;
    for (const std::size_t size : sizes) {
        test::writeBytes(folder.file("torn.pleat"), whole.substr(0, size));
        expectLoadsOrOneLine(folder.file("torn.pleat"), "cut to " + std::to_string(size), loads);
    }
    EXPECT_LT(loads, static_cast<int>(sizes.size())) << "a torn file was taken for a whole one";
}

TEST(Damage, FlippedBytesLoadOrGiveOneLine) {
    const TemporaryFolder folder;
    const std::string whole = finishedFile(folder);
    std::mt19937 random(20231);
    int loads = 0;
    constexpr int kRounds = 300;
    for (int round = 0; round < kRounds; ++round) {
        std::string bytes = whole;
        const unsigned flips = 1 + random() % 8;
        for (unsigned i = 0; i < flips; ++i)
            bytes[random() % bytes.size()] = static_cast<char>(random() % 256);
        test::writeBytes(folder.file("flipped.pleat"), bytes);
        expectLoadsOrOneLine(folder.file("flipped.pleat"), "round " + std::to_string(round), loads);
    }
    EXPECT_GT(loads, 0);
    EXPECT_LT(loads, kRounds);
}

TEST(Damage, ADamagedPageNamesTheTableAndTheRowReached) {
    const TemporaryFolder folder;
    std::string bytes = finishedFile(folder);
    // The leaf page that holds event 300, found by its arguments, loses its page header.
    const std::size_t place = bytes.find("{\"i\":300}");
    ASSERT_NE(place, std::string::npos);
    bytes.replace(place / 4096 * 4096, 8, 8, '\x7f');
    test::writeBytes(folder.file("broken.pleat"), bytes);
    const auto loaded = load(folder.file("broken.pleat"));
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().code, base::ErrorCode::Input);
    const std::string& message = loaded.error().message;
    EXPECT_NE(message.find("database disk image is malformed"), std::string::npos) << message;
    EXPECT_NE(message.find("(table event, after row "), std::string::npos) << message;
}

}  // namespace
}  // namespace pleat::store
