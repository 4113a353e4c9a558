#include "trace/annotation_gate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <random>
#include <string>
#include <utility>

#include "trace/limits.h"
#include "trace/trace_builder.h"

namespace pleat::trace {
namespace {

// Two ranks with four events each.
Trace twoRanks() {
    TraceBuilder builder;
    for (std::int32_t number = 0; number < 2; ++number) {
        Rank rank;
        rank.number = number;
        const LaneId lane = builder.addLane({builder.addRank(rank), {}, number, {}});
        for (std::int64_t i = 0; i < 4; ++i)
            builder.addEvent({lane, builder.intern("work"), {}, {}, {}, {{i * 10}, {i * 10 + 5}}});
    }
    return std::move(builder).build().trace;
}

Trace closed(Annotations found) {
    const Trace events = twoRanks();
    return Trace::annotated(events.sharedColumns(), events.ranks(), events.lanes(),
                            std::move(found), {});
}

std::int64_t countOf(const Trace& trace, std::string_view code) {
    const base::Diagnostic* found = trace.diagnostics().find(code);
    return found == nullptr ? 0 : found->count;
}

Task task(std::uint32_t rank, std::int64_t begin, std::int32_t microbatch = 0) {
    return {RankId(rank),
            EventId(4 * rank),
            0,
            0,
            0,
            microbatch,
            schedule::ActionKind::Forward,
            {{begin}, {begin + 5}}};
}

Transfer transfer(std::uint32_t rank, std::int64_t begin, MatchId match = {}) {
    Transfer made;
    made.rank = RankId(rank);
    made.event = EventId(4 * rank + 1);
    made.span = {{begin}, {begin + 5}};
    made.match = match;
    return made;
}

TEST(AnnotationGate, PutsEverythingInOrderAndMatchesFollow) {
    Annotations found;
    for (const auto& one : {task(1, 0), task(0, 10, 1), task(0, 0)}) found.tasks.push(one);
    found.transfers.push(transfer(1, 3, MatchId(0)));
    found.transfers.push(transfer(0, 7));
    found.transfers.push(transfer(0, 2, MatchId(0)));
    found.matches.push({{TransferId(0), TransferId(2)}, {3}, RankId(1), true});
    const Trace trace = closed(std::move(found));
    EXPECT_TRUE(trace.diagnostics().empty());
    const Annotations& now = trace.annotations();
    EXPECT_EQ(now.tasks[TaskId(0)].microbatch, 0);
    EXPECT_EQ(now.tasks[TaskId(1)].microbatch, 1);
    EXPECT_EQ(now.tasks[TaskId(2)].rank, RankId(1));
    EXPECT_EQ(now.transfers[TransferId(0)].span.begin.ns, 2);
    EXPECT_EQ(now.transfers[TransferId(1)].span.begin.ns, 7);
    EXPECT_EQ(now.matches[MatchId(0)].members, (std::vector{TransferId(2), TransferId(0)}));
    EXPECT_EQ(now.transfers[TransferId(2)].match, MatchId(0));
    EXPECT_FALSE(now.transfers[TransferId(1)].match.valid());
}

TEST(AnnotationGate, LeavesOutWhatRefersToNothing) {
    Annotations found;
    found.tasks.push(task(2, 0));  // no such rank
    found.tasks.push(task(0, 0));
    found.phases.push_back({RankId(0), EventId(99), 0, PhaseKind::Optimizer, {{0}, {1}}});
    Transfer wrong = transfer(0, 0, MatchId(7));
    wrong.group = GroupId(3);
    found.transfers.push(wrong);
    found.transfers.push(transfer(9, 0, MatchId(0)));
    found.transfers.push(transfer(1, 0, MatchId(0)));
    found.matches.push({{TransferId(1), TransferId(2)}, {0}, RankId(1), true});
    found.matches.push({{TransferId(1)}, {0}, RankId(1), true});  // the transfer names the other
    found.groups.push({0, Dimension::Dp, -5, {RankId(0), RankId(77)}});
    const Trace trace = closed(std::move(found));
    const Annotations& now = trace.annotations();
    ASSERT_EQ(now.tasks.size(), 1U);
    EXPECT_TRUE(now.phases.empty());
    ASSERT_EQ(now.transfers.size(), 2U);
    EXPECT_FALSE(now.transfers[TransferId(0)].group.valid());
    EXPECT_FALSE(now.transfers[TransferId(0)].match.valid());
    ASSERT_EQ(now.matches.size(), 1U);
    EXPECT_EQ(now.matches[MatchId(0)].members, std::vector{TransferId(1)});
    EXPECT_EQ(now.groups[GroupId(0)].members, std::vector{RankId(0)});
    EXPECT_EQ(now.groups[GroupId(0)].size, 0);
    // The task, the phase, a transfer, its group and match, a member and a match.
    EXPECT_EQ(countOf(trace, "dangling_reference"), 7);
}

TEST(AnnotationGate, KeepsTimesWithinWhatCanBeAddedUp) {
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    Annotations found;
    Task far = task(0, 0);
    far.span = {{-kMost}, {kMost}};
    found.tasks.push(far);
    Transfer backwards = transfer(0, 5);
    backwards.span.end = {1};
    found.transfers.push(backwards);
    const Trace trace = closed(std::move(found));
    const base::Interval span = trace.annotations().tasks[TaskId(0)].span;
    EXPECT_EQ(span.begin.ns, -kFarthestNs);
    EXPECT_EQ(span.end.ns, kFarthestNs);
    EXPECT_EQ(countOf(trace, "time_out_of_range"), 2);
    EXPECT_EQ(trace.annotations().transfers[TransferId(0)].span.length().ns, 0);
    EXPECT_EQ(countOf(trace, "negative_duration"), 1);
}

TEST(AnnotationGate, ATaskNeedsAStageAndAMicrobatchOnceItIsFinished) {
    Annotations found;
    Task noStage = task(0, 0), noMicrobatch = task(0, 10, -1), both = task(0, 20, -1);
    noStage.stage = -1;
    both.kind = schedule::ActionKind::OverlapForwardBackward;
    for (const Task& one : {noStage, noMicrobatch, both}) found.tasks.push(one);
    const Trace events = twoRanks();
    base::IdVector<RankTag, Rank> ranks = events.ranks();
    base::Diagnostics diagnostics;
    AnnotationGate gate(events.columns(), ranks, diagnostics);
    gate.limit(found);
    EXPECT_EQ(found.tasks.size(), 3U);
    EXPECT_TRUE(diagnostics.empty());
    const Annotations now = gate.close(std::move(found));
    ASSERT_EQ(now.tasks.size(), 1U);
    EXPECT_EQ(now.tasks[TaskId(0)].span.begin.ns, 20);
    EXPECT_EQ(diagnostics.find("number_out_of_range")->count, 2);
}

// Whatever the numbers, what comes out keeps every promise of Annotations and nothing grows.
class HostileNumbers {
  public:
    explicit HostileNumbers(unsigned seed) : m_random(seed) {}

