#include "base/diagnostics.h"

#include <gtest/gtest.h>

#include <string>

namespace pleat::base {
namespace {

TEST(Diagnostics, CountsByCodeAndKeepsTheFirstExample) {
    Diagnostics diagnostics;
    diagnostics.add("dropped_event", "thread 7 at 12 ns");
    diagnostics.add("dropped_event", "thread 8 at 13 ns", 4);
    diagnostics.add("older_dialect", "B read as I");
    ASSERT_EQ(diagnostics.entries().size(), 2U);
    EXPECT_EQ(diagnostics.find("dropped_event")->count, 5);
    EXPECT_EQ(diagnostics.find("dropped_event")->example, "thread 7 at 12 ns");
    EXPECT_EQ(diagnostics.find("absent"), nullptr);
}

TEST(Diagnostics, AddingASetAddsItsCounts) {
    Diagnostics all, part;
    all.add("open_range", "first");
    part.add("open_range", "second", 2);
    part.add("task_twice", "third");
    part.add(Diagnostic{Severity::DataLoss, "of_a_newer_version", 7, "fourth"});
    all.add(part);
    EXPECT_EQ(all.find("open_range")->count, 3);
    EXPECT_EQ(all.find("open_range")->example, "first");
    EXPECT_EQ(all.find("open_range")->severity, Severity::Info);
    EXPECT_EQ(all.find("task_twice")->severity, Severity::Error);
    EXPECT_EQ(all.find("of_a_newer_version")->count, 7);
}

TEST(Diagnostics, PutTheFirstExampleAloneIntoWords) {
    Diagnostics diagnostics;
    int worded = 0;
    for (int i = 0; i < 5; ++i) {
        diagnostics.add("open_range", [&] {
            ++worded;
            return std::string("range ") + std::to_string(i);
        });
    }
    EXPECT_EQ(worded, 1);
    EXPECT_EQ(diagnostics.find("open_range")->count, 5);
    EXPECT_EQ(diagnostics.find("open_range")->example, "range 0");
}

TEST(Diagnostics, AFamilyHasACodeForEachMember) {
    Diagnostics diagnostics;
    diagnostics.addMember("section_missing_*", "kernels", "no rows in KERNEL");
    diagnostics.addMember("section_missing_*", "copies", "no rows in MEMCPY");
    ASSERT_NE(diagnostics.find("section_missing_kernels"), nullptr);
    EXPECT_EQ(diagnostics.find("section_missing_kernels")->severity, Severity::Info);
    EXPECT_EQ(diagnostics.entries().size(), 2U);
    EXPECT_EQ(diagnosticKind("section_missing_copies"), diagnosticKind("section_missing_*"));
    EXPECT_EQ(diagnosticKind("section_missing"), nullptr);
}

}  // namespace
}  // namespace pleat::base
