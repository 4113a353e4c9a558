#include "base/diagnostics.h"

#include <gtest/gtest.h>

namespace pleat::base {
namespace {

TEST(Diagnostics, CountsByCodeAndKeepsTheFirstExample) {
    Diagnostics diagnostics;
    diagnostics.add(Severity::DataLoss, "dropped_event", "thread 7 at 12 ns");
    diagnostics.add(Severity::DataLoss, "dropped_event", "thread 8 at 13 ns", 4);
    diagnostics.add(Severity::Info, "older_dialect", "B read as I");
    ASSERT_EQ(diagnostics.entries().size(), 2U);
    EXPECT_EQ(diagnostics.find("dropped_event")->count, 5);
    EXPECT_EQ(diagnostics.find("dropped_event")->example, "thread 7 at 12 ns");
    EXPECT_EQ(diagnostics.find("absent"), nullptr);
}

TEST(Diagnostics, AddingASetAddsItsCounts) {
    Diagnostics all, part;
    all.add(Severity::Info, "a", "first");
    part.add(Severity::Info, "a", "second", 2);
    part.add(Severity::Error, "b", "third");
    all.add(part);
    EXPECT_EQ(all.find("a")->count, 3);
    EXPECT_EQ(all.find("a")->example, "first");
    EXPECT_EQ(all.find("b")->severity, Severity::Error);
}

}  // namespace
}  // namespace pleat::base
