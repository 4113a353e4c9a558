#include "instrumented_runtime/environment.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <vector>

namespace pleat::runtime {
namespace {

struct Names {
    const char* rank;
    std::vector<const char*> size;  // the first that is set counts
    bool aloneCounts;
};

const std::vector<Names>& launchers() {
    static const std::vector<Names> kLaunchers = {
        {"RANK", {"WORLD_SIZE"}, true},
        {"OMPI_COMM_WORLD_RANK", {"OMPI_COMM_WORLD_SIZE"}, false},
        {"PMI_RANK", {"PMI_SIZE"}, false},
        {"SLURM_PROCID", {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"}, false},
    };
    return kLaunchers;
}

base::Result<std::int32_t> number(const char* name, const std::string& text, std::int32_t least,
                                  std::int32_t most) {
    std::int32_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stop != end || value < least || value > most) {
        return base::Error{
            base::ErrorCode::Usage,
            fmt::format("environment variable {} is '{}', which is not a number from {} to {}",
                        name, text, least, most)};
    }
    return value;
}

}  // namespace

base::Result<std::optional<RankEnvironment>> readEnvironment(const VariableLookup& variable) {
    for (const Names& names : launchers()) {
        const auto rankText = variable(names.rank);
        if (!rankText) continue;
        const char* sizeName = nullptr;
        for (const char* name : names.size) {
            if (sizeName == nullptr && variable(name)) sizeName = name;
        }
        if (sizeName == nullptr) {
            if (!names.aloneCounts) continue;
            return base::Error{base::ErrorCode::Usage,
                               fmt::format("environment variable {} is set but {} is not",
                                           names.rank, names.size.front())};
        }
        const auto size = number(sizeName, *variable(sizeName), 1, INT32_MAX);
        if (!size) return size.error();
        const auto rank = number(names.rank, *rankText, 0, *size - 1);
        if (!rank) return rank.error();
        if (*size == 1 && !names.aloneCounts) continue;
        RankEnvironment environment{*rank, *size};
        if (const auto address = variable("MASTER_ADDR")) environment.masterAddress = *address;
        if (const auto text = variable("MASTER_PORT")) {
            const auto port = number("MASTER_PORT", *text, 1, 65535);
            if (!port) return port.error();
            environment.masterPort = static_cast<std::uint16_t>(*port);
        }
        return std::optional(environment);
    }
    return std::optional<RankEnvironment>();
}

VariableLookup processVariables() {
    return [](const std::string& name) -> std::optional<std::string> {
        const char* value = std::getenv(name.c_str());
        return value == nullptr ? std::nullopt : std::optional<std::string>(value);
    };
}

}  // namespace pleat::runtime
