// Every fault of other tools that shared/bad-inputs.md collects has a test here that names its row
// ("bad-inputs 24, 25") and states the right outcome.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace {

namespace fs = std::filesystem;

std::string textOf(const fs::path& file) {
    std::ifstream in(file);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

std::set<int> rowsOf(const std::string& table) {
    std::set<int> rows;
    const std::regex row("^\\|([0-9]+)\\|", std::regex::multiline);
    for (std::sregex_iterator at(table.begin(), table.end(), row), end; at != end; ++at)
        rows.insert(std::stoi((*at)[1]));
    return rows;
}

std::set<int> rowsTested() {
    std::set<int> tested;
    const std::regex comment("// bad-inputs ([0-9, ]+)"), number("[0-9]+");
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(PLEAT_SOURCE_DIR) / "tests" / "unit")) {
        if (entry.path().extension() != ".cpp") continue;
        const std::string text = textOf(entry.path());
        for (std::sregex_iterator at(text.begin(), text.end(), comment), end; at != end; ++at) {
            const std::string list = (*at)[1];
            for (std::sregex_iterator n(list.begin(), list.end(), number); n != end; ++n)
                tested.insert(std::stoi(n->str()));
        }
    }
    return tested;
}

TEST(KnownFaults, EachHasATest) {
    const fs::path table = fs::path(PLEAT_SOURCE_DIR) / ".." / "shared" / "bad-inputs.md";
    if (!fs::exists(table)) GTEST_SKIP() << "no ../shared/bad-inputs.md beside the checkout";
    const std::set<int> rows = rowsOf(textOf(table)), tested = rowsTested();
    EXPECT_GE(rows.size(), 40U);
    for (const int row : rows) {
        EXPECT_TRUE(tested.contains(row)) << "row " << row << " has no test";
    }
}

}  // namespace
