#include "cli/command_diff.h"

#include <memory>
#include <string>
#include <vector>

#include "analysis/compare.h"
#include "cli/exit_status.h"
#include "cli/output_file.h"
#include "cli/trace_answer.h"
#include "report/diff_report.h"
#include "report/json_report.h"

namespace pleat::cli {
namespace {

struct Arguments {
    std::string base, other;
    opening::OpenRequest reading;  // ranks and rules, of both
    Format format = Format::Text;
    std::string output;
    std::vector<analysis::IterationRange> iterations, newIterations;
};

// One run is read, reduced to its series and released before the next, because both together may
// not fit in memory.
base::Result<analysis::RunSeries> readSeries(
    const opening::OpenRequest& request, const std::vector<analysis::IterationRange>& iterations) {
    const base::Result<trace::Trace> trace = readTrace(request);
    if (!trace) return trace.error();
    auto series = analysis::seriesOf(*trace, {iterations});
    if (!series) return series.error().within(request.name());
    return series;
}

std::string render(const analysis::Comparison& comparison, Format format) {
    if (format == Format::Json) return report::renderJson(comparison);
    return format == Format::Markdown ? report::renderMarkdown(comparison)
                                      : report::renderText(comparison);
}

int run(const Arguments& arguments) {
    opening::OpenRequest base{{arguments.base}, {}, arguments.reading.rules};
    opening::OpenRequest other{{arguments.other}, {}, arguments.reading.rules};
    opening::OpenRequest* const runs[] = {&base, &other};
    if (const auto shared = opening::shareRanks(arguments.reading, runs); !shared)
        return fail(shared.error());
    for (const opening::OpenRequest* const request : runs) {
        if (const auto allowed = request->mayWriteTo(arguments.output); !allowed)
            return fail(allowed.error().within("-o"));
    }
    const auto baseSeries = readSeries(base, arguments.iterations);
    if (!baseSeries) return fail(baseSeries.error());
    const auto newSeries = readSeries(
        other, arguments.newIterations.empty() ? arguments.iterations : arguments.newIterations);
    if (!newSeries) return fail(newSeries.error());
    return finish(
        writeText(render(analysis::compareRuns(*baseSeries, *newSeries), arguments.format),
                  arguments.output));
}

}  // namespace

void addDiffCommand(CLI::App& app, int& exitStatus) {
    CLI::App* command =
        app.add_subcommand("diff", "Compare two runs: is the new one faster, and why");
    command->footer(
        "Example: pleat diff demo.pleat demo.pleat --iterations 1:5 --new-iterations 6:11");
    auto arguments = std::make_shared<Arguments>();
    command
        ->add_option("BASE", arguments->base,
                     "The old run: a *.pleat file, another tool's trace, or a folder of one run's "
                     "files")
        ->required()
        ->type_name("");
    command->add_option("NEW", arguments->other, "The new run (same formats as BASE)")
        ->required()
        ->type_name("");
    addReadingOptions(*command, arguments->reading);
    addFormat(*command, arguments->format, {Format::Text, Format::Json, Format::Markdown});
    addOutput(*command, arguments->output);
    addIterations(*command, arguments->iterations);
    addNewIterations(*command, arguments->newIterations);
    command->callback([arguments, &exitStatus] { exitStatus = run(*arguments); });
}

}  // namespace pleat::cli
