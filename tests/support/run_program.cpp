#include "support/run_program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace pleat::test {
namespace {

std::string contents(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

class TemporaryFolder {
  public:
    TemporaryFolder() {
        std::string pattern = std::filesystem::temp_directory_path() / "pleat-test-XXXXXX";
        if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make " + pattern);
        m_path = pattern;
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(m_path, ignored);
    }
    [[nodiscard]] const std::filesystem::path& path() const { return m_path; }

  private:
    std::filesystem::path m_path;
};

[[noreturn]] void become(const std::vector<std::string>& command,
                         const std::map<std::string, std::string>& environment,
                         const std::string& outputFile, const std::string& errorFile) {
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
    dup2(open(outputFile.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), STDOUT_FILENO);
    dup2(open(errorFile.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), STDERR_FILENO);
    std::vector<char*> arguments;
    for (const std::string& argument : command)
        arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    _exit(127);
}

}  // namespace

std::string temporaryPath(const std::string& name) {
    static const TemporaryFolder folder;
    static int count = 0;
    return folder.path() / (std::to_string(count++) + "-" + name);
}

RunningProgram::RunningProgram(const std::vector<std::string>& command,
                               const std::map<std::string, std::string>& environment)
    : m_outputFile(temporaryPath("stdout")), m_errorFile(temporaryPath("stderr")) {
    m_pid = fork();
    if (m_pid < 0) throw std::runtime_error("cannot fork");
    if (m_pid == 0) become(command, environment, m_outputFile, m_errorFile);
}

RunningProgram::~RunningProgram() {
    if (!running()) return;
    kill(m_pid, SIGKILL);
    waitpid(m_pid, &m_waitStatus, 0);
}

bool RunningProgram::running() {
    if (!m_ended) m_ended = waitpid(m_pid, &m_waitStatus, WNOHANG) == m_pid;
    return !m_ended;
}

ProgramResult RunningProgram::wait() {
    if (!m_ended) m_ended = waitpid(m_pid, &m_waitStatus, 0) == m_pid;
    const int status =
        WIFSIGNALED(m_waitStatus) ? 128 + WTERMSIG(m_waitStatus) : WEXITSTATUS(m_waitStatus);
    return {status, contents(m_outputFile), contents(m_errorFile)};
}

ProgramResult runProgram(const std::vector<std::string>& command,
                         const std::map<std::string, std::string>& environment) {
    return RunningProgram(command, environment).wait();
}

}  // namespace pleat::test
