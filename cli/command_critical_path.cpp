#include "cli/command_critical_path.h"

#include <memory>
#include <optional>
#include <string>

#include "analysis/path_analysis.h"
#include "cli/exit_status.h"
#include "cli/text_file.h"
#include "cli/trace_input.h"
#include "report/json_report.h"
#include "report/path_report.h"

namespace pleat::cli {
namespace {

int run(const TraceInput& input, const std::string& format, std::optional<std::int32_t> iteration) {
    const base::Result<trace::Trace> trace = openTrace(input);
    if (!trace) return fail(trace.error());
    const base::Result<analysis::PathAnalysis> path = analysis::analysePath(*trace, {iteration});
    if (!path) return fail(path.error().within(input.name()));
    const auto written =
        writeText(format == "json" ? report::renderJson(*path) : report::renderText(*path), "");
    return written ? kDone : fail(written.error());
}

}  // namespace

void addCriticalPathCommand(CLI::App& app, int& exitStatus) {
    CLI::App* command =
        app.add_subcommand("critical-path", "The chain across ranks that fixes the iteration time");
    command->footer("Example: pleat critical-path demo.pleat --iteration 5");
    struct Arguments {
        TraceInput input;
        std::string format = "text";
        std::int32_t iteration = 0;
    };
    auto arguments = std::make_shared<Arguments>();
    addTraceInput(*command, arguments->input);
    command->add_option("--format", arguments->format, "text or json")
        ->capture_default_str()
        ->check(CLI::IsMember({"text", "json"}));
    CLI::Option* iteration = command->add_option("--iteration", arguments->iteration,
                                                 "Which; default: the one closest to the median");
    command->callback([arguments, iteration, &exitStatus] {
        exitStatus =
            run(arguments->input, arguments->format,
                iteration->count() > 0 ? std::optional(arguments->iteration) : std::nullopt);
    });
}

}  // namespace pleat::cli
