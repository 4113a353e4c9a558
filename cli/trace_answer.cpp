#include "cli/trace_answer.h"

#include <fmt/format.h>

#include <utility>

#include "base/say.h"
#include "cli/exit_status.h"
#include "cli/output_file.h"

namespace pleat::cli {

void addQuestion(CLI::App& command, TraceQuestion& question, const std::vector<Format>& known) {
    addTrace(command, question.trace);
    addFormat(command, question.format, known);
    addOutput(command, question.output);
}

base::Result<trace::Trace> readTrace(const opening::OpenRequest& request) {
    base::Result<opening::OpenedTrace> opened = opening::openTrace(request);
    if (!opened) return opened.error();
    if (!opened->finished) {
        base::say(
            fmt::format("pleat: {}: the recording is still running or was interrupted; this "
                        "is what it holds so far",
                        opened->database.string()));
    }
    return std::move(opened->trace);
}

int answerQuestion(const TraceQuestion& question,
                   const std::function<base::Result<std::string>(const trace::Trace&)>& answer) {
    if (const auto allowed = question.trace.mayWriteTo(question.output); !allowed)
        return fail(allowed.error().within("-o"));
    const base::Result<trace::Trace> trace = readTrace(question.trace);
    if (!trace) return fail(trace.error());
    const base::Result<std::string> text = answer(*trace);
    if (!text) return fail(text.error().within(question.trace.name()));
    return finish(writeText(*text, question.output));
}

}  // namespace pleat::cli
