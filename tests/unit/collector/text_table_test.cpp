#include "collector/injected/text_table.h"

#include <gtest/gtest.h>

#include <string>

namespace pleat::collector {
namespace {

TEST(TextTable, FindsEveryTextItWasGivenAndNoOther) {
    static TextTable table;  // zero is its initial value
    EXPECT_EQ(table.find("never"), nullptr);
    const auto textOf = [](std::uint32_t i) {
        return i == 7 ? std::string() : std::string(i % 301, 'x') + std::to_string(i);
    };
    for (std::uint32_t i = 0; i < 5'000; ++i) ASSERT_NE(table.add(textOf(i), i + 1), nullptr);
    const char* const early = table.find(textOf(0))->text;
    const std::string huge(1 << 20, 'h');
    ASSERT_NE(table.add(huge, 9'999), nullptr);
    EXPECT_EQ(table.find(textOf(0))->text, early) << "a copy stays where it is";
    for (std::uint32_t i = 0; i < 5'000; ++i) {
        const TextTable::Entry* found = table.find(textOf(i));
        ASSERT_NE(found, nullptr);
        EXPECT_EQ(found->id, i + 1);
        EXPECT_EQ(found->text, textOf(i));
    }
    EXPECT_EQ(table.find(huge)->id, 9'999U);
    EXPECT_EQ(table.find(std::string("0\0", 2)), nullptr);
}

}  // namespace
}  // namespace pleat::collector
