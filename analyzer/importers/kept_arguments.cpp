#include "importers/kept_arguments.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "importers/event_text.h"
#include "trace/categories.h"

namespace pleat::importers {
namespace {

namespace categories = trace::categories;

// As written in 2021, and what they are called since.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kOldCategories = {{
    {"Operator", categories::kOperator},
    {"Kernel", categories::kKernel},
    {"Runtime", categories::kRuntimeCall},
    {"Memcpy", categories::kCopy},
    {"Memset", categories::kSet},
    {"user_function", categories::kAnnotation},
}};

constexpr std::array<std::string_view, 16> kProfilerCategories = {
    categories::kKernel,
    categories::kCopy,
    categories::kSet,
    categories::kGraph,
    categories::kDeviceSync,
    categories::kDeviceAnnotation,
    categories::kRuntimeCall,
    categories::kDriverCall,
    categories::kOperator,
    categories::kAnnotation,
    "overhead",
    "python_function",
    "cpu_instant_event",
    "cuda_event",
    "Trace",
    "collective_comm",
};

// The number behind a key; nothing where it is missing or no such number.
bool numberAfter(std::string_view arguments, std::string_view quotedKey, std::uint64_t& number) {
    for (std::size_t key = arguments.find(quotedKey); key != kNowhere;
         key = arguments.find(quotedKey, key + 1)) {
        std::size_t at = skipSpace(arguments, key + quotedKey.size());
        if (at >= arguments.size() || arguments[at] != ':') continue;  // a value
        at = skipSpace(arguments, at + 1);
        const char* first = arguments.data() + at;
        const auto [end, error] =
            std::from_chars(first, arguments.data() + arguments.size(), number);
        return error == std::errc() && end != first;
    }
    return false;
}

// Copies JSON without the line breaks and indentation between its tokens.
void appendCompact(std::string_view json, std::string& out) {
    bool inString = false;
    for (std::size_t i = 0; i < json.size(); ++i) {
        const char c = json[i];
        if (c == '"') inString = !inString;
        if (!inString && (c == '\n' || c == '\r' || c == '\t' || c == ' ')) continue;
        out += c;
        if (c == '\\' && i + 1 < json.size()) out += json[++i];
    }
}

bool mayDescribeCommunication(std::string_view category, std::string_view name) {
    return name == "record_param_comms" || name.starts_with("nccl:") ||
           category == categories::kAnnotation || category == "collective_comm" ||
           (category == categories::kKernel && namesCommunication(name));
}

}  // namespace

std::string_view canonicalCategory(std::string_view category) {
    for (const auto& [old, now] : kOldCategories) {
        if (category == old) return now;
    }
    // Accelerators of other makers: xpu_runtime, mtia_ccp_events, privateuse1_driver, …
    if (category.ends_with("_runtime")) return categories::kRuntimeCall;
    if (category.ends_with("_driver")) return categories::kDriverCall;
    return category;
}

bool isProfilerCategory(std::string_view category) {
    return std::find(kProfilerCategories.begin(), kProfilerCategories.end(),
                     canonicalCategory(category)) != kProfilerCategories.end();
}

bool isDeviceCategory(std::string_view category) {
    const std::string_view name = canonicalCategory(category);
    return categories::isDeviceWork(name) || name == categories::kDeviceSync ||
           name == categories::kDeviceAnnotation;
}

bool namesCommunication(std::string_view name) {
    static constexpr std::array<std::string_view, 8> kParts = {
        "nccl", "NCCL", "rccl", "deep_ep", "DeepEP", "nvshmem", "NVSHMEM", "oneccl"};
    return std::any_of(kParts.begin(), kParts.end(), [&](std::string_view part) {
        return name.find(part) != std::string_view::npos;
    });
}

std::uint32_t correlationOf(std::string_view category, std::string_view arguments) {
    const std::string_view name = canonicalCategory(category);
    if (!categories::isDeviceWork(name) && name != categories::kRuntimeCall &&
        name != categories::kDriverCall)
        return 0;
    std::uint64_t number = 0;
    const bool found = numberAfter(arguments, "\"correlation\"", number);
    return found && std::in_range<std::uint32_t>(number) ? static_cast<std::uint32_t>(number) : 0;
}

bool appendKeptArguments(char phase, std::string_view category, std::string_view name,
                         std::string_view arguments, std::string& kept) {
    const bool known = phase != 'M' && isProfilerCategory(category);
    if (known && canonicalCategory(category) == categories::kCopy) {
        std::uint64_t bytes = 0;
        if (numberAfter(arguments, "\"bytes\"", bytes))
            kept += "{\"bytes\":" + std::to_string(bytes) + "}";
        return true;
    }
    if (known && !mayDescribeCommunication(canonicalCategory(category), name)) return true;
    if (arguments.size() <= 2) return true;
    if (arguments.size() > 4 * kMaximumArgumentBytes) return false;
    const std::size_t before = kept.size();
    appendCompact(arguments, kept);
    if (kept.size() - before <= kMaximumArgumentBytes) return true;
    kept.resize(before);
    return false;
}

}  // namespace pleat::importers
