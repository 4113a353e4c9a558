#include "cli/command_report.h"

#include <memory>
#include <string>

#include "analysis/run_analysis.h"
#include "cli/trace_answer.h"
#include "report/json_report.h"
#include "report/text_report.h"

namespace pleat::cli {
namespace {

struct Arguments {
    TraceQuestion question;
    analysis::AnalysisOptions analysis;
    report::TextOptions text;
};

int run(const Arguments& arguments) {
    return answerQuestion(arguments.question,
                          [&](const trace::Trace& trace) -> base::Result<std::string> {
                              const auto analysed = analysis::analyseRun(trace, arguments.analysis);
                              if (!analysed) return analysed.error();
                              return arguments.question.format == Format::Json
                                         ? report::renderJson(*analysed)
                                         : report::renderText(*analysed, arguments.text);
                          });
}

}  // namespace

void addReportCommand(CLI::App& app, int& exitStatus) {
    CLI::App* command =
        app.add_subcommand("report", "The whole analysis: where each iteration's time went");
    command->footer("Example: pleat report demo.pleat --format json -o report.json");
    auto arguments = std::make_shared<Arguments>();
    addQuestion(*command, arguments->question, {Format::Text, Format::Json});
    addIterations(*command, arguments->analysis.iterations);
    command->add_flag("--all-ranks", arguments->text.allRanks,
                      "A row for every rank, even with 64 ranks or more (text only)");
    command->callback([arguments, &exitStatus] { exitStatus = run(*arguments); });
}

}  // namespace pleat::cli
