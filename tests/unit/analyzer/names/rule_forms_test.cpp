// What rules can say: instants as ends of ranges, numbers as texts, ranks from process ids, stages
// from chunk and rank, fields that have to be there.
#include "unit/analyzer/names/made_profile.h"

namespace pleat::annotate {
namespace {

using importers::countOf;
using testing::Lines;
using testing::MadeProfile;
using testing::taskLines;
using testing::transferLines;

TEST(RuleForms, InstantsMarkTheEndsOfATask) {
    MadeProfile profile;
    profile.instant(1, "step start 3", 0).instant(1, "step start 4", 100);
    profile.instant(1, "fwd begin 0", 10).instant(1, "fwd end", 25, R"({"stage": "2"})");
    profile.instant(1, "bwd begin 0", 30, R"({"stage": 2})").instant(1, "bwd end", 60);
    profile.instant(1, "fwd begin 0", 110).instant(1, "fwd begin 1", 115);
    profile.instant(1, "fwd end", 120, R"({"stage": "2", "microbatch": "0"})");
    profile.instant(1, "fwd end", 130, R"({"stage": "2"})");
    const trace::Trace trace = profile.annotated(R"json({"rules": [
        {"name": "^step start (?<iteration>\\d+)$", "mark": "begin", "as": "iteration"},
        {"name": "^fwd begin (?<microbatch>\\d+)$", "mark": "begin", "as": "task", "action": "F"},
        {"name": "^fwd end$", "mark": "end", "as": "task", "action": "F"},
        {"name": "^bwd begin (?<microbatch>\\d+)$", "mark": "begin", "as": "task", "action": "B"},
        {"name": "^bwd end$", "mark": "end", "as": "task", "action": "B"}]})json");
    EXPECT_EQ(taskLines(trace), (Lines{"r0 it3 2F0 10..25", "r0 it3 2B0 30..60",
                                       "r0 it4 2F0 110..120", "r0 it4 2F1 115..130"}));
    ASSERT_EQ(trace.annotations().iterations.size(), 2U);
    EXPECT_EQ(trace.annotations().iterations[0].span.end.ns, 100'000);
    EXPECT_EQ(countOf(trace, "mark_without_partner"), 0);
}

TEST(RuleForms, AnInstantWithoutItsOtherHalfIsCounted) {
    MadeProfile profile;
    profile.instant(1, "b", 10)
        .instant(1, "b", 20)
        .instant(1, "e", 30)
        .instant(1, "e", 40)
        .instant(1, "e", 50);
    const trace::Trace trace = profile.annotated(
        R"json({"rules": [{"name": "^b$", "mark": "begin", "as": "phase", "phase": "data"},
                          {"name": "^e$", "mark": "end", "as": "phase", "phase": "data"}]})json");
    EXPECT_EQ(trace.annotations().phases.size(), 2U);
    EXPECT_EQ(countOf(trace, "mark_without_partner"), 1);
}

// A rule for ranges whose name only instants have is not "without an event".
TEST(RuleForms, ARuleThatOnlyInstantsFitIsToldSo) {
    MadeProfile profile;
    profile.instant(1, "fwd", 10).range(1, "other", 0, 5).range(1, "slow", 0, 5);
    const trace::Trace trace = profile.annotated(
        R"json({"rules": [{"name": "^fwd$", "as": "phase", "phase": "data"},
                          {"name": "^slow$", "mark": "begin", "as": "phase", "phase": "data"}]})json");
    EXPECT_EQ(countOf(trace, "rule_unused"), 2);
    EXPECT_NE(trace.diagnostics().find("rule_unused")->example.find("1 instant"), std::string::npos)
        << trace.diagnostics().find("rule_unused")->example;
}

TEST(RuleForms, PidIsTheRankAndTheStageComesFromChunkAndRank) {
    const auto run = [](const std::string& placement) {
        MadeProfile profile;
        for (const int pid : {1, 0}) {
            for (int chunk = 0; chunk < 2; ++chunk) {
                profile.half(pid, "fwd", 'B', 10 + 100 * chunk + 20 * pid);
                profile.half(pid, "fwd", 'E', 20 + 100 * chunk + 20 * pid,
                             fmt::format(R"({{"chunk": "{}", "mb": "0"}})", chunk));
            }
        }
        return taskLines(profile.annotated(
            R"json({"rules": [{"name": "^fwd$", "as": "task", "action": "F", "rank_from": "pid",
                "stage_from": "chunk_and_rank", )json" +
            placement + R"json("arguments": {"microbatch": "mb"}}]})json"));
    };
    const Lines looped = run("");
    EXPECT_EQ(looped, run(R"("placement": "looped", )"));
    EXPECT_EQ(Lines(looped.begin(), looped.end()),
              (Lines{"r1 it0 1F0 20..30", "r1 it0 3F0 120..130", "r0 it0 0F0 0..10",
                     "r0 it0 2F0 100..110"}));
    EXPECT_EQ(run(R"("placement": "v", )"), (Lines{"r1 it0 1F0 20..30", "r1 it0 2F0 120..130",
                                                   "r0 it0 0F0 0..10", "r0 it0 3F0 100..110"}));
}

