#include "cli/command_merge.h"

#include <memory>
#include <string>

#include "cli/command_import.h"
#include "cli/trace_input.h"

namespace pleat::cli {

void addMergeCommand(CLI::App& app, int& exitStatus) {
    CLI::App* command = app.add_subcommand(
        "merge", "Join the recordings of several nodes into one *.pleat file, clocks aligned");
    command->footer("Example: pleat merge node0.pleat node1.pleat -o run.pleat");
    struct Arguments {
        TraceInput input;
        std::string output;
    };
    auto arguments = std::make_shared<Arguments>();
    addTraceInput(*command, arguments->input);
    command
        ->add_option("-o,--output", arguments->output,
                     "The *.pleat file to write; it must not exist yet")
        ->required();
    command->callback([arguments, &exitStatus] {
        exitStatus = convertTraces(arguments->input, arguments->output);
    });
}

}  // namespace pleat::cli
