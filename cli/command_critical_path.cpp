#include "cli/command_critical_path.h"

#include <memory>
#include <optional>
#include <string>

#include "analysis/path_analysis.h"
#include "analysis/rank_path.h"
#include "cli/exit_status.h"
#include "cli/text_file.h"
#include "cli/trace_input.h"
#include "report/json_report.h"
#include "report/path_report.h"
#include "report/rank_path_report.h"

namespace pleat::cli {
namespace {

struct Arguments {
    TraceInput input;
    std::string format = "text";
    std::optional<std::int32_t> iteration, rank;
};

template <class Path>
int print(const base::Result<Path>& path, const Arguments& arguments) {
    if (!path) return fail(path.error().within(arguments.input.name()));
    const auto written = writeText(
        arguments.format == "json" ? report::renderJson(*path) : report::renderText(*path), "");
    return written ? kDone : fail(written.error());
}

int run(const Arguments& arguments) {
    const base::Result<trace::Trace> trace = openTrace(arguments.input);
    if (!trace) return fail(trace.error());
    // Where nothing names tasks, ranks have paths of their own only.
    if (arguments.rank || trace->annotations().tasks.empty())
        return print(analysis::analyseRankPath(*trace, {arguments.rank, arguments.iteration}),
                     arguments);
    return print(analysis::analysePath(*trace, {arguments.iteration}), arguments);
}

}  // namespace

void addCriticalPathCommand(CLI::App& app, int& exitStatus) {
    CLI::App* command =
        app.add_subcommand("critical-path", "The chain across ranks that fixes the iteration time");
    command->footer("Example: pleat critical-path demo.pleat --iteration 5");
    auto arguments = std::make_shared<Arguments>();
    addTraceInput(*command, arguments->input);
    command->add_option("--format", arguments->format, "text or json")
        ->capture_default_str()
        ->check(CLI::IsMember({"text", "json"}));
    command->add_option("--iteration", arguments->iteration,
                        "Which; default: the one closest to the median");
    command->add_option("--of-rank", arguments->rank,
                        "The path of this rank alone, through its calls, launches, kernels and "
                        "waits; so without tasks");
    command->callback([arguments, &exitStatus] { exitStatus = run(*arguments); });
}

}  // namespace pleat::cli
