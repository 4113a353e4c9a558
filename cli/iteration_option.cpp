#include "cli/iteration_option.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

namespace pleat::cli {
namespace {

bool readNumber(std::string_view text, std::int32_t& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() && number >= 0;
}

}  // namespace

void addIterationOption(CLI::App& command, std::vector<std::string>& iterations) {
    addIterationOption(
        command, iterations, "--iterations",
        "Only iterations A:B, both included, or one; several with commas: 0:30,33:44");
}

void addIterationOption(CLI::App& command, std::vector<std::string>& iterations,
                        const std::string& option, const std::string& words) {
    command.add_option(option, iterations, words)->allow_extra_args(false)->delimiter(',');
}

base::Result<std::vector<analysis::IterationRange>> iterationRanges(
    const std::vector<std::string>& iterations, std::string_view option) {
    std::vector<analysis::IterationRange> ranges;
    for (const std::string& given : iterations) {
        const std::string_view whole = given;
        const std::size_t colon = whole.find(':');
        analysis::IterationRange range{};
        if (!readNumber(whole.substr(0, colon), range.first) ||
            !readNumber(colon == std::string::npos ? whole : whole.substr(colon + 1), range.last) ||
            range.first > range.last) {
            return base::Error{
                base::ErrorCode::Usage,
                fmt::format("{} {}: expected A:B with A <= B, both included, e.g. 2:11, or one "
                            "number",
                            option, given)};
        }
        ranges.push_back(range);
    }
    return ranges;
}

}  // namespace pleat::cli
