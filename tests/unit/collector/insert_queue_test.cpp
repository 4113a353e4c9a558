#include "collector/insert_queue.h"

#include <gtest/gtest.h>

#include <string>

namespace pleat::collector {
namespace {

MatchedEvent eventAt(std::int64_t start, std::size_t argumentBytes) {
    MatchedEvent event;
    event.name = "step";
    event.start = {start};
    event.arguments.assign(argumentBytes, 'a');
    return event;
}

TEST(InsertQueue, DropsWhatIsNewestWhenItIsFullAndCountsIt) {
    InsertQueue queue(2 * (sizeof(MatchedEvent) + 100));
    for (std::int64_t i = 0; i < 5; ++i) queue.addEvent(eventAt(i, 100));
    EXPECT_EQ(queue.dropped(), 3);
    EXPECT_EQ(queue.firstDropped(), "\"step\" at 2 ns");
    const InsertBatch batch = queue.take({}, std::chrono::milliseconds(0));
    ASSERT_EQ(batch.events.size(), 2U);
    EXPECT_EQ(batch.events[1].start.ns, 1);
    queue.addEvent(eventAt(9, 100));
    EXPECT_EQ(queue.dropped(), 3) << "what was taken leaves room";
}

TEST(InsertQueue, NumbersRanksAndLanesInTheirOrder) {
    InsertQueue queue;
    EXPECT_EQ(queue.addRank({}), trace::RankId(0));
    EXPECT_EQ(queue.addLane({}), trace::LaneId(0));
    EXPECT_EQ(queue.addLane({}), trace::LaneId(1));
    InsertBatch batch = queue.take({}, std::chrono::milliseconds(0));
    EXPECT_EQ(batch.ranks.size(), 1U);
    EXPECT_EQ(batch.lanes.size(), 2U);
    EXPECT_EQ(queue.addLane({}), trace::LaneId(2)) << "taking does not start anew";
    batch = queue.take({}, std::chrono::milliseconds(0));
    EXPECT_TRUE(batch.ranks.empty());
    EXPECT_EQ(batch.lanes.size(), 1U);
}

}  // namespace
}  // namespace pleat::collector
