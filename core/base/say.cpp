#include "base/say.h"

#include <fmt/format.h>

#include <unistd.h>

#include <cstdio>

#include "base/exceptions.h"
#include "base/utf8.h"

namespace pleat::base {

namespace {

// Overrides and isolates of direction, U+202A to U+202E and U+2066 to U+2069: they turn what
// follows, which is not of the name that they stand in.
bool turnsText(std::string_view character) {
    return (character >= "\u202a" && character <= "\u202e") ||
           (character >= "\u2066" && character <= "\u2069");
}

}  // namespace

std::string printable(std::string_view text, std::size_t most) {
    std::string line;
    while (!text.empty()) {
        const auto byte = static_cast<unsigned char>(text[0]);
        const std::size_t length = utf8Prefix(text).length;
        // C1 control characters are two bytes in UTF-8.
        const bool control =
            byte < 0x20 || byte == 0x7F ||
            (length == 2 && byte == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0);
        if (line.size() + 6 > most) return line + "…";
        if (turnsText(text.substr(0, length))) {
            line += fmt::format("\\u{:04x}",
                                0x2000 + (static_cast<unsigned char>(text[1]) - 0x80) * 0x40 +
                                    static_cast<unsigned char>(text[2]) - 0x80);
            text.remove_prefix(length);
        } else if (length == 0 || control) {
            line += byte == '\n' ? std::string("\\n") : fmt::format("\\x{:02x}", byte);
            text.remove_prefix(1);
        } else {
            line.append(text.substr(0, length));
            text.remove_prefix(length);
        }
    }
    return line;
}

void say(std::string_view line) noexcept {
    const Result<void> printed = contained([&] {
        const std::string whole = printable(line) + "\n";
        (void)std::fwrite(whole.data(), 1, whole.size(), stderr);
    });
    // Without memory for the line, only that can be said.
    if (!printed) (void)!::write(STDERR_FILENO, "pleat: out of memory\n", 21);
}

}  // namespace pleat::base
