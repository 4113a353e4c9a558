#include "timeline/palette.h"

#include <algorithm>
#include <cmath>

namespace pleat::timeline {
namespace {

// Black, the eighth, is the text's.
constexpr std::array<Rgb, kHues> kOkabeIto = {{
    {0, 114, 178},    // blue
    {0, 158, 115},    // bluish green
    {230, 159, 0},    // orange
    {213, 94, 0},     // vermilion
    {204, 121, 167},  // reddish purple
    {86, 180, 233},   // sky blue
    {240, 228, 66},   // yellow
}};

constexpr Palette makePalette(Rgb neutral, Rgb background, Rgb header, Rgb text, Rgb grid,
                              Rgb highlight, Rgb critical) {
    Palette made{{}, background, header, text, grid, highlight, critical};
    made.events[0] = neutral;
    for (std::size_t hue = 0; hue < kHues; ++hue) {
        made.events[1 + hue] = kOkabeIto[hue];
        made.events[1 + kHues + hue] = mixed(kOkabeIto[hue], {255, 255, 255}, 0.45);
        made.events[1 + 2 * kHues + hue] = mixed(kOkabeIto[hue], {0, 0, 0}, 0.4);
    }
    return made;
}

constexpr Palette kLight = makePalette({150, 150, 150}, {255, 255, 255}, {238, 240, 243},
                                       {20, 20, 20}, {222, 224, 228}, {0, 0, 0}, {200, 0, 0});
constexpr Palette kDark = makePalette({150, 150, 150}, {24, 26, 30}, {38, 41, 47}, {232, 232, 232},
                                      {56, 60, 68}, {255, 255, 255}, {255, 80, 80});

}  // namespace

const Palette& palette(Theme theme) { return theme == Theme::Light ? kLight : kDark; }

double luminance(Rgb colour) {
    const auto linear = [](std::uint8_t part) {
        const double value = part / 255.0;
        return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(colour.red) + 0.7152 * linear(colour.green) +
           0.0722 * linear(colour.blue);
}

double contrast(Rgb a, Rgb b) {
    const double first = luminance(a), second = luminance(b);
    return (std::max(first, second) + 0.05) / (std::min(first, second) + 0.05);
}

Rgb textOn(Rgb colour) {
    constexpr Rgb kBlack{0, 0, 0}, kWhite{255, 255, 255};
    return contrast(colour, kBlack) >= contrast(colour, kWhite) ? kBlack : kWhite;
}

}  // namespace pleat::timeline
