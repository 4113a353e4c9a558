// Text of traces and of our own libraries (UTF-8) as Qt has it, safe to show: control characters
// and broken UTF-8 become \xNN, what is longer than a screen is cut. Pure.
#pragma once

#include <QString>
#include <string_view>

#include "base/result.h"

namespace pleat::models {

inline constexpr std::size_t kMostShownBytes = 500;

[[nodiscard]] QString shownText(std::string_view text, std::size_t mostBytes = kMostShownBytes);
// The error's message, and how this program takes the setting that it advises.
[[nodiscard]] QString shownError(const base::Error& error);

}  // namespace pleat::models