    template <class Number>
    Number any() {
        using Limits = std::numeric_limits<Number>;
        const std::array<Number, 8> odd = {Limits::min(),
                                           Limits::max(),
                                           -1,
                                           0,
                                           1,
                                           2,
                                           static_cast<Number>(kMaximumNumber),
                                           static_cast<Number>(kMaximumNumber + 1)};
        return odd[m_random() % odd.size()];
    }
    template <class Id>
    Id id() {
        constexpr std::array<std::uint32_t, 7> kOdd = {0, 0, 1, 1, 2, 1'000'000, 0xffff'ffff};
        return Id(kOdd[m_random() % kOdd.size()]);
    }
    base::Interval span() { return {{any<std::int64_t>()}, {any<std::int64_t>()}}; }
    std::size_t count() { return m_random() % 6; }

    Annotations annotations() {
        Annotations found;
        for (std::size_t n = count(); n > 0; --n)
            found.tasks.push({id<RankId>(), id<EventId>(), any<std::int32_t>(), any<std::int32_t>(),
                              any<std::int32_t>(), any<std::int32_t>(),
                              schedule::ActionKind::Forward, span()});
        for (std::size_t n = count(); n > 0; --n) {
            Transfer one = transfer(0, 0, id<MatchId>());
            one.rank = id<RankId>();
            one.event = id<EventId>();
            one.group = id<GroupId>();
            one.span = span();
            one.bytes = one.sequence = any<std::int64_t>();
            for (std::int32_t* number :
                 {&one.iteration, &one.stage, &one.chunk, &one.microbatch, &one.peer})
                *number = any<std::int32_t>();
            found.transfers.push(one);
        }
        for (std::size_t n = count(); n > 0; --n) {
            Match match{{}, {any<std::int64_t>()}, id<RankId>(), true};
            for (std::size_t m = count(); m > 0; --m) match.members.push_back(id<TransferId>());
            found.matches.push(match);
        }
        for (std::size_t n = count(); n > 0; --n)
            found.groups.push({any<std::int64_t>(), {}, any<std::int32_t>(), {id<RankId>()}});
        for (std::size_t n = count(); n > 0; --n)
            found.phases.push_back({id<RankId>(), id<EventId>(), any<std::int32_t>(), {}, span()});
        for (std::size_t n = count(); n > 0; --n)
            found.iterations.push_back({id<RankId>(), id<EventId>(), any<std::int32_t>(), span()});
        return found;
    }

  private:
    std::mt19937 m_random;
};

template <class Items>
void expectItems(const Items& items, const Trace& trace) {
    const auto before = [](const auto& a, const auto& b) {
        return std::pair(a.rank, a.span.begin) < std::pair(b.rank, b.span.begin);
    };
    EXPECT_TRUE(std::is_sorted(items.begin(), items.end(), before));
    for (const auto& item : items) {
        EXPECT_LT(item.rank.index(), trace.ranks().size());
        EXPECT_TRUE(!item.event.valid() || item.event.index() < trace.eventCount());
        EXPECT_GE(item.iteration, -1);
        EXPECT_GE(item.span.begin.ns, -kFarthestNs);
        EXPECT_LE(item.span.end.ns, kFarthestNs);
        EXPECT_LE(item.span.begin, item.span.end);
    }
}

TEST(AnnotationGate, LetsNoHostileNumberThrough) {
    for (unsigned seed = 0; seed < 3'000; ++seed) {
        const Annotations given = HostileNumbers(seed).annotations();
        const Trace trace = closed(given);
        const Annotations& now = trace.annotations();
        expectItems(now.tasks, trace);
        expectItems(now.transfers, trace);
        expectItems(now.phases, trace);
        expectItems(now.iterations, trace);
        EXPECT_LE(now.tasks.size(), given.tasks.size());
        EXPECT_EQ(now.groups.size(), given.groups.size());
        for (const Task& one : now.tasks) {
            EXPECT_TRUE(one.stage >= 0 && one.stage <= kMaximumNumber);
            EXPECT_TRUE(one.microbatch >= 0 && one.microbatch <= kMaximumNumber);
            EXPECT_TRUE(one.chunk >= -1 && one.chunk <= kMaximumNumber);
        }
        for (std::size_t i = 0; i < now.transfers.size(); ++i) {
            const Transfer& one = now.transfers[TransferId::at(i)];
            EXPECT_TRUE(one.bytes >= 0 && one.bytes <= kMaximumBytes);
            EXPECT_TRUE(one.sequence >= -1 && one.sequence <= kMaximumSequence);
            for (const std::int32_t number : {one.stage, one.chunk, one.microbatch, one.peer})
                EXPECT_TRUE(number >= -1 && number <= kMaximumNumber);
            EXPECT_TRUE(!one.group.valid() || one.group.index() < now.groups.size());
            if (!one.match.valid()) continue;
            ASSERT_LT(one.match.index(), now.matches.size());
            const auto& members = now.matches[one.match].members;
            EXPECT_EQ(std::count(members.begin(), members.end(), TransferId::at(i)), 1);
        }
        for (const Match& match : now.matches) {
            EXPECT_FALSE(match.members.empty());
            EXPECT_LT(match.lastRank.index(), trace.ranks().size());
            for (const TransferId member : match.members)
                EXPECT_LT(member.index(), now.transfers.size());
        }
    }
}

}  // namespace
}  // namespace pleat::trace
