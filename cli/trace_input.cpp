#include "cli/trace_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <utility>

#include "annotate/annotate.h"
#include "annotate/rules.h"
#include "base/say.h"
#include "cli/text_file.h"
#include "importers/import.h"
#include "store/reader.h"

namespace pleat::cli {
namespace {

namespace fs = std::filesystem;

base::Error usage(std::string message) { return {base::ErrorCode::Usage, std::move(message)}; }

base::Result<importers::ImportOptions> importOptions(const TraceInput& input,
                                                     const std::vector<fs::path>& files) {
    importers::ImportOptions options;
    for (const std::string& given : input.ranks) {
        const std::size_t equals = given.rfind('=');
        std::int32_t number = -1;
        const char* first =
            given.data() + (equals == std::string::npos ? given.size() : equals + 1);
        const auto [end, error] = std::from_chars(first, given.data() + given.size(), number);
        if (error != std::errc() || end != given.data() + given.size() || number < 0) {
            return usage(fmt::format("--rank {}: expected FILE=N, e.g. trace.json=3", given));
        }
        const fs::path file = given.substr(0, equals);
        if (std::find(files.begin(), files.end(), file) == files.end())
            return usage(
                fmt::format("--rank {}: {} is not among the files to read", given, file.string()));
        options.ranks[file] = number;
    }
    return options;
}

base::Result<annotate::Rules> rulesOf(const TraceInput& input) {
    if (input.rules.empty()) return annotate::Rules();
    const base::Result<std::string> text = readTextFile(input.rules);
    if (!text) return text.error();
    return annotate::Rules::parse(*text, input.rules);
}

base::Result<trace::Trace> openRecording(const fs::path& file, const TraceInput& input) {
    base::Result<store::LoadedTrace> loaded = store::load(file);
    if (!loaded) return loaded.error();
    if (!loaded->finished) {
        base::say(fmt::format(
            "pleat: {}: the recording is still running or was interrupted; this is what it "
            "holds now",
            file.string()));
    }
    // Rules may say more than the recorder knew.
    if (loaded->annotated && input.rules.empty()) return std::move(loaded->trace);
    const auto rules = rulesOf(input);
    if (!rules) return rules.error();
    return annotate::annotate(loaded->trace, *rules);
}

}  // namespace

std::string TraceInput::name() const {
    if (files.size() == 1) return files.front();
    return fmt::format("{} and {} more", files.front(), files.size() - 1);
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
    command.add_option("--rank", input.ranks, "FILE=N: this file is rank N")
        ->allow_extra_args(false);
    command.add_option("--rules", input.rules,
                       "JSON file that says what names of events mean (docs/importing.md)");
}

base::Result<trace::Trace> openTrace(const TraceInput& input) {
    const std::vector<fs::path> given(input.files.begin(), input.files.end());
    const auto files = importers::traceFiles(given);
    if (!files) return files.error();
    const auto options = importOptions(input, *files);
    if (!options) return options.error();
    const auto isRecording = [](const fs::path& file) { return store::isPleatFile(file); };
    const auto recordings = std::count_if(files->begin(), files->end(), isRecording);
    if (recordings > 0 && files->size() > 1) {
        return base::Error{
            base::ErrorCode::Input,
            fmt::format("{}: is a recording of Pleat's, which holds all its ranks; "
                        "it cannot be read together with other files",
                        std::find_if(files->begin(), files->end(), isRecording)->string())};
    }
    const bool ours = recordings > 0 || files->front().extension() == ".pleat";
    if (ours) return openRecording(files->front(), input);
    const auto rules = rulesOf(input);
    if (!rules) return rules.error();
    base::Result<trace::Trace> imported = importers::importTraces(*files, *options);
    if (!imported) return imported.error();
    return files->size() > 1 ? annotate::annotateOnOneClock(std::move(*imported), *rules)
                             : annotate::annotate(*imported, *rules);
}

}  // namespace pleat::cli
