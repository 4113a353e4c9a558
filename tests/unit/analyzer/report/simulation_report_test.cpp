// A simulated schedule as text and as JSON.
#include "report/simulation_report.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "report/json_report.h"
#include "schedule/generators.h"
#include "support/json_schema.h"

namespace pleat::report {
namespace {

using nlohmann::json;

struct Simulated {
    schedule::Schedule schedule;
    graph::Simulation simulation;
};

// Two ranks of one stage, two microbatches: forward 1, backward 2, each rank works 6 of 9 ns.
Simulated twoRanks() {
    const auto schedule =
        schedule::makeSchedule("gpipe", {.ranks = 2, .microbatches = 2, .chunks = 1, .group = 0});
    graph::CostModel costs;
    costs.forward = {1};
    costs.backward = {2};
    return {*schedule, *graph::simulate(*schedule, costs)};
}

TEST(SimulationReport, HasARowPerRank) {
    const Simulated run = twoRanks();
    EXPECT_EQ(renderText(run.schedule, run.simulation),
              "gpipe: 2 ranks, 2 stages, 2 microbatches\n"
              "makespan                        9 ns\n"
              "bubble / ideal           0.500000    idle time / compute time\n"
              "bubble / total           0.333333    idle time / (ranks x makespan)\n"
              "\n"
              "rank          busy ns  peak activations  sync window ns, chunk 0 first\n"
              "   0                6             2.000  0\n"
              "   1                6             2.000  0\n");
}

TEST(SimulationReport, CountsOneThingInTheSingular) {
    const auto schedule =
        schedule::makeSchedule("gpipe", {.ranks = 1, .microbatches = 1, .chunks = 1, .group = 0});
    const std::string text = renderText(*schedule, *graph::simulate(*schedule, {}));
    EXPECT_TRUE(text.starts_with("gpipe: 1 rank, 1 stage, 1 microbatch\n")) << text;
}

TEST(SimulationReport, AsJsonFitsTheSchema) {
    const json answer = json::parse(renderJson(twoRanks().simulation));
    std::ifstream file(PLEAT_SOURCE_DIR "/schemas/report.schema.json");
    const auto violations = testing::schemaViolations(answer, json::parse(file));
    EXPECT_TRUE(violations.empty()) << violations.front();
    EXPECT_EQ(answer["makespan_ns"], 9);
    EXPECT_EQ(answer["ranks"][1]["busy_ns"], 6);
    EXPECT_EQ(answer["ranks"][0]["sync_window_ns"], json({0}));
}

}  // namespace
}  // namespace pleat::report
