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

// As written in 2021 or for other makers' devices, and what they are called here.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kOldCategories = {{
    {"Operator", categories::kOperator},
    {"Kernel", categories::kKernel},
    {"Runtime", categories::kRuntimeCall},
    {"Memcpy", categories::kCopy},
    {"Memset", categories::kSet},
    {"user_function", categories::kAnnotation},
    {"mtia_ccp_events", categories::kKernel},  // what MTIA's processors run
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

// How PyTorch begins the names of categories of other makers' devices.
constexpr std::array<std::string_view, 4> kAccelerators = {"mtia_", "xpu_", "hpu_", "privateuse1_"};

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

bool isSpaceOrMark(char c) {
    return c == '\n' || c == '\r' || c == '\t' || c == ' ' || c == ',' || c == ':' || c == '{' ||
           c == '}' || c == '[' || c == ']' || c == '"';
}

// A number as JSON writes it, or true, false, null.
bool isScalar(std::string_view token) {
    if (token == "true" || token == "false" || token == "null") return true;
    std::size_t at = token.starts_with('-') ? 1 : 0;
    const auto digits = [&] {
        const std::size_t first = at;
        while (at < token.size() && token[at] >= '0' && token[at] <= '9') ++at;
        return at > first;
    };
    const std::size_t whole = at;
    if (!digits() || (token[whole] == '0' && at > whole + 1)) return false;
    if (at < token.size() && token[at] == '.' && (++at, !digits())) return false;
    if (at < token.size() && (token[at] == 'e' || token[at] == 'E')) {
        ++at;
        if (at < token.size() && (token[at] == '+' || token[at] == '-')) ++at;
        if (!digits()) return false;
    }
    return at == token.size();
}

// Copies JSON without the line breaks and indentation between its tokens; puts quotes around words
// that are none of JSON's (0x7f40, ncclFloat32, NaN) and returns how many there were.
std::size_t appendCompact(std::string_view json, std::string& out) {
    std::size_t quoted = 0;
    for (std::size_t at = 0; at < json.size();) {
        const char c = json[at];
        std::size_t end = at + 1;
        if (c == '"') {
            while (end < json.size() && json[end] != '"') end += json[end] == '\\' ? 2 : 1;
            end = std::min(end + 1, json.size());
            out += json.substr(at, end - at);
        } else if (!isSpaceOrMark(c)) {
            while (end < json.size() && !isSpaceOrMark(json[end])) ++end;
            const std::string_view token = json.substr(at, end - at);
            if (isScalar(token)) {
                out += token;
            } else {
                out += '"';
                out += token;
                out += '"';
                ++quoted;
            }
        } else if (c != '\n' && c != '\r' && c != '\t' && c != ' ') {
            out += c;
        }
        at = end;
    }
    return quoted;
}

// Who waited for whom: a host call and the device's record of it share a correlation id, and the
// record names the stream and the recorded event that were waited for.
void appendOrder(std::string_view arguments, std::string& kept) {
    const std::size_t before = kept.size();
    for (const std::string_view key :
         {"correlation", "stream", "wait_on_stream", "wait_on_cuda_event_record_corr_id"}) {
        std::uint64_t number = 0;
        if (!numberAfter(arguments, key, number) || !std::in_range<std::uint32_t>(number))
            continue;  // -1: none
        kept += kept.size() == before ? "{\"" : ",\"";
        kept += key;
        kept += "\":" + std::to_string(number);
    }
    if (kept.size() > before) kept += '}';
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
    // Accelerators of other makers: xpu_runtime, mtia_runtime, privateuse1_driver, …
    if (category.ends_with("_runtime")) return categories::kRuntimeCall;
    if (category.ends_with("_driver")) return categories::kDriverCall;
    return category;
}

CategoryTraits::CategoryTraits(std::string_view category) {
    const std::string_view name = canonicalCategory(category);
    profiler = std::find(kProfilerCategories.begin(), kProfilerCategories.end(), name) !=
               kProfilerCategories.end();
    deviceWork = categories::isDeviceWork(name);
    deviceSync = name == categories::kDeviceSync;
    onDevice = deviceWork || deviceSync || name == categories::kDeviceAnnotation;
    kernel = name == categories::kKernel;
    copy = name == categories::kCopy;
    call = name == categories::kRuntimeCall || name == categories::kDriverCall;
    annotation = name == categories::kAnnotation || name == "collective_comm";
    unknownAccelerator =
        !profiler && std::any_of(kAccelerators.begin(), kAccelerators.end(),
                                 [&](std::string_view maker) { return name.starts_with(maker); });
    launchArrow = name == "ac2g" || name == "async_cpu_to_gpu";
}

NameTraits::NameTraits(std::string_view name)
    : communicationCall(name == "record_param_comms" || name.starts_with("nccl:")),
      communicationKernel(categories::isCommunicationKernel(name)),
      ordersStreams(categories::isWaitingCall(name) ||
                    name.find("EventRecord") != std::string_view::npos) {}

std::uint32_t correlationOf(const CategoryTraits& category, std::string_view arguments) {
    if (!category.deviceWork && !category.call) return 0;
    std::uint64_t number = 0;
    const bool found = numberAfter(arguments, "correlation", number);
    return found && std::in_range<std::uint32_t>(number) ? static_cast<std::uint32_t>(number) : 0;
}

KeptArguments appendKeptArguments(char phase, const CategoryTraits& category, NameTraits name,
                                  std::string_view arguments, std::string& kept) {
    const bool known = phase != 'M' && category.profiler;
    if (known && category.copy) {
        std::uint64_t bytes = 0;
        if (numberAfter(arguments, "bytes", bytes))
            kept += "{\"bytes\":" + std::to_string(bytes) + "}";
        return {};
    }
    if (known && (category.deviceSync || (category.call && name.ordersStreams))) {
        appendOrder(arguments, kept);
        return {};
    }
    if (known && !mayDescribeCommunication(category, name)) return {};
    if (arguments.size() <= 2) return {};
    if (arguments.size() > 4 * kMaximumArgumentBytes) return {.tooLarge = true};
    const std::size_t before = kept.size();
    const std::size_t quoted = appendCompact(arguments, kept);
    if (kept.size() - before <= kMaximumArgumentBytes) return {.quotedWords = quoted};
    kept.resize(before);
    return {.tooLarge = true};
}

}  // namespace pleat::importers
