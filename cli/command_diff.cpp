#include "cli/command_diff.h"

#include <memory>
#include <string>
#include <vector>

#include "analysis/compare.h"
#include "cli/exit_status.h"
#include "cli/iteration_option.h"
#include "cli/text_file.h"
#include "cli/trace_input.h"
#include "report/diff_report.h"
#include "report/json_report.h"

namespace pleat::cli {
namespace {

constexpr const char* kNewIterations = "--new-iterations";

struct Arguments {
    std::string base, other;
    std::string rules;
    std::string format = "text";
    std::string output;
    std::vector<std::string> iterations, newIterations;
};

// One run is read, reduced to its series and let go before the next: both need not fit in memory.
base::Result<analysis::RunSeries> readSeries(
    const TraceInput& input, const std::vector<analysis::IterationRange>& iterations) {
    const base::Result<trace::Trace> trace = openTrace(input);
    if (!trace) return trace.error();
    auto series = analysis::seriesOf(*trace, {iterations});
    if (!series) return series.error().within(input.name());
    return series;
}

std::string render(const analysis::Comparison& comparison, const std::string& format) {
    if (format == "json") return report::renderJson(comparison);
    return format == "markdown" ? report::renderMarkdown(comparison)
                                : report::renderText(comparison);
}

int run(const Arguments& arguments) {
    const auto iterations = iterationRanges(arguments.iterations);
    if (!iterations) return fail(iterations.error());
    const auto newIterations = arguments.newIterations.empty()
                                   ? iterations
                                   : iterationRanges(arguments.newIterations, kNewIterations);
    if (!newIterations) return fail(newIterations.error());
    const TraceInput base{{arguments.base}, {}, arguments.rules};
    const TraceInput other{{arguments.other}, {}, arguments.rules};
    for (const TraceInput* input : {&base, &other}) {
        if (const auto allowed = input->mayWriteTo(arguments.output); !allowed)
            return fail(allowed.error());
    }
    const auto baseSeries = readSeries(base, *iterations);
    if (!baseSeries) return fail(baseSeries.error());
    const auto newSeries = readSeries(other, *newIterations);
    if (!newSeries) return fail(newSeries.error());
    const auto written = writeText(
        render(analysis::compareRuns(*baseSeries, *newSeries), arguments.format), arguments.output);
    return written ? kDone : fail(written.error());
}

}  // namespace

void addDiffCommand(CLI::App& app, int& exitStatus) {
    CLI::App* command =
        app.add_subcommand("diff", "Did it get better, and why: two runs side by side");
    command->footer(
        "Example: pleat diff demo.pleat demo.pleat --iterations 1:5 --new-iterations 6:11");
    auto arguments = std::make_shared<Arguments>();
    command
        ->add_option("base", arguments->base,
                     "The run before: a *.pleat file, another tool's trace, or a folder of a run's "
                     "files")
        ->required();
    command->add_option("new", arguments->other, "The run after, the same")->required();
    command->add_option("--format", arguments->format, "text, json or markdown")
        ->capture_default_str()
        ->check(CLI::IsMember({"text", "json", "markdown"}));
    command->add_option("-o,--output", arguments->output,
                        "Write to this file instead of standard output");
    addIterationOption(*command, arguments->iterations);
    addIterationOption(*command, arguments->newIterations, kNewIterations,
                       "The same of the run after, where it is to be another range");
    command->add_option("--rules", arguments->rules,
                        "JSON file that says what names of events mean (docs/importing.md)");
    command->callback([arguments, &exitStatus] { exitStatus = run(*arguments); });
}

}  // namespace pleat::cli
