#include "cli/command_import.h"

#include <memory>
#include <string>

#include "analysis/run_info.h"
#include "cli/exit_status.h"
#include "cli/text_file.h"
#include "cli/trace_input.h"
#include "report/info_report.h"
#include "store/writer.h"

namespace pleat::cli {
int convertTraces(const TraceInput& input, const std::string& output) {
    if (const auto allowed = input.mayWriteTo(output); !allowed) return fail(allowed.error());
    const base::Result<trace::Trace> trace = openTrace(input);
    if (!trace) return fail(trace.error());
    if (const auto written = store::writeTrace(*trace, output); !written)
        return fail(written.error());
    const auto written = writeText(report::renderText(analysis::describeRun(*trace)), "");
    return written ? kDone : fail(written.error());
}

void addImportCommand(CLI::App& app, int& exitStatus) {
    CLI::App* command = app.add_subcommand(
        "import",
        "Other tools' traces as one *.pleat file; says what was read, repaired and guessed");
    command->footer("Example: pleat import rank0.json.gz rank1.json.gz -o run.pleat");
    struct Arguments {
        TraceInput input;
        std::string output;
    };
    auto arguments = std::make_shared<Arguments>();
    addTraceInput(*command, arguments->input);
    command
        ->add_option("-o,--output", arguments->output,
                     "The *.pleat file to make; it must not exist")
        ->required();
    command->callback([arguments, &exitStatus] {
        exitStatus = convertTraces(arguments->input, arguments->output);
    });
}

}  // namespace pleat::cli
