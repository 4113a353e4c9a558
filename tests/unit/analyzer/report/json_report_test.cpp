#include "report/json_report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "report_runs.h"
#include "support/json_schema.h"
#include "trace/trace_builder.h"

namespace pleat::report {
namespace {

using nlohmann::json;

json schema() {
    std::ifstream file(PLEAT_SOURCE_DIR "/schemas/report.schema.json");
    EXPECT_TRUE(file.is_open());
    return json::parse(file);
}

void expectValid(const std::string& text) {
    const std::vector<std::string> violations =
        testing::schemaViolations(json::parse(text), schema());
    EXPECT_TRUE(violations.empty()) << violations.front() << "\n" << text;
}

trace::Trace emptyTrace() { return trace::TraceBuilder().build().trace; }

TEST(JsonReport, FitsItsSchema) {
    expectValid(renderJson(*analysis::analyseRun(testing::foldedRun(), {})));
}

TEST(JsonReport, OfNothingFitsItsSchemaAndSaysWhatIsMissing) {
    const std::string text = renderJson(*analysis::analyseRun(emptyTrace(), {}));
    expectValid(text);
    const json report = json::parse(text);
    EXPECT_TRUE(report["bubble"]["fraction"].is_null());
    EXPECT_TRUE(report["critical_path"].is_null());
    EXPECT_EQ(report["diagnostics"][0]["code"], "nothing_to_analyse");
}

TEST(JsonReport, SumsToTheNanosecondForEveryRank) {
    const json report = json::parse(renderJson(*analysis::analyseRun(testing::foldedRun(), {})));
    ASSERT_EQ(report["ranks"].size(), 4u);
    for (const json& rank : report["ranks"]) {
        const std::int64_t sum = rank["compute_ns"].get<std::int64_t>() +
                                 rank["transfer_moving_ns"].get<std::int64_t>() +
                                 rank["transfer_waiting_ns"].get<std::int64_t>() +
                                 rank["copy_ns"].get<std::int64_t>() +
                                 rank["bubble_ns"].get<std::int64_t>();
        EXPECT_EQ(rank["total_ns"], sum);
        EXPECT_EQ(rank["total_ns"], report["iterations"]["mean_ns"]);
    }
    std::int64_t path = 0;
    for (const json& kind : report["critical_path"]["by_kind"]) path += kind.get<std::int64_t>();
    EXPECT_EQ(report["critical_path"]["length_ns"], path);
}

TEST(JsonReport, NamesStragglersByTheirKey) {
    const json report = json::parse(renderJson(*analysis::analyseRun(testing::foldedRun(), {})));
    ASSERT_FALSE(report["stragglers"].empty());
    const json& worst = report["stragglers"][0];
    EXPECT_EQ(worst["key"], "stage:3");
    EXPECT_EQ(worst["stage"], 3);
    EXPECT_TRUE(worst["rank"].is_null());
    EXPECT_GT(worst["gain_ns"].get<std::int64_t>(), 10'000'000);
    EXPECT_NE(worst["evidence"].get<std::string>().find("x the usual time"), std::string::npos);
    const auto rank = std::find_if(report["stragglers"].begin(), report["stragglers"].end(),
                                   [](const json& one) { return one["key"] == "rank:3"; });
    ASSERT_NE(rank, report["stragglers"].end());
    EXPECT_EQ((*rank)["rank"], 3);
    EXPECT_TRUE((*rank)["stage"].is_null()) << "it holds two";
    EXPECT_GT((*rank)["slowdown"].get<double>(), 1.01);
    EXPECT_TRUE(report["straggler_search"]["looked"].get<bool>());
    EXPECT_EQ(report["straggler_search"]["compared"]["ranks"], 4);
}

TEST(JsonReport, OfACriticalPathAndOfATraceFitTheSchema) {
    const trace::Trace trace = testing::foldedRun();
    expectValid(renderJson(*analysis::analysePath(trace, {})));
    expectValid(renderJson(analysis::describeRun(trace)));
    expectValid(renderJson(analysis::describeRun(emptyTrace())));
}

TEST(JsonReport, OfAPredictionFitsItsSchema) {
    const auto answer = analysis::analyseWhatIf(
        testing::foldedRun(),
        {.ideal = {"stage:3"}, .scale = {{"transfer.dp", 0.5}}, .keep = {"rank:3"}});
    ASSERT_TRUE(answer);
    const std::string text = renderJson(*answer);
    expectValid(text);
    const json report = json::parse(text);
    EXPECT_EQ(report["changed"]["scale"][0]["key"], "transfer.dp");
    EXPECT_EQ(report["iterations"].size(), 4U);
    EXPECT_FALSE(report["replay_error_large"].get<bool>());
    EXPECT_LT(report["predicted_ns"], report["replay_ns"]);
    // How well the replay fits stands before what it predicts.
    EXPECT_LT(text.find("replay_error_fraction"), text.find("predicted_ns"));
}

TEST(JsonReport, OfAComparisonFitsItsSchemaAndSums) {
    const testing::BeforeAndAfter runs = testing::changedRun();
    const std::string text = renderJson(analysis::compareRuns(runs.before, runs.after));
    expectValid(text);
    const json report = json::parse(text);
    EXPECT_EQ(report["verdict"], "faster");
    EXPECT_EQ(report["rows"][0]["level"], "iteration");
    EXPECT_EQ(report["rows"][0]["new_count"], 6);
    EXPECT_TRUE(report["rows"][0]["ci95_ns"].is_array());
    std::int64_t sum = 0;
    for (const json& part : report["mean"]["parts"])
        sum += part["difference_ns"].get<std::int64_t>();
    EXPECT_EQ(report["mean"]["difference_ns"], sum);
    EXPECT_EQ(report["counts"]["compared"].get<std::size_t>() +
                  report["counts"]["only_in_base"].get<std::size_t>() +
                  report["counts"]["only_in_new"].get<std::size_t>(),
              report["rows"].size());
    const auto overlap = std::find_if(report["rows"].begin(), report["rows"].end(),
                                      [](const json& row) { return row["quantity"] == "overlap"; });
    ASSERT_NE(overlap, report["rows"].end());
    EXPECT_TRUE((*overlap).contains("base")) << "a fraction has no unit in its key";
}

// One iteration against several, one rank against four.
TEST(JsonReport, OfRunsThatHardlyCompareFitsItsSchema) {
    testing::SyntheticOptions small;
    small.schedule = *schedule::makeSchedule("1f1b", {1, 2, 1, 0});
    small.forward = small.backward = {{1'000}};
    const auto series = analysis::seriesOf(testing::tracedRun(small), {});
    ASSERT_TRUE(series);
    const std::string text =
        renderJson(analysis::compareRuns(testing::changedRun().before, *series));
    expectValid(text);
    EXPECT_EQ(json::parse(text)["verdict"], "cannot_tell");
    EXPECT_EQ(json::parse(text)["rows"][0]["ci95_ns"], nullptr);
}

TEST(JsonReport, ReplacesBytesThatAreNotText) {
    analysis::RunAnalysis analysis;
    analysis.diagnostics.add("open_range", "a \xb9\xff name");
    EXPECT_NE(renderJson(analysis).find("a \xef\xbf\xbd"), std::string::npos);
}

TEST(JsonSchema, FindsWhatDoesNotFit) {
    json report = json::parse(renderJson(*analysis::analyseRun(testing::foldedRun(), {})));
    const auto faulty = [&](auto spoil) {
        json spoilt = report;
        spoil(spoilt);
        return !testing::schemaViolations(spoilt, schema()).empty();
    };
    EXPECT_TRUE(faulty([](json& r) { r.erase("bubble"); }));
    EXPECT_TRUE(faulty([](json& r) { r["extra"] = 1; }));
    EXPECT_TRUE(faulty([](json& r) { r["schema"] = "pleat-report/2"; }));
    EXPECT_TRUE(faulty([](json& r) { r["ranks"][0]["total_ns"] = 1.5; }));
    EXPECT_TRUE(faulty([](json& r) { r["ranks"][0]["bubble_ns"] = -1; }));
    EXPECT_TRUE(faulty([](json& r) { r["transfers"][0]["dimension"] = "xp"; }));
    EXPECT_TRUE(faulty([](json& r) { r["critical_path"]["by_kind"]["forward"] = "much"; }));
    EXPECT_FALSE(faulty([](json&) {}));
}

// Places of properties without a description.
void undescribed(const json& node, const std::string& place, std::vector<std::string>& found) {
    if (node.is_object() && node.contains("properties")) {
        for (const auto& [name, property] : node["properties"].items())
            if (property.value("description", "").empty()) found.push_back(place + "/" + name);
    }
    if (!node.is_structured()) return;
    for (const auto& [key, inner] : node.items()) undescribed(inner, place + "/" + key, found);
}

TEST(JsonReport, EveryPropertyOfTheSchemaIsDescribed) {
    std::vector<std::string> found;
    undescribed(schema(), "", found);
    EXPECT_TRUE(found.empty()) << found.size() << ", such as " << found.front();
}

}  // namespace
}  // namespace pleat::report
