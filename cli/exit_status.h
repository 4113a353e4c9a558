// Exit statuses of every command (docs/command_line.md) and how an error becomes one.
#pragma once

#include "base/result.h"

namespace pleat::cli {

inline constexpr int kDone = 0;
inline constexpr int kAnswerIsNo = 1;
inline constexpr int kWrongUsage = 2;
inline constexpr int kUnusableInput = 3;

// Prints "pleat: <message>" on stderr, with the option that it advises, and returns the status that
// belongs to the error's code.
[[nodiscard]] int fail(const base::Error& error) noexcept;
// kDone, or what fail() makes of the error.
[[nodiscard]] int finish(const base::Result<void>& done);

}  // namespace pleat::cli
