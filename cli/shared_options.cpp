#include "cli/shared_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/nearest_name.h"

namespace pleat::cli {
namespace {

const char* nameOf(Format format) {
    switch (format) {
        case Format::Text:
            return "text";
        case Format::Json:
            return "json";
        case Format::Markdown:
            return "markdown";
        case Format::Chrome:
            return "chrome";
        case Format::Csv:
            return "csv";
    }
    return "";
}

bool readNumber(std::string_view text, std::int32_t& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() && number >= 0;
}

analysis::IterationRange iterationRange(const std::string& option, std::string_view given) {
    const std::size_t colon = given.find(':');
    analysis::IterationRange range{};
    if (!readNumber(given.substr(0, colon), range.first) ||
        !readNumber(colon == std::string_view::npos ? given : given.substr(colon + 1),
                    range.last) ||
        range.first > range.last) {
        throw CLI::ValidationError(
            option, fmt::format("{}: expected A:B with A <= B, both included, e.g. 2:11, or one "
                                "number",
                                given));
    }
    return range;
}

void addIterationRanges(CLI::App& command, const std::string& option,
                        std::vector<analysis::IterationRange>& iterations,
                        const std::string& words) {
    command
        .add_option_function<std::vector<std::string>>(
            option,
            [option, &iterations](const std::vector<std::string>& given) {
                for (const std::string& one : given)
                    iterations.push_back(iterationRange(option, one));
            },
            words)
        ->allow_extra_args(false)
        ->delimiter(',')
        ->type_name("A:B");
}

}  // namespace

void addTrace(CLI::App& command, opening::OpenRequest& request) {
    command
        .add_option_function<std::vector<std::string>>(
            "TRACE",
            [&request](const std::vector<std::string>& files) {
                request.files.assign(files.begin(), files.end());
            },
            "A *.pleat file; or files from PyTorch's profiler, in Chrome's trace format or from "
            "Nsight Systems (SQLite); or a folder of them")
        ->required()
        ->type_name("");
    addReadingOptions(command, request);
}

void addReadingOptions(CLI::App& command, opening::OpenRequest& request) {
    command
        .add_option_function<std::vector<std::string>>(
            "--rank",
            [&request](const std::vector<std::string>& ranks) {
                for (const std::string& given : ranks) {
                    if (const auto added = request.addRank(given); !added)
                        throw CLI::ValidationError("--rank", added.error().message);
                }
            },
            "Number FILE's ranks from N, or one by one with FILE=4,5,6,7 (repeatable)")
        ->allow_extra_args(false)
        ->type_name("FILE=N");
    command
        .add_option("--rules", request.rules,
                    "Rules in JSON for what event names mean (docs/importing.md)")
        ->type_name("FILE");
}

void addFormat(CLI::App& command, Format& format, const std::vector<Format>& known) {
    std::vector<std::string_view> names;
    for (const Format one : known) names.emplace_back(nameOf(one));
    command
        .add_option_function<std::string>(
            "--format",
            [&format, known, names](const std::string& given) {
                const auto found = std::find(names.begin(), names.end(), given);
                if (found == names.end()) {
                    const std::string meant = base::nearestName(given, names);
                    throw CLI::ValidationError(
                        "--format",
                        fmt::format("{}: expected {}{}", given, fmt::join(names, " or "),
                                    meant.empty() ? "" : "; did you mean " + meant + "?"));
                }
                format = known[static_cast<std::size_t>(found - names.begin())];
            },
            fmt::format("How to write the answer (default: {})", nameOf(format)))
        ->type_name(fmt::format("{}", fmt::join(names, "|")));
}

void addOutput(CLI::App& command, std::string& output) {
    command
        .add_option("-o,--output", output,
                    "Write to FILE; - is standard output, which is the default")
        ->type_name("FILE");
}

void addNewTrace(CLI::App& command, std::string& output) {
    CLI::Option* option =
        command
            .add_option_function<std::string>(
                "-o,--output",
                [&output](const std::string& given) {
                    if (given == "-") {
                        throw CLI::ValidationError(
                            "-o", "a *.pleat file cannot go to standard output; name a file");
                    }
                    output = given;
                },
                "The *.pleat file to write; it must not exist yet" +
                    (output.empty() ? "" : fmt::format(" (default: {})", output)))
            ->type_name("FILE");
    if (output.empty()) option->required();
}

void addIterations(CLI::App& command, std::vector<analysis::IterationRange>& iterations) {
    addIterationRanges(command, "--iterations", iterations,
                       "Only iterations A to B, both included, or one; several with commas: "
                       "0:30,33:44");
}

void addNewIterations(CLI::App& command, std::vector<analysis::IterationRange>& iterations) {
    addIterationRanges(command, "--new-iterations", iterations,
                       "Iterations of the new run, where they differ from --iterations");
}

}  // namespace pleat::cli
