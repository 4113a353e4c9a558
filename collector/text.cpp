#include "collector/text.h"

#include <cstdint>

#include "base/utf8.h"

namespace pleat::collector {

namespace {

constexpr std::uint32_t kReplacement = 0xfffd;

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

std::string toValidUtf8(std::string_view text) {
    std::string valid;
    valid.reserve(text.size());
    while (!text.empty()) {
        const base::Utf8Prefix prefix = base::utf8Prefix(text);
        if (prefix.length == 0) {
            valid += "\xef\xbf\xbd";
            text.remove_prefix(prefix.invalid);
        } else {
            valid += text.substr(0, prefix.length);
            text.remove_prefix(prefix.length);
        }
    }
    return valid;
}

}  // namespace pleat::collector
