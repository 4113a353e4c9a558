#include "importers/time_text.h"

#include <charconv>
#include <cmath>

#include "trace/limits.h"

namespace pleat::importers {
namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }

// Numbers with an exponent are rare, and written by programs that had a double in hand.
std::optional<std::int64_t> fromDouble(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    const double ns = std::round(value * 1'000);
    if (!(std::abs(ns) < static_cast<double>(trace::kFarthestNs))) return std::nullopt;
    return static_cast<std::int64_t>(ns);
}

// What nearly all times look like: digits that cannot overflow, then nothing or three decimals.
std::optional<std::int64_t> plainTime(std::string_view text) {
    constexpr std::size_t kLongest = 18;
    if (text.empty() || text.size() > kLongest || !isDigit(text.front())) return std::nullopt;
    std::int64_t ns = 0;
    std::size_t at = 0;
    for (; at < text.size() && isDigit(text[at]); ++at) ns = ns * 10 + (text[at] - '0');
    if (at + 4 != text.size() || text[at] != '.') return std::nullopt;
    for (++at; at < text.size(); ++at) {
        if (!isDigit(text[at])) return std::nullopt;
        ns = ns * 10 + (text[at] - '0');
    }
    return ns;
}

}  // namespace

std::optional<std::int64_t> nanosecondsOf(std::string_view text) {
    if (const auto plain = plainTime(text); plain && *plain <= trace::kFarthestNs) return plain;
    while (!text.empty() && (text.back() == ' ' || text.back() == '\n' || text.back() == '\r' ||
                             text.back() == '\t'))
        text.remove_suffix(1);
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
        text = text.substr(1, text.size() - 2);
    const std::string_view whole = text;
    const bool negative = !text.empty() && text.front() == '-';
    if (negative) text.remove_prefix(1);
    if (text.empty() || !isDigit(text.front())) return std::nullopt;
    std::int64_t ns = 0;
    std::size_t at = 0;
    for (; at < text.size() && isDigit(text[at]); ++at) {
        if (ns > trace::kFarthestNs / 10'000) return std::nullopt;
        ns = ns * 10 + (text[at] - '0');
    }
    int decimals = 0;
    bool roundUp = false;
    if (at < text.size() && text[at] == '.') {
        for (++at; at < text.size() && isDigit(text[at]); ++at, ++decimals) {
            if (decimals < 3) ns = ns * 10 + (text[at] - '0');
            if (decimals == 3) roundUp = text[at] >= '5';
        }
    }
    for (; decimals < 3; ++decimals) ns *= 10;
    if (at < text.size()) return fromDouble(whole);
    ns += roundUp ? 1 : 0;
    if (ns > trace::kFarthestNs) return std::nullopt;
    return negative ? -ns : ns;
}

}  // namespace pleat::importers
