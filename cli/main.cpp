// The pleat program: parses, calls, prints. What a command does lives in its command_*.cpp and
// below.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/exceptions.h"
#include "base/memory.h"
#include "base/nearest_name.h"
#include "base/say.h"
#include "cli/command_critical_path.h"
#include "cli/command_diff.h"
#include "cli/command_export.h"
#include "cli/command_import.h"
#include "cli/command_info.h"
#include "cli/command_report.h"
#include "cli/command_schedule.h"
#include "cli/command_sql.h"
#include "cli/command_view.h"
#include "cli/command_whatif.h"
#include "cli/exit_status.h"
#include "cli/help.h"
#include "cli/version.h"
#ifdef PLEAT_WITH_RECORDING
#include "cli/command_record.h"
#endif

namespace {

using namespace pleat;

// The subcommand the user got to before the mistake.
const CLI::App& innermost(const CLI::App& app) {
    const auto parsed = app.get_subcommands();
    return parsed.empty() ? app : innermost(*parsed.front());
}

// What the user may have meant: an option of the command, or a command's name.
std::string suggestion(const CLI::App& app, const std::string& given) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options()) {
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
    for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
    const std::vector<std::string_view> views(names.begin(), names.end());
    return base::nearestName(given.substr(0, given.find('=')), views);
}

// The first word nothing took. Where a command is missing the parser complains of that and not of
// the word that stands in its place.
std::string unknownWord(const CLI::App& command, const CLI::ParseError& error) {
    const bool unread = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr ||
                        dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
    const auto words = command.remaining();
    return unread && !words.empty() ? words.front() : std::string();
}

int usageError(const CLI::App& app, const CLI::ParseError& error) {
    const CLI::App& command = innermost(app);
    std::string message = error.what();
    if (message == "A subcommand is required") message = "a command is required";
    if (const std::string word = unknownWord(command, error); word == "--") {
        message = "a command is missing after --";
    } else if (!word.empty()) {
        const bool wantsCommand = !command.get_subcommands({}).empty();
        const char* kind = word.starts_with("-") ? "option" : wantsCommand ? "command" : "argument";
        message = fmt::format("unknown {} \"{}\"", kind, word);
        const std::string meant = suggestion(command, word);
        if (!meant.empty()) message += fmt::format("; did you mean {}?", meant);
    }
    std::string path;
    for (const CLI::App* at = &command; at != nullptr; at = at->get_parent())
        path = at->get_name() + (path.empty() ? "" : " ") + path;
    base::say(fmt::format("pleat: {} (see {} --help)", message, path));
    return cli::kWrongUsage;
}

// An unset shell variable must not become a default nobody asked for.
void refuseEmptyValues(CLI::App& app) {
    for (CLI::Option* option : app.get_options()) {
        if (option->get_items_expected_max() == 0) continue;  // a flag
        option->check(CLI::Validator(
            [](const std::string& value) {
                return value.empty() ? std::string("an empty value; leave the option out instead")
                                     : std::string();
            },
            ""));
    }
    for (CLI::App* command : app.get_subcommands({})) refuseEmptyValues(*command);
}

int run(int argumentCount, char** arguments) {
    CLI::App app(
        "Where did my training iteration go? Profiling and trace analysis for pipeline-parallel "
        "training",
        "pleat");
    cli::useHelp(app);
    app.require_subcommand(1);
    app.set_version_flag("--version", std::string(cli::kVersion));
    app.footer(
        "Example: pleat schedule show --schedule folded --ranks 2 --chunks 2 --microbatches 4");
    int exitStatus = cli::kDone;
#ifdef PLEAT_WITH_RECORDING
    cli::addRecordCommand(app, exitStatus);
#endif
    cli::addImportCommand(app, exitStatus);
    cli::addMergeCommand(app, exitStatus);
    cli::addInfoCommand(app, exitStatus);
    cli::addReportCommand(app, exitStatus);
    cli::addCriticalPathCommand(app, exitStatus);
    cli::addWhatIfCommand(app, exitStatus);
    cli::addDiffCommand(app, exitStatus);
    cli::addExportCommand(app, exitStatus);
    cli::addScheduleCommand(app, exitStatus);
    cli::addSqlCommand(app, exitStatus);
    cli::addViewCommand(app, exitStatus);
    refuseEmptyValues(app);
    try {
        app.parse(argumentCount, arguments);
    } catch (const CLI::Success& wanted) {  // --help, --version
        return app.exit(wanted);
    } catch (const CLI::ParseError& error) {
        return usageError(app, error);
    }
    return exitStatus;
}

}  // namespace

int main(int argumentCount, char** arguments) {
    base::keepFreedMemory();
    int exitStatus = cli::kUnusableInput;
    const base::Result<void> done =
        base::contained([&] { exitStatus = run(argumentCount, arguments); });
    return done ? exitStatus : cli::fail(done.error());
}
