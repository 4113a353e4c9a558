// The critical path of one rank as text and JSON.
#include "report/rank_path_report.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "report/json_report.h"
#include "support/json_schema.h"

namespace pleat::report {
namespace {

using nlohmann::json;

analysis::RankPath path() {
    analysis::RankPath made;
    made.iteration = 5;
    made.rank = 3;
    made.length = {4'000'000};
    made.byKind = {{"kernel", {3'000'000}}, {"launch", {400'000}}, {"pause", {600'000}}};
    made.pieces = {
        {"launch", "gemm", trace::LaneKind::DeviceStream, 7, {0}, {400'000}},
        {"kernel", "gemm", trace::LaneKind::DeviceStream, 7, {400'000}, {3'000'000}},
        {"pause", "", std::nullopt, 0, {3'400'000}, {600'000}},
    };
    made.longest = {1, 2, 0};
    made.work = {{"gemm", 7, {400'000}, {3'000'000}, {0}, true}};
    return made;
}

TEST(RankPathReport, NamesTheLongestPieces) {
    EXPECT_EQ(renderText(path()),
              "Critical path of rank 3 in iteration 5: 4.000 ms, the whole iteration\n"
              "  by kind   kernel 3.000 ms (75.0 %), pause 0.600 ms (15.0 %), launch 0.400 ms "
              "(10.0 %)\n"
              "\nThe longest pieces\n"
              "       at ms    length ms  kind            where          name\n"
              "       0.400        3.000  kernel          stream 7       gemm\n"
              "       3.400        0.600  pause           -              before the end\n"
              "       0.000        0.400  launch          stream 7       before gemm\n"
              "\nDevice work with the least slack (how much longer each may take for free)\n"
              "    slack ms        at ms    length ms  stream  name\n"
              "       0.000        0.400        3.000       7  gemm\n");
}

TEST(RankPathReport, AsJsonFitsItsSchema) {
    std::ifstream file(PLEAT_SOURCE_DIR "/schemas/report.schema.json");
    const json answer = json::parse(renderJson(path()));
    const auto violations = testing::schemaViolations(answer, json::parse(file));
    EXPECT_TRUE(violations.empty()) << violations.front();
    EXPECT_EQ(answer["schema"], "pleat-rank-path/1");
    EXPECT_TRUE(answer["pieces"][2]["lane"].is_null());
    EXPECT_EQ(answer["work"][0]["on_path"], true);
}

}  // namespace
}  // namespace pleat::report
