// The table of families: what it says of each has to be complete, unambiguous and documented.
#include "schedule/family.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace pleat::schedule {
namespace {

TEST(Families, EachIsFoundByItsNameAndAliasesInAnyCaseAndByNoOtherName) {
    std::set<std::string_view> names;
    for (const Family& family : families()) {
        EXPECT_TRUE(names.insert(family.name).second) << family.name;
        EXPECT_EQ(findFamily(family.name), &family);
        for (const std::string_view alias : family.aliases) {
            EXPECT_TRUE(names.insert(alias).second) << alias;
            EXPECT_EQ(findFamily(alias), &family);
        }
    }
    EXPECT_EQ(findFamily("LoopedBFS"), findFamily("folded"));
    EXPECT_EQ(findFamily("GPipe")->name, "gpipe");
    EXPECT_EQ(findFamily("fold"), nullptr);
    EXPECT_EQ(findFamily(""), nullptr);
}

TEST(Families, AnAliasMakesTheScheduleOfTheFamily) {
    const auto made = makeSchedule("LoopedBFS", {.ranks = 2, .microbatches = 2, .chunks = 2});
    ASSERT_TRUE(made.ok());
    EXPECT_EQ(made->name, "folded");
    EXPECT_EQ(*made, *makeSchedule("folded", {.ranks = 2, .microbatches = 2, .chunks = 2}));
}

TEST(Families, EachStatesWhatAReaderNeeds) {
    for (const Family& family : families()) {
        EXPECT_NE(family.order, "") << family.name;
        EXPECT_NE(family.placement, "") << family.name;
        EXPECT_NE(family.source, "") << family.name;
        EXPECT_GE(family.weightCopies, 1) << family.name;
        EXPECT_EQ(family.forms.idle.empty(), family.forms.idleTime == nullptr) << family.name;
        EXPECT_EQ(family.forms.peak.empty(), family.forms.peakChunks == nullptr) << family.name;
        const bool splits = family.makeOrder != nullptr && [&] {
            GeneratorOptions options = completed(
                family, {.ranks = 2, .microbatches = 8, .chunks = std::max(family.chunks, 1)});
            for (const Action& action : family.makeOrder(options, family.place(options), 0)) {
                if (action.kind == ActionKind::WeightBackward) return true;
            }
            return false;
        }();
        EXPECT_EQ(family.splitsBackward, splits) << family.name;
    }
}

TEST(Families, TheDocumentHasARowForEachWithItsAliasesAndSource) {
    std::ifstream file(PLEAT_SOURCE_DIR "/docs/schedules.md");
    std::stringstream stream;
    stream << file.rdbuf();
    const std::string document = stream.str();
    for (const Family& family : families()) {
        const std::size_t begin = document.find("\n| `" + std::string(family.name) + "` |");
        ASSERT_NE(begin, std::string::npos) << family.name;
        const std::string row = document.substr(begin + 1, document.find('\n', begin + 1) - begin);
        for (const std::string_view alias : family.aliases)
            EXPECT_NE(row.find("`" + std::string(alias) + "`"), std::string::npos) << row;
        EXPECT_NE(row.find(family.source), std::string::npos) << row;
    }
}

}  // namespace
}  // namespace pleat::schedule
