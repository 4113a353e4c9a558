// Runs build/…/bin/pleat-train for tests: start with arguments and variables, wait, read what it
// wrote.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace pleat::runtime {

inline std::string readText(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

class TemporaryFolder {
  public:
    TemporaryFolder() {
        std::string pattern = std::filesystem::temp_directory_path() / "pleat_train_test_XXXXXX";
        m_path = ::mkdtemp(pattern.data());
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(m_path, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    [[nodiscard]] std::string path(const std::string& name) const { return m_path / name; }

  private:
    std::filesystem::path m_path;
};

// A running pleat-train with its output in files. Killed when it goes out of scope.
class TrainProgram {
  public:
    using Variables = std::vector<std::pair<std::string, std::string>>;

    explicit TrainProgram(std::vector<std::string> arguments, const Variables& variables = {}) {
        arguments.insert(arguments.begin(), PLEAT_BIN_DIR "/pleat-train");
        std::vector<char*> pointers;
        for (std::string& argument : arguments) pointers.push_back(argument.data());
        pointers.push_back(nullptr);
        const std::string out = m_folder.path("out"), error = m_folder.path("error");
        m_process = ::fork();
        if (m_process != 0) return;
        constexpr int kFlags = O_CREAT | O_WRONLY | O_TRUNC;
        ::dup2(::open(out.c_str(), kFlags, 0600), STDOUT_FILENO);
        ::dup2(::open(error.c_str(), kFlags, 0600), STDERR_FILENO);
        for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
        ::execv(pointers[0], pointers.data());
        ::_exit(127);
    }
    ~TrainProgram() {
        if (m_process > 0) {
            ::kill(m_process, SIGKILL);
            ::waitpid(m_process, nullptr, 0);
        }
    }
    TrainProgram(const TrainProgram&) = delete;
    TrainProgram& operator=(const TrainProgram&) = delete;

    // The exit status, or -1 when it has not ended by then; 128 + n after a signal.
    int wait(std::chrono::seconds limit = std::chrono::seconds(120)) {
        const auto end = std::chrono::steady_clock::now() + limit;
        while (std::chrono::steady_clock::now() < end) {
            int status = 0;
            if (::waitpid(m_process, &status, WNOHANG) == m_process) {
                m_process = 0;
                return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        return -1;
    }
    [[nodiscard]] pid_t process() const { return m_process; }
    [[nodiscard]] std::string out() const { return readText(m_folder.path("out")); }
    [[nodiscard]] std::string error() const { return readText(m_folder.path("error")); }

  private:
    TemporaryFolder m_folder;
    pid_t m_process = 0;
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
