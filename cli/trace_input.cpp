#include "cli/trace_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/say.h"
#include "importers/import.h"
#include "opening/open_trace.h"

namespace pleat::cli {
namespace {

namespace fs = std::filesystem;

base::Error usage(std::string message) { return {base::ErrorCode::Usage, std::move(message)}; }

base::Result<opening::OpenRequest> requestOf(const TraceInput& input) {
    opening::OpenRequest request;
    request.files.assign(input.files.begin(), input.files.end());
    request.rules = input.rules;
    for (const std::string& given : input.ranks) {
        if (const auto added = request.addRank(given); !added) return added.error();
    }
    return request;
}

}  // namespace

std::string TraceInput::name() const {
    return opening::OpenRequest{{files.begin(), files.end()}, {}, {}}.name();
}

base::Result<void> TraceInput::mayWriteTo(const std::string& output) const {
    const auto isOutput = [&](const fs::path& file) {
        std::error_code ignored;
        return fs::equivalent(file, output, ignored);
    };
    const std::vector<fs::path> given(files.begin(), files.end());
    const auto read = importers::traceFiles(given);
    if (read && std::any_of(read->begin(), read->end(), isOutput)) {
        return usage(
            fmt::format("-o {}: is the trace itself; give the output another name", output));
    }
    if (!rules.empty() && isOutput(rules)) {
        return usage(
            fmt::format("-o {}: is the rules' file; give the output another name", output));
    }
    return {};
}

void addTraceInput(CLI::App& command, TraceInput& input) {
    command
        .add_option(
            "trace", input.files,
            "A *.pleat file; or files of PyTorch's profiler, Chrome's trace format or Nsight "
            "Systems (SQLite), or a folder of them")
        ->required();
    command
        .add_option("--rank", input.ranks,
                    "FILE=N: this file is rank N, or its ranks are numbered from N on; "
                    "FILE=4,5,6,7: number each")
        ->allow_extra_args(false);
    command.add_option("--rules", input.rules,
                       "JSON file that says what names of events mean (docs/importing.md)");
}

base::Result<trace::Trace> openTrace(const TraceInput& input) {
    const auto request = requestOf(input);
    if (!request) return request.error();
    base::Result<opening::OpenedTrace> opened = opening::openTrace(*request);
    if (!opened) return opened.error();
    if (!opened->finished) {
        base::say(fmt::format(
            "pleat: {}: the recording is still running or was interrupted; this is what it "
            "holds now",
            opened->database.string()));
    }
    return std::move(opened->trace);
}

}  // namespace pleat::cli
