#include "support/run_program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "support/temporary_folder.h"

namespace pleat::test {
namespace {

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
    return folder.file(std::to_string(count++) + "-" + name);
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
    return {status(), output(), errors()};
}

bool RunningProgram::waitFor(std::chrono::seconds limit) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (running() && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return m_ended;
}

int RunningProgram::status() const {
    return WIFSIGNALED(m_waitStatus) ? 128 + WTERMSIG(m_waitStatus) : WEXITSTATUS(m_waitStatus);
}

std::string RunningProgram::output() const { return readBytes(m_outputFile); }
std::string RunningProgram::errors() const { return readBytes(m_errorFile); }

ProgramResult runProgram(const std::vector<std::string>& command,
                         const std::map<std::string, std::string>& environment) {
    return RunningProgram(command, environment).wait();
}

}  // namespace pleat::test
