// What most commands do: open a trace, ask one question about it, print the answer.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/shared_options.h"
#include "opening/open_trace.h"
#include "trace/trace.h"

namespace pleat::cli {

struct TraceQuestion {
    opening::OpenRequest trace;
    Format format = Format::Text;
    std::string output;
};

void addQuestion(CLI::App& command, TraceQuestion& question, const std::vector<Format>& known);

// Warns on stderr when a recording is still running or was interrupted.
[[nodiscard]] base::Result<trace::Trace> readTrace(const opening::OpenRequest& request);

// The exit status. `answer` makes the text to print; its errors are those of the trace and get its
// name.
[[nodiscard]] int answerQuestion(
    const TraceQuestion& question,
    const std::function<base::Result<std::string>(const trace::Trace&)>& answer);

}  // namespace pleat::cli
