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
#include "cli/shared_options.h"

namespace pleat::cli {
namespace {

namespace fs = std::filesystem;

struct Arguments {
    std::vector<std::string> files, others;
    opening::OpenRequest reading;  // ranks and rules
};

// The viewer is installed beside this program. Returns only if it cannot be started.
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
    for (const auto& [file, numbers] : arguments.reading.ranks) {
        words.insert(words.end(),
                     {"--rank", fmt::format("{}={}", file.string(), fmt::join(numbers, ","))});
    }
    for (const std::string& other : arguments.others) words.insert(words.end(), {"--with", other});
    if (!arguments.reading.rules.empty())
        words.insert(words.end(), {"--rules", arguments.reading.rules});
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
    CLI::App* command = app.add_subcommand("view", "Open the desktop viewer");
    command->footer("Example: pleat view demo.pleat");
    auto arguments = std::make_shared<Arguments>();
    command
        ->add_option("TRACE", arguments->files,
                     "What to open: a *.pleat file, other tools' files or a folder of them")
        ->type_name("");
    addReadingOptions(*command, arguments->reading);
    command
        ->add_option("--with", arguments->others,
                     "Compare with this run (repeat it for a run of several files)")
        ->allow_extra_args(false)
        ->type_name("FILE");
    command->callback([arguments, &exitStatus] { exitStatus = run(*arguments); });
}

}  // namespace pleat::cli
