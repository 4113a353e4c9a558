// Reports as a person reads them, compared with the files under tests/golden. After an intended
// change: PLEAT_UPDATE_GOLDEN=1 build/release/bin/report_test, and read the difference.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "report/units.h"

namespace pleat::testing {

// Characters, for a line may hold letters of several bytes.
inline std::size_t charactersOf(const std::string& line) {
    std::size_t characters = 0;
    for (const char c : line) characters += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    return characters;
}

inline void expectNoLongLine(const std::string& text, std::size_t width = report::kTextWidth) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(charactersOf(line), width) << line;
}

inline void expectGolden(const std::string& name, const std::string& text,
                         std::size_t width = report::kTextWidth) {
    const std::string path = PLEAT_SOURCE_DIR "/tests/golden/" + name;
    if (std::getenv("PLEAT_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
    std::ostringstream golden;
    golden << std::ifstream(path).rdbuf();
    EXPECT_EQ(text, golden.str()) << path;
    expectNoLongLine(text, width);
}

}  // namespace pleat::testing
