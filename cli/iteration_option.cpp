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
    command
        .add_option("--iterations", iterations,
                    "Only iterations A:B, both included, or one; several with commas: 0:30,33:44")
        ->allow_extra_args(false)
        ->delimiter(',');
}

base::Result<std::vector<analysis::IterationRange>> iterationRanges(
    const std::vector<std::string>& iterations) {
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
                fmt::format("--iterations {}: expected A:B with A <= B, both included, "
                            "e.g. 2:11, or one number",
                            given)};
        }
        ranges.push_back(range);
    }
    return ranges;
}

}  // namespace pleat::cli
