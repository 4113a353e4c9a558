#include "importers/kept_arguments.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
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

// As std::string_view::find, which looks for first letters one by one and is several times slower.
std::size_t placeOf(std::string_view text, std::string_view part, std::size_t from) {
    const void* const found =
        memmem(text.data() + from, text.size() - from, part.data(), part.size());
    return found == nullptr
               ? kNowhere
               : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

// The number behind a key; nothing where it is missing or no such number.
bool numberAfter(std::string_view arguments, std::string_view key, std::uint64_t& number) {
    for (std::size_t found = placeOf(arguments, key, 0); found != kNowhere;
         found = placeOf(arguments, key, found + 1)) {
        const std::size_t quote = found + key.size();
        if (found == 0 || arguments[found - 1] != '"' || quote >= arguments.size() ||
            arguments[quote] != '"')
            continue;  // a part of another key
        std::size_t at = skipSpace(arguments, quote + 1);
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

bool mayDescribeCommunication(const CategoryTraits& category, NameTraits name) {
    return category.annotation || name.communicationCall ||
           (category.kernel && name.communicationKernel);
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

CategoryTraits::CategoryTraits(std::string_view category) {
    const std::string_view name = canonicalCategory(category);
    profiler = std::find(kProfilerCategories.begin(), kProfilerCategories.end(), name) !=
               kProfilerCategories.end();
    deviceWork = categories::isDeviceWork(name);
    onDevice =
        deviceWork || name == categories::kDeviceSync || name == categories::kDeviceAnnotation;
    kernel = name == categories::kKernel;
    copy = name == categories::kCopy;
    call = name == categories::kRuntimeCall || name == categories::kDriverCall;
    annotation = name == categories::kAnnotation || name == "collective_comm";
    launchArrow = name == "ac2g" || name == "async_cpu_to_gpu";
}

NameTraits::NameTraits(std::string_view name)
    : communicationCall(name == "record_param_comms" || name.starts_with("nccl:")),
      communicationKernel(categories::isCommunicationKernel(name)) {}

std::uint32_t correlationOf(const CategoryTraits& category, std::string_view arguments) {
    if (!category.deviceWork && !category.call) return 0;
    std::uint64_t number = 0;
    const bool found = numberAfter(arguments, "correlation", number);
    return found && std::in_range<std::uint32_t>(number) ? static_cast<std::uint32_t>(number) : 0;
}

bool appendKeptArguments(char phase, const CategoryTraits& category, NameTraits name,
                         std::string_view arguments, std::string& kept) {
    const bool known = phase != 'M' && category.profiler;
    if (known && category.copy) {
        std::uint64_t bytes = 0;
        if (numberAfter(arguments, "bytes", bytes))
            kept += "{\"bytes\":" + std::to_string(bytes) + "}";
        return true;
    }
    if (known && !mayDescribeCommunication(category, name)) return true;
    if (arguments.size() <= 2) return true;
    if (arguments.size() > 4 * kMaximumArgumentBytes) return false;
    const std::size_t before = kept.size();
    appendCompact(arguments, kept);
    if (kept.size() - before <= kMaximumArgumentBytes) return true;
    kept.resize(before);
    return false;
}

}  // namespace pleat::importers
