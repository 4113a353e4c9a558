// What UTF-8 is: Unicode 15, table 3-7. Header only and without an allocation, because it is
// compiled into recorded programs too.
#pragma once

#include <cstddef>
#include <string_view>

namespace pleat::base {

struct Utf8Prefix {
    std::size_t length = 0;   // bytes of the character at the front; 0 when there is none
    std::size_t invalid = 1;  // without one: how many bytes one replacement stands for
};

namespace detail {

// What may follow a lead byte: how many bytes in all, and the bounds of the second one.
struct Utf8Sequence {
    std::size_t length = 0;  // 0: no character begins so
    unsigned char low = 0x80, high = 0xbf;
};

inline Utf8Sequence utf8Sequence(unsigned char lead) {
    if (lead < 0x80) return {1};
    if (lead < 0xc2) return {0};
    if (lead < 0xe0) return {2};
    if (lead == 0xe0) return {3, 0xa0, 0xbf};
    if (lead == 0xed) return {3, 0x80, 0x9f};
    if (lead < 0xf0) return {3};
    if (lead == 0xf0) return {4, 0x90, 0xbf};
    if (lead < 0xf4) return {4};
    if (lead == 0xf4) return {4, 0x80, 0x8f};
    return {0};
}

}  // namespace detail

// `text` is not empty.
[[nodiscard]] inline Utf8Prefix utf8Prefix(std::string_view text) {
    const auto sequence = detail::utf8Sequence(static_cast<unsigned char>(text[0]));
    if (sequence.length <= 1) return {sequence.length, 1};
    Utf8Prefix prefix;
    for (std::size_t i = 1; i < sequence.length; ++i) {
        if (i >= text.size()) return prefix;
        const auto byte = static_cast<unsigned char>(text[i]);
        const bool ok =
            i == 1 ? byte >= sequence.low && byte <= sequence.high : (byte & 0xc0) == 0x80;
        if (!ok) return prefix;
        prefix.invalid = i + 1;
    }
    prefix.length = sequence.length;
    return prefix;
}

}  // namespace pleat::base
