// The table of schedule families as text and as JSON.
#include "report/family_report.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "support/json_schema.h"

namespace pleat::report {
namespace {

using nlohmann::json;

TEST(FamilyReport, HasABlockPerFamily) {
    const std::string text = renderText(schedule::families());
    EXPECT_NE(text.find("\ninterleaved\n"
                        "  aliases           interleaved1f1b\n"
                        "  parameters        p, M, v >= 1, g\n"
                        "  needs             M >= p, g >= p, and"),
              std::string::npos)
        << text;
    for (const schedule::Family& family : schedule::families())
        EXPECT_NE(text.find("\n" + std::string(family.name) + "\n"), std::string::npos);
}

TEST(FamilyReport, AsJsonFitsTheSchema) {
    const json answer = json::parse(renderJson(schedule::families()));
    std::ifstream file(PLEAT_SOURCE_DIR "/schemas/report.schema.json");
    const auto violations = testing::schemaViolations(answer, json::parse(file));
    EXPECT_TRUE(violations.empty()) << violations.front();
    ASSERT_EQ(answer["families"].size(), schedule::families().size());
    EXPECT_EQ(answer["families"][0]["name"], "gpipe");
    EXPECT_EQ(answer["families"][0]["chunks"], 1);
    EXPECT_EQ(answer["families"][2]["chunks"], nullptr);
}

}  // namespace
}  // namespace pleat::report
