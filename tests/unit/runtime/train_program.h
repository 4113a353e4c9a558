// Runs build/…/bin/pleat-train for tests: start with arguments and variables, wait, read what it
// wrote.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "support/run_program.h"
#include "support/temporary_folder.h"

namespace pleat::runtime {

using test::TemporaryFolder;

// A running pleat-train. Killed when it goes out of scope.
class TrainProgram {
  public:
    using Variables = std::map<std::string, std::string>;

    explicit TrainProgram(std::vector<std::string> arguments, const Variables& variables = {})
        : m_program(command(std::move(arguments)), variables) {}

    // The exit status, or -1 when it has not ended by then; 128 + n after a signal.
    int wait(std::chrono::seconds limit = std::chrono::seconds(120)) {
        return m_program.waitFor(limit) ? m_program.status() : -1;
    }
    [[nodiscard]] pid_t process() const { return m_program.pid(); }
    [[nodiscard]] std::string out() const { return m_program.output(); }
    [[nodiscard]] std::string error() const { return m_program.errors(); }

  private:
    static std::vector<std::string> command(std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), PLEAT_BIN_DIR "/pleat-train");
        return arguments;
    }
    test::RunningProgram m_program;
};

// The losses of a loss log, step by step; a test failure where a line is not "step,loss".
inline std::vector<double> readLosses(const std::string& file) {
    std::ifstream stream(file);
    std::string line;
    EXPECT_TRUE(std::getline(stream, line)) << file;
    EXPECT_EQ(line, "step,loss");
    std::vector<double> losses;
    while (std::getline(stream, line)) {
        EXPECT_EQ(line.substr(0, line.find(',')), std::to_string(losses.size()));
        losses.push_back(std::stod(line.substr(line.find(',') + 1)));
    }
    return losses;
}

}  // namespace pleat::runtime
