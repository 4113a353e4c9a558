#include "cli/command_export.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string>

#include "base/say.h"
#include "cli/exit_status.h"
#include "cli/output_file.h"
#include "cli/trace_answer.h"
#include "cli/version.h"
#include "report/chrome_trace.h"
#include "report/event_csv.h"
#include "store/writer.h"

namespace pleat::cli {
namespace {

struct Arguments {
    opening::OpenRequest trace;
    Format format = Format::Chrome;
    std::string output;
};

base::Result<void> write(const Arguments& arguments, const trace::Trace& trace,
                         OutputFile& output) {
    const report::TextSink sink = [&](std::string_view text) { return output.write(text); };
    if (arguments.format == Format::Csv) return report::writeEventCsv(trace, sink);
    const report::ChromeOptions options{std::string(kVersion), store::originUnixNs(trace)};
    const base::Result<base::Diagnostics> written = report::writeChromeTrace(trace, options, sink);
    if (!written) return written.error();
    for (const base::Diagnostic& entry : written->entries()) {
        base::say(fmt::format("pleat: {}: {} x {}, e.g. {}", arguments.trace.name(), entry.count,
                              entry.code, entry.example));
    }
    return {};
}

int run(const Arguments& arguments) {
    if (const auto allowed = arguments.trace.mayWriteTo(arguments.output); !allowed)
        return fail(allowed.error().within("-o"));
    const base::Result<trace::Trace> trace = readTrace(arguments.trace);
    if (!trace) return fail(trace.error());
    base::Result<OutputFile> output = OutputFile::open(arguments.output);
    if (!output) return fail(output.error());
    if (const auto written = write(arguments, *trace, *output); !written)
        return fail(written.error());
    return finish(output->finish());
}

}  // namespace

void addExportCommand(CLI::App& app, int& exitStatus) {
    CLI::App* command =
        app.add_subcommand("export", "Export events to Perfetto (Chrome JSON) or CSV");
    command->footer("Example: pleat export demo.pleat --format chrome -o demo.json");
    auto arguments = std::make_shared<Arguments>();
    addTrace(*command, arguments->trace);
    addFormat(*command, arguments->format, {Format::Chrome, Format::Csv});
    addOutput(*command, arguments->output);
    command->callback([arguments, &exitStatus] { exitStatus = run(*arguments); });
}

}  // namespace pleat::cli
