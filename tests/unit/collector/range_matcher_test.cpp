#include "collector/range_matcher.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pleat::collector {
namespace {

const trace::LaneId kLane(0), kOther(1);

EventBegin begin(std::string_view name, std::int64_t time, trace::LaneId lane = kLane,
                 std::uint16_t domain = 0) {
    return {lane, domain, "", name, {time}, ""};
}

struct Fixture {
    std::vector<std::string> lines;
    RangeMatcher matcher{[this](MatchedEvent e) {
        lines.push_back(std::string(e.name) + " " + std::to_string(e.start.ns) + "-" +
                        std::to_string(e.end.ns) +
                        (e.flag == trace::EventFlag::OpenAtEnd ? " open" : "") + e.arguments);
    }};
};

TEST(RangeMatcher, PopsTheInnermostRangeOfItsThreadAndDomain) {
    Fixture f;
    f.matcher.push(begin("a", 1));
    f.matcher.push(begin("b", 2));
    f.matcher.push(begin("c", 3, kOther));
    f.matcher.push(begin("d", 4, kLane, 5));
    f.matcher.pop(kLane, 0, {6});
    f.matcher.pop(kLane, 0, {7});
    f.matcher.pop(kOther, 0, {8});
    f.matcher.pop(kLane, 5, {9});
    EXPECT_EQ(f.lines, (std::vector<std::string>{"b 2-6", "a 1-7", "c 3-8", "d 4-9"}));
}

TEST(RangeMatcher, StartAndEndOverlapFreelyAndNeverEnterTheStack) {
    Fixture f;
    f.matcher.start(1, begin("s", 1));
    f.matcher.push(begin("p", 2));
    f.matcher.end(1, kOther, {3});
    f.matcher.pop(kLane, 0, {4});
    EXPECT_EQ(f.lines, (std::vector<std::string>{"s 1-3", "p 2-4"}));
}

TEST(RangeMatcher, AnEndReadBeforeItsStartIsPairedAndMayBringArguments) {
    Fixture f;
    f.matcher.end(1, kOther, {5}, "\"late\":1");
    f.matcher.start(1, begin("s", 2));
    f.matcher.finish();
    EXPECT_EQ(f.lines, (std::vector<std::string>{"s 2-5{\"late\":1}"}));
    EXPECT_TRUE(f.matcher.diagnostics().empty());
}

TEST(RangeMatcher, WhatHasNoPartnerIsCountedOrKeptOpen) {
    Fixture f;
    f.matcher.pop(kLane, 0, {1});
    f.matcher.end(9, kLane, {2});
    f.matcher.push(begin("open", 3));
    f.matcher.mark(begin("mark", 8));
    f.matcher.finish();
    EXPECT_EQ(f.lines, (std::vector<std::string>{"mark 8-8", "open 3-8 open"}));
    EXPECT_EQ(f.matcher.diagnostics().find("unmatched_pop")->count, 1);
    EXPECT_EQ(f.matcher.diagnostics().find("unmatched_end")->count, 1);
    EXPECT_EQ(f.matcher.diagnostics().find("open_range")->count, 1);
}

}  // namespace
}  // namespace pleat::collector
