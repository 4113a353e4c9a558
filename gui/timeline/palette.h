// The colours of a timeline as plain numbers. The hues are those of Okabe and Ito ("Color Universal
// Design", 2008), which people with any of the common colour-vision deficiencies tell apart; each
// also in a lighter and a darker shade. Constants, safe from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace pleat::timeline {

struct Rgb {
    std::uint8_t red = 0, green = 0, blue = 0;
    friend bool operator==(const Rgb&, const Rgb&) = default;
};

enum class Theme : std::uint8_t { Light, Dark };

// Index 0 is for what has no meaning in the chosen colouring; hue h in shade s (0 as it is, 1
// lighter, 2 darker) is 1 + s * kHues + h.
inline constexpr std::size_t kHues = 7, kShades = 3, kColours = 1 + kHues * kShades;

struct Palette {
    std::array<Rgb, kColours> events;
    Rgb background, header, text, grid, highlight;
    Rgb critical;  // the critical path's
};

[[nodiscard]] const Palette& palette(Theme theme);
// `share` (0 … 1) of the way from a colour to another.
[[nodiscard]] constexpr Rgb mixed(Rgb from, Rgb to, double share) {
    const auto part = [&](std::uint8_t a, std::uint8_t b) {
        return static_cast<std::uint8_t>(a * (1 - share) + b * share + 0.5);
    };
    return {part(from.red, to.red), part(from.green, to.green), part(from.blue, to.blue)};
}
// How light a colour looks, 0 … 1 (relative luminance, WCAG 2.1).
[[nodiscard]] double luminance(Rgb colour);
// The contrast ratio of two colours, 1 … 21 (WCAG 2.1).
[[nodiscard]] double contrast(Rgb a, Rgb b);
// Black or white, whichever reads better on a colour.
[[nodiscard]] Rgb textOn(Rgb colour);

}  // namespace pleat::timeline
