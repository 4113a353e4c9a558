#include "cli/command_info.h"

#include <memory>
#include <string>

#include "analysis/run_info.h"
#include "cli/exit_status.h"
#include "cli/text_file.h"
#include "cli/trace_input.h"
#include "report/info_report.h"
#include "report/json_report.h"

namespace pleat::cli {
namespace {

int run(const TraceInput& input, const std::string& format) {
    const base::Result<trace::Trace> trace = openTrace(input);
    if (!trace) return fail(trace.error());
    const analysis::RunInfo info = analysis::describeRun(*trace);
    const auto written =
        writeText(format == "json" ? report::renderJson(info) : report::renderText(info), "");
    return written ? kDone : fail(written.error());
}

}  // namespace

void addInfoCommand(CLI::App& app, int& exitStatus) {
    CLI::App* command = app.add_subcommand(
        "info", "What a trace holds: ranks, lanes, events, iterations, schedule");
    command->footer("Example: pleat info demo.pleat");
    struct Arguments {
        TraceInput input;
        std::string format = "text";
    };
    auto arguments = std::make_shared<Arguments>();
    addTraceInput(*command, arguments->input);
    command->add_option("--format", arguments->format, "text or json")
        ->capture_default_str()
        ->check(CLI::IsMember({"text", "json"}));
    command->callback(
        [arguments, &exitStatus] { exitStatus = run(arguments->input, arguments->format); });
}

}  // namespace pleat::cli
