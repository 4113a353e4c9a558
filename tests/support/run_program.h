// Runs a program in a test and hands back what it said: tests of the command line and of whole
// runs.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace pleat::test {

struct ProgramResult {
    int status = 0;  // exit status; 128 + signal when it was killed
    std::string output;
    std::string errors;
};

// A program that is running. The destructor kills it, so that a failed test leaves nothing behind.
class RunningProgram {
  public:
    // `environment` is added to the test's own.
    explicit RunningProgram(const std::vector<std::string>& command,
                            const std::map<std::string, std::string>& environment = {});
    RunningProgram(const RunningProgram&) = delete;
    RunningProgram& operator=(const RunningProgram&) = delete;
    ~RunningProgram();

    [[nodiscard]] pid_t pid() const { return m_pid; }
    [[nodiscard]] bool running();
    [[nodiscard]] ProgramResult wait();
    // False when it still runs after `limit`.
    [[nodiscard]] bool waitFor(std::chrono::seconds limit);
    [[nodiscard]] int status() const;  // once it has ended
    // What it has written so far.
    [[nodiscard]] std::string output() const;
    [[nodiscard]] std::string errors() const;

  private:
    pid_t m_pid = -1;
    int m_waitStatus = 0;
    bool m_ended = false;
    std::string m_outputFile, m_errorFile;
};

[[nodiscard]] ProgramResult runProgram(const std::vector<std::string>& command,
                                       const std::map<std::string, std::string>& environment = {});

// A path in a fresh folder of this test process, removed at exit.
[[nodiscard]] std::string temporaryPath(const std::string& name);

}  // namespace pleat::test
