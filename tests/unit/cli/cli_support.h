// Runs the pleat program for the tests of the command line.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/run_program.h"

namespace pleat {

inline test::ProgramResult run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), PLEAT_BIN_DIR "/pleat");
    return test::runProgram(arguments);
}

// No output, and one line on stderr that contains `words`.
inline void expectOneLine(const test::ProgramResult& result, int status, const std::string& words) {
    EXPECT_EQ(result.status, status) << result.errors;
    EXPECT_EQ(result.output, "");
    EXPECT_EQ(std::count(result.errors.begin(), result.errors.end(), '\n'), 1) << result.errors;
    EXPECT_NE(result.errors.find(words), std::string::npos) << result.errors;
}

}  // namespace pleat
