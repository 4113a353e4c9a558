#include "cli/command_import.h"

#include <memory>
#include <string>

#include "analysis/run_info.h"
#include "cli/exit_status.h"
#include "cli/output_file.h"
#include "cli/trace_answer.h"
#include "report/info_report.h"
#include "store/writer.h"

namespace pleat::cli {
namespace {

struct Arguments {
    opening::OpenRequest trace;
    std::string output;
};

int run(const Arguments& arguments) {
    if (const auto allowed = arguments.trace.mayWriteTo(arguments.output); !allowed)
        return fail(allowed.error().within("-o"));
    const base::Result<trace::Trace> trace = readTrace(arguments.trace);
    if (!trace) return fail(trace.error());
    if (const auto written = store::writeTrace(*trace, arguments.output); !written)
        return fail(written.error());
    return finish(writeText(report::renderText(analysis::describeRun(*trace)), ""));
}

// Both open their traces as one and write it; they differ in what people look for.
void add(CLI::App& app, int& exitStatus, const char* name, const char* does, const char* example) {
    CLI::App* command = app.add_subcommand(name, does);
    command->footer(example);
    auto arguments = std::make_shared<Arguments>();
    addTrace(*command, arguments->trace);
    addNewTrace(*command, arguments->output);
    command->callback([arguments, &exitStatus] { exitStatus = run(*arguments); });
}

}  // namespace

void addImportCommand(CLI::App& app, int& exitStatus) {
    add(app, exitStatus, "import",
        "Convert other tools' traces to one *.pleat file; prints what was read, repaired and "
        "guessed",
        "Example: pleat import rank0.json.gz rank1.json.gz -o run.pleat");
}

void addMergeCommand(CLI::App& app, int& exitStatus) {
    add(app, exitStatus, "merge",
        "Join the recordings of several nodes into one *.pleat file, with their clocks aligned",
        "Example: pleat merge node0.pleat node1.pleat -o run.pleat");
}

}  // namespace pleat::cli
