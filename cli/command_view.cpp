#include "cli/command_view.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/exit_status.h"

namespace pleat::cli {
namespace {

namespace fs = std::filesystem;

struct Arguments {
    std::vector<std::string> files, ranks, others;
    std::string rules;
};

// The viewer lies beside this program, wherever both were installed. Returns only where it cannot
// be started.
int run(const Arguments& arguments) {
    std::error_code failed;
    const fs::path self = fs::read_symlink("/proc/self/exe", failed);
    const fs::path viewer = self.parent_path() / "pleat-gui";
    if (failed || !fs::exists(viewer, failed)) {
        return fail({base::ErrorCode::Unsupported,
                     fmt::format("{}: the viewer is not installed; build Pleat where Qt 6 is found "
                                 "(scripts/setup.sh installs it)",
                                 viewer.string())});
    }
    std::vector<std::string> words{viewer.string()};
    for (const std::string& rank : arguments.ranks) words.insert(words.end(), {"--rank", rank});
    for (const std::string& other : arguments.others) words.insert(words.end(), {"--with", other});
    if (!arguments.rules.empty()) words.insert(words.end(), {"--rules", arguments.rules});
    words.emplace_back("--");
    words.insert(words.end(), arguments.files.begin(), arguments.files.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    execv(viewer.c_str(), pointers.data());
    return fail({base::ErrorCode::Io,
                 fmt::format("{}: cannot be started: {}", viewer.string(), std::strerror(errno))});
}

}  // namespace

void addViewCommand(CLI::App& app, int& exitStatus) {
    CLI::App* command = app.add_subcommand("view", "The desktop viewer");
    command->footer("Example: pleat view demo.pleat");
    auto arguments = std::make_shared<Arguments>();
    command->add_option("trace", arguments->files, "What to open: files or a folder, as elsewhere");
    command->add_option("--rank", arguments->ranks, "FILE=N: this file is rank N")
        ->allow_extra_args(false);
    command->add_option("--with", arguments->others, "The run to compare it with")
        ->allow_extra_args(false);
    command->add_option("--rules", arguments->rules,
                        "JSON file that says what names of events mean (docs/importing.md)");
    command->callback([arguments, &exitStatus] { exitStatus = run(*arguments); });
}

}  // namespace pleat::cli
