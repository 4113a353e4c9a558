#include "instrumented_runtime/layout.h"

#include <gtest/gtest.h>

#include <set>

namespace pleat::runtime {
namespace {

using schedule::Placement;

TEST(Layout, RanksOfAPipelineAreNeighbours) {
    const Layout layout(2, 3);
    EXPECT_EQ(layout.worldSize(), 6);
    EXPECT_EQ(layout.coordinatesOf(4), (Coordinates{1, 1}));
    for (std::int32_t rank = 0; rank < 6; ++rank)
        EXPECT_EQ(layout.rankAt(layout.coordinatesOf(rank)), rank);
}

TEST(Layout, ALinearPipelineHasOneLinkEachWayPerPair) {
    const auto groups = Layout(1, 3).groups(Placement::looped(3, 1), false);
    const std::vector<Group> expected = {{0, GroupKind::ForwardLink, {0, 1}},
                                         {1, GroupKind::BackwardLink, {1, 0}},
                                         {2, GroupKind::ForwardLink, {1, 2}},
                                         {3, GroupKind::BackwardLink, {2, 1}}};
    EXPECT_EQ(groups, expected);
}

TEST(Layout, ALoopOfTwoHasFourLinksPerReplicaAndSyncs) {
    const auto groups = Layout(2, 2).groups(Placement::looped(2, 2), true);
    const std::vector<Group> expected = {
        {0, GroupKind::ForwardLink, {0, 1}},    {1, GroupKind::BackwardLink, {0, 1}},
        {2, GroupKind::ForwardLink, {1, 0}},    {3, GroupKind::BackwardLink, {1, 0}},
        {4, GroupKind::ForwardLink, {2, 3}},    {5, GroupKind::BackwardLink, {2, 3}},
        {6, GroupKind::ForwardLink, {3, 2}},    {7, GroupKind::BackwardLink, {3, 2}},
        {8, GroupKind::DataParallel, {0, 2}},   {9, GroupKind::DataParallel, {1, 3}},
        {10, GroupKind::TiedEmbedding, {0, 1}}, {11, GroupKind::TiedEmbedding, {2, 3}}};
    EXPECT_EQ(groups, expected);
    EXPECT_STREQ(groups[8].dimension(), "dp");
    EXPECT_STREQ(groups[10].dimension(), "pp");
}

TEST(Layout, GroupsOfOneAreLeftOut) {
    EXPECT_TRUE(Layout(1, 1).groups(Placement::looped(1, 4), true).empty());
    // The V brings first and last stage to one rank: nothing to share between ranks.
    for (const Group& group : Layout(1, 2).groups(Placement::vShaped(2), true)) {
        EXPECT_NE(group.kind, GroupKind::TiedEmbedding);
    }
}

TEST(Layout, IdsAreUniqueAndAscendingInAnyLayout) {
    for (std::int32_t dp = 1; dp <= 4; ++dp) {
        for (std::int32_t pp = 1; pp <= 4; ++pp) {
            const auto groups = Layout(dp, pp).groups(Placement::looped(pp, 2), true);
            for (std::size_t i = 0; i < groups.size(); ++i) {
                EXPECT_EQ(groups[i].id, static_cast<std::int32_t>(i));
                const std::set<std::int32_t> distinct(groups[i].members.begin(),
                                                      groups[i].members.end());
                EXPECT_EQ(distinct.size(), groups[i].members.size());
                EXPECT_GE(distinct.size(), 2U);
            }
        }
    }
}

}  // namespace
}  // namespace pleat::runtime
