#include "cli/command_report.h"

#include <memory>
#include <string>
#include <vector>

#include "analysis/run_analysis.h"
#include "cli/exit_status.h"
#include "cli/iteration_option.h"
#include "cli/text_file.h"
#include "cli/trace_input.h"
#include "report/json_report.h"
#include "report/text_report.h"

namespace pleat::cli {
namespace {

struct Arguments {
    TraceInput input;
    std::string format = "text";
    std::string output;
    std::vector<std::string> iterations;
    bool allRanks = false;
};

int run(const Arguments& arguments) {
    const auto iterations = iterationRanges(arguments.iterations);
    if (!iterations) return fail(iterations.error());
    if (const auto allowed = arguments.input.mayWriteTo(arguments.output); !allowed)
        return fail(allowed.error());
    const base::Result<trace::Trace> trace = openTrace(arguments.input);
    if (!trace) return fail(trace.error());
    const base::Result<analysis::RunAnalysis> analysed =
        analysis::analyseRun(*trace, {*iterations});
    if (!analysed) return fail(analysed.error().within(arguments.input.name()));
    const auto written =
        writeText(arguments.format == "json"
                      ? report::renderJson(*analysed)
                      : report::renderText(*analysed, {.allRanks = arguments.allRanks}),
                  arguments.output);
    return written ? kDone : fail(written.error());
}

}  // namespace

void addReportCommand(CLI::App& app, int& exitStatus) {
    CLI::App* command =
        app.add_subcommand("report", "Where the iteration went: the whole analysis");
    command->footer("Example: pleat report demo.pleat --format json -o report.json");
    auto arguments = std::make_shared<Arguments>();
    addTraceInput(*command, arguments->input);
    command->add_option("--format", arguments->format, "text or json")
        ->capture_default_str()
        ->check(CLI::IsMember({"text", "json"}));
    command->add_option("-o,--output", arguments->output,
                        "Write to this file instead of standard output");
    addIterationOption(*command, arguments->iterations);
    command->add_flag("--all-ranks", arguments->allRanks,
                      "Print a row for every rank, also with 64 ranks and more (text only); "
                      "e.g. pleat report run.pleat --all-ranks");
    command->callback([arguments, &exitStatus] { exitStatus = run(*arguments); });
}

}  // namespace pleat::cli
