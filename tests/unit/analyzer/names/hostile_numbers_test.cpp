// Numbers that no real run has, in names, arguments, process names and rules: counted, never a
// table of two thousand million stages. Through the whole analysis.
#include <gtest/gtest.h>

#include "analysis/run_analysis.h"
#include "annotate/annotate.h"
#include "unit/analyzer/importers/imported.h"

namespace pleat::annotate {
namespace {

using importers::countOf;

std::string range(const std::string& name, int start, const std::string& arguments = "{}",
                  const std::string& category = "user_annotation", int pid = 1) {
    return fmt::format(
        R"({{"ph":"X","cat":"{}","name":"{}","pid":{},"tid":1,"ts":{},"dur":5,"args":{}}},)",
        category, name, pid, start, arguments);
}

trace::Trace analysed(const std::string& events, const Rules& rules = {}) {
    const auto imported =
        importers::importText("[" + events + range("PP:0F0", 1'000) + range("PP:0B0", 1'010));
    EXPECT_TRUE(imported) << importers::messageOf(imported);
    trace::Trace trace = annotate(*imported, rules).value();
    const auto analysis = analysis::analyseRun(trace, {});
    EXPECT_TRUE(analysis);
    return trace;
}

TEST(HostileNumbers, OfNamesAreCountedAndLeftOut) {
    for (const char* number : {"1000001", "2000000000", "2147483647", "2147483648", "4294967296",
                               "99999999999999999999999999"}) {
        SCOPED_TRACE(number);
        const trace::Trace trace = analysed(
            range(fmt::format("PP:{}F0", number), 0) + range(fmt::format("PP:0F{}", number), 10) +
            range(fmt::format("{}F{}", number, number), 20, "{}", "pleat"));
        EXPECT_EQ(countOf(trace, "number_out_of_range"), 3);
        EXPECT_EQ(trace.annotations().tasks.size(), 2U);
    }
}

TEST(HostileNumbers, OfArgumentsCountAsNotRecorded) {
    const std::string huge = R"({"bytes":9223372036854775807,"peer":2147483647,"group":1,)"
                             R"("sequence":9223372036854775807,"chunk":2147483647,)"
                             R"("iteration":2147483647,"operation":"send","dimension":"pp"})";
    const trace::Trace trace = analysed(range("0SEND_F0", 0, huge, "pleat.comm") +
                                        range("0SEND_F0", 5, huge, "pleat.comm"));
    EXPECT_EQ(countOf(trace, "number_out_of_range"), 8);
    ASSERT_EQ(trace.annotations().transfers.size(), 2U);
    for (const trace::Transfer& transfer : trace.annotations().transfers) {
        EXPECT_EQ(transfer.bytes, 0);
        EXPECT_LE(transfer.chunk, 0);
    }
}

TEST(HostileNumbers, OfRulesAreCountedAndLeftOut) {
    const auto rules = Rules::parse(
        R"json({"rules": [{"name": "^f (?<stage>\\d+) (?<microbatch>\\d+) (?<chunk>\\d+)$", "as": "task", "action": "F"},
                          {"name": "^s (?<stage>\\d+) (?<bytes>\\d+)$", "as": "transfer", "operation": "send", "dimension": "pp"}]})json",
        "rules.json");
    ASSERT_TRUE(rules);
    const trace::Trace trace =
        analysed(range("f 2000000000 0 0", 0) + range("f 0 9223372036854775807 0", 10) +
                     range("f 0 1 2147483647", 20) + range("s 2000000000 9223372036854775807", 30),
                 *rules);
    EXPECT_EQ(trace.annotations().tasks.size(), 3U);  // with the two of the run itself
    EXPECT_EQ(countOf(trace, "number_out_of_range") + countOf(trace, "rule_incomplete"), 5);
}

TEST(HostileNumbers, OfIterationsAndRanksAreHarmless) {
    const trace::Trace trace = analysed(
        R"({"ph":"M","name":"process_name","pid":2,"args":{"name":"rank 2147483647"}},)"
        R"({"ph":"i","cat":"pleat","name":"rank","pid":3,"tid":1,"ts":0,"args":{"rank":2147483646,"pp":2147483647,"dp":2000000000}},)" +
        range("ProfilerStep#2147483647", 900) + range("ProfilerStep#99999999999", 0) +
        range("PP:1F0", 1'000, "{}", "user_annotation", 2) +
        range("PP:1B0", 1'005, "{}", "user_annotation", 3));
    EXPECT_EQ(countOf(trace, "number_out_of_range"), 4);
}

}  // namespace
}  // namespace pleat::annotate
