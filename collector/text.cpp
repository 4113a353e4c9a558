#include "collector/text.h"

#include <cstdint>

namespace pleat::collector {

namespace {

constexpr std::uint32_t kReplacement = 0xfffd;

bool isContinuation(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

std::size_t encode(std::uint32_t point, char (&out)[4]) {
    const auto low = [point](int shift) {
        return static_cast<char>(0x80 | ((point >> shift) & 0x3f));
    };
    if (point < 0x80) return out[0] = static_cast<char>(point), 1;
    if (point < 0x800) {
        out[0] = static_cast<char>(0xc0 | (point >> 6));
        return out[1] = low(0), 2;
    }
    if (point < 0x10000) {
        out[0] = static_cast<char>(0xe0 | (point >> 12));
        out[1] = low(6);
        return out[2] = low(0), 3;
    }
    out[0] = static_cast<char>(0xf0 | (point >> 18));
    out[1] = low(12);
    out[2] = low(6);
    return out[3] = low(0), 4;
}

// What may follow a lead byte: how many bytes in all, and the bounds of the second one.
struct Sequence {
    std::size_t length = 0;  // 0: no character begins so
    unsigned char low = 0x80, high = 0xbf;
};

Sequence sequenceOf(unsigned char lead) {
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

// Bytes of the character at the front of `text`; 0 when it is invalid, `bad` then says how many
// bytes one replacement stands for.
std::size_t validPrefix(std::string_view text, std::size_t& bad) {
    const Sequence sequence = sequenceOf(static_cast<unsigned char>(text[0]));
    bad = 1;
    if (sequence.length <= 1) return sequence.length;
    for (std::size_t i = 1; i < sequence.length; ++i) {
        if (i >= text.size()) return 0;
        const auto byte = static_cast<unsigned char>(text[i]);
        const bool ok =
            i == 1 ? byte >= sequence.low && byte <= sequence.high : isContinuation(text[i]);
        if (!ok) return 0;
        bad = i + 1;
    }
    return sequence.length;
}

}  // namespace

std::size_t wideToUtf8(const wchar_t* wide, char* buffer, std::size_t bufferBytes) {
    std::size_t size = 0;
    for (; *wide != L'\0'; ++wide) {
        auto point = static_cast<std::uint32_t>(*wide);
        if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) point = kReplacement;
        char bytes[4];
        const std::size_t count = encode(point, bytes);
        if (size + count > bufferBytes) break;
        for (std::size_t i = 0; i < count; ++i) buffer[size + i] = bytes[i];
        size += count;
    }
    return size;
}

std::string_view cutUtf8(std::string_view text, std::size_t bytes) {
    if (text.size() <= bytes) return text;
    std::size_t end = bytes;
    while (end > 0 && isContinuation(text[end])) --end;
    return text.substr(0, end);
}

std::string toValidUtf8(std::string_view text) {
    std::string valid;
    valid.reserve(text.size());
    while (!text.empty()) {
        std::size_t bad = 1;
        const std::size_t length = validPrefix(text, bad);
        if (length == 0) {
            valid += "\xef\xbf\xbd";
            text.remove_prefix(bad);
        } else {
            valid += text.substr(0, length);
            text.remove_prefix(length);
        }
    }
    return valid;
}

}  // namespace pleat::collector
