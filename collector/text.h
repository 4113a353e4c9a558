// Text as programs give it to NVTX, made UTF-8: wide strings converted, invalid bytes replaced by
// U+FFFD. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pleat::collector {

// Writes `wide` as UTF-8 into `buffer`, whole characters only, no NUL; returns the bytes written.
// Surrogates and values above U+10FFFF become U+FFFD. Allocates nothing.
[[nodiscard]] std::size_t wideToUtf8(const wchar_t* wide, char* buffer, std::size_t bufferBytes);

// `text` with every maximal invalid sequence replaced by U+FFFD (Unicode 15, table 3-7).
[[nodiscard]] std::string toValidUtf8(std::string_view text);

}  // namespace pleat::collector
