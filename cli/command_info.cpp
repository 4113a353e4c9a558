#include "cli/command_info.h"

#include <memory>
#include <string>

#include "analysis/run_info.h"
#include "cli/trace_answer.h"
#include "report/info_report.h"
#include "report/json_report.h"

namespace pleat::cli {

void addInfoCommand(CLI::App& app, int& exitStatus) {
    CLI::App* command =
        app.add_subcommand("info", "Ranks, lanes, events, iterations and schedule of a trace");
    command->footer("Example: pleat info demo.pleat");
    auto question = std::make_shared<TraceQuestion>();
    addQuestion(*command, *question, {Format::Text, Format::Json});
    command->callback([question, &exitStatus] {
        exitStatus =
            answerQuestion(*question, [&](const trace::Trace& trace) -> base::Result<std::string> {
                const analysis::RunInfo info = analysis::describeRun(trace);
                return question->format == Format::Json ? report::renderJson(info)
                                                        : report::renderText(info);
            });
    });
}

}  // namespace pleat::cli