TEST(RuleForms, ARuleThatNeedsAFieldLeavesOtherEventsToTheNext) {
    MadeProfile profile;
    profile.range(1, "work", 0, 5, "app", R"({"mb": 0})").range(1, "work", 10, 5, "app");
    const trace::Trace trace = profile.annotated(
        R"json({"rules": [{"name": "^work$", "as": "task", "action": "F", "needs": ["microbatch"], "count": true,
                           "arguments": {"microbatch": "mb"}},
                          {"name": "^work$", "as": "phase", "phase": "optimizer"}]})json");
    EXPECT_EQ(trace.annotations().tasks.size(), 1U);
    EXPECT_EQ(trace.annotations().phases.size(), 1U);
    EXPECT_EQ(countOf(trace, "rule_unused"), 0);
}

TEST(RuleForms, ARangeMayBeTwoMessages) {
    MadeProfile profile;
    profile.range(1, "both", 0, 5, "app");
    const trace::Trace trace = profile.annotated(
        R"json({"rules": [{"name": "^both$", "as": "transfer", "operation": ["send", "recv"],
            "dimension": "pp", "action": ["SEND_F", "RECV_B"]}]})json");
    EXPECT_EQ(transferLines(trace),
              (Lines{"r0 it0 -1SEND_F-1 send pp", "r0 it0 -1RECV_B-1 recv pp"}));
}

// A profiler wrote bytes that are not UTF-8 into a name; the rest of it can still be read.
TEST(RuleForms, NamesWithBytesThatAreNotTextAreTriedAsWell) {
    trace::TraceBuilder builder;
    const auto rank = builder.addRank({0, {}, "host", 1, "program", ""});
    const auto lane = builder.addLane({rank, trace::LaneKind::HostThread, 1, ""});
    builder.addEvent({lane,
                      builder.intern("fwd 3 \xb9\xff"),
                      {},
                      trace::EventKind::Range,
                      trace::EventFlag::None,
                      {{0}, {10}}});
    const auto rules = Rules::parse(
        R"json({"rules": [{"name": "^fwd (?<microbatch>\\d+)", "as": "task", "action": "F", "count": true}]})json",
        "rules.json");
    ASSERT_TRUE(rules);
    const trace::Trace trace = annotate(std::move(builder).build().trace, *rules).value();
    ASSERT_EQ(trace.annotations().tasks.size(), 1U);
    EXPECT_EQ(trace.annotations().tasks[trace::TaskId(0)].microbatch, 3);
}

TEST(RuleForms, WhatIsWrongIsSaidWithTheNearestName) {
    const std::pair<const char*, const char*> cases[] = {
        {R"({"rules": [{"name": "a", "stage_frm": "chunk_and_rank"}]})",
         "unknown key \"stage_frm\"; did you mean \"stage_from\"?"},
        {R"({"rules": [{"name": "a", "xyzzyqq": 1}]})", "the known ones are name, domain, as"},
        {R"({"rulez": []})", "expected {\"rules\""},
        {R"({"rules": [], "rule": 1})", "unknown key \"rule\""},
        {R"json({"rules": [{"name": "(?<microbach>\\d)", "as": "iteration"}]})json",
         "did you mean \"microbatch\"?"},
        {R"({"rules": [{"name": "a", "as": "iteration", "needs": ["stge"]}]})",
         "did you mean \"stage\"?"},
        {R"({"rules": [{"name": "a", "as": "iteration", "needs": 3}]})", "\"needs\" must be"},
        {R"({"rules": [{"name": "a", "as": "iteration", "mark": "middle"}]})",
         "must be \"begin\" or \"end\""},
        {R"({"rules": [{"name": "a", "as": "iteration", "rank_from": "tid"}]})", "must be \"pid\""},
        {R"({"rules": [{"name": "a", "as": "iteration", "stage_from": "x"}]})", "chunk_and_rank"},
        {R"({"rules": [{"name": "a", "as": "iteration", "placement": "v"}]})", "which is missing"},
        {R"({"rules": [{"name": "a", "as": "iteration", "stage_from": "chunk_and_rank", "placement": "w"}]})",
         "\"looped\" or \"v\""},
        {R"({"rules": [{"name": "a", "as": "transfer", "operation": ["send", "recv"], "dimension": "pp", "action": "SEND_F"}]})",
         "one \"action\" for each"},
    };
    for (const auto& [text, reason] : cases) {
        const auto parsed = Rules::parse(text, "rules.json");
        ASSERT_FALSE(parsed) << text;
        EXPECT_NE(parsed.error().message.find(reason), std::string::npos) << parsed.error().message;
    }
}

}  // namespace
}  // namespace pleat::annotate
