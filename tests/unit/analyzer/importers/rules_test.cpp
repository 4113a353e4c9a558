// Rules of a user's own: what they say is read, what is wrong with them is said.
#include "annotate/rules.h"

#include <gtest/gtest.h>

#include "annotate/annotate.h"
#include "unit/analyzer/importers/imported.h"

namespace pleat::annotate {
namespace {

using importers::countOf;

trace::Trace annotatedBy(const std::string& rules, const std::string& events) {
    const auto parsed = Rules::parse(rules, "rules.json");
    EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message);
    const auto imported = importers::importText("[" + events + "]");
    EXPECT_TRUE(imported) << importers::messageOf(imported);
    return annotate(*imported, *parsed).value();
}

std::string event(const std::string& name, int start, const std::string& arguments = "{}") {
    return fmt::format(
        R"({{"ph":"X","cat":"app","name":"{}","pid":1,"tid":1,"ts":{},"dur":5,"args":{}}})", name,
        start, arguments);
}

TEST(Rules, NamedGroupsAndArgumentsGiveTheNumbers) {
    const trace::Trace trace = annotatedBy(
        R"json({"rules": [
            {"name": "^fwd stage(?<stage>\\d+) mb(?<microbatch>\\d+)$", "domain": "app", "as": "task", "action": "F"},
            {"name": "^bwd$", "as": "task", "action": "B", "arguments": {"microbatch": "mb_id"}},
            {"name": "^reduce (?<chunk>\\d+)", "as": "transfer", "operation": "all_reduce", "dimension": "dp", "action": "REDUCE_GRAD"},
            {"name": "^load", "as": "phase", "phase": "data"},
            {"name": "^step (?<iteration>\\d+)$", "as": "iteration"},
            {"name": "^never$", "as": "phase", "phase": "data"}]})json",
        event("step 3", 0) + "," + event("load batch", 1) + "," + event("fwd stage1 mb0", 2) + "," +
            event("bwd", 10, R"({"stage": 1, "mb_id": 0})") + "," + event("bwd", 20) + "," +
            event("reduce 0", 30, R"({"bytes": 64, "stage": 1})"));
    const trace::Annotations& found = trace.annotations();
    ASSERT_EQ(found.tasks.size(), 2U);
    EXPECT_EQ(found.tasks[trace::TaskId(0)].stage, 1);
    EXPECT_EQ(found.tasks[trace::TaskId(1)].kind, schedule::ActionKind::FullBackward);
    EXPECT_EQ(found.tasks[trace::TaskId(1)].iteration, 3);
    ASSERT_EQ(found.transfers.size(), 1U);
    EXPECT_EQ(found.transfers[trace::TransferId(0)].bytes, 64);
    EXPECT_EQ(found.transfers[trace::TransferId(0)].dimension, trace::Dimension::Dp);
    EXPECT_EQ(found.phases.size(), 1U);
    EXPECT_EQ(found.iterations.size(), 1U);
    EXPECT_EQ(countOf(trace, "rule_incomplete"), 1);
    EXPECT_EQ(countOf(trace, "rule_unused"), 1);
}

TEST(Rules, WhatIsWrongWithARuleIsSaid) {
    const std::pair<const char*, const char*> cases[] = {
        {"", "rules.json: is not valid JSON"},
        {R"json({"rules": [{"name": "(?<stge>\\d)", "as": "phase", "phase": "data"}]})json",
         "group \"stge\" is not a field"},
        {"{\"rules\": 5}", "expected {\"rules\""},
        {R"({"rules": [5]})", "rule 1: is not a JSON object"},
        {R"({"rules": [{"as": "phase"}]})", "rule 1: needs \"name\""},
        {R"json({"rules": [{"name": "(", "as": "phase"}]})json", "at character 1"},
        {R"({"rules": [{"name": "a", "as": "tusk"}]})", "\"as\" must be"},
        {R"({"rules": [{"name": "a", "as": "task"}]})", "needs \"action\""},
        {R"({"rules": [{"name": "a", "as": "task", "action": "Q"}]})", "is not an action"},
        {R"({"rules": [{"name": "a", "as": "transfer"}]})", "needs \"operation\""},
        {R"({"rules": [{"name": "a", "as": "phase"}]})", "needs \"phase\""},
        {R"({"rules": [{"name": "a", "az": "phase"}]})", "unknown key \"az\""},
        {R"({"rules": [{"name": "a", "as": "iteration", "arguments": {"x": "y"}}]})", "is not a field"}};
    for (const auto& [text, reason] : cases) {
        const auto parsed = Rules::parse(text, "rules.json");
        ASSERT_FALSE(parsed) << text;
        EXPECT_NE(parsed.error().message.find(reason), std::string::npos) << parsed.error().message;
        EXPECT_TRUE(parsed.error().message.starts_with("rules.json")) << parsed.error().message;
    }
}

TEST(Rules, APatternThatTakesForeverIsSaid) {
    const trace::Trace trace =
        annotatedBy(R"({"rules": [{"name": "^(a+)+$", "as": "phase", "phase": "data"}]})",
                    event(std::string(60, 'a') + "b", 0));
    EXPECT_EQ(countOf(trace, "rule_too_slow"), 1);
}

}  // namespace
}  // namespace pleat::annotate
