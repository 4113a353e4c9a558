// Which of an event's arguments are worth their memory. A profiler writes hundreds of bytes with
// each of millions of events (grid sizes, tensor shapes); what analyses need of them is a
// correlation id, the size of a copy and what describes a communication. Events of programs that we
// do not know keep everything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pleat::importers {

inline constexpr std::size_t kMaximumArgumentBytes = 4'096;

// Is it a category that PyTorch's profiler writes, in any of its generations?
[[nodiscard]] bool isProfilerCategory(std::string_view category);
// Device work or waiting: such an event lies on a device stream.
[[nodiscard]] bool isDeviceCategory(std::string_view category);
// Does the name say that the event is communication between devices?
[[nodiscard]] bool namesCommunication(std::string_view name);

// "correlation" of a host call or of device work; 0 where there is none, or it does not fit.
[[nodiscard]] std::uint32_t correlationOf(std::string_view category, std::string_view arguments);

// Appends what is kept of `arguments` (a JSON object as written) as one JSON object without line
// breaks; nothing where nothing is kept. False where they were too large to keep.
[[nodiscard]] bool appendKeptArguments(char phase, std::string_view category, std::string_view name,
                                       std::string_view arguments, std::string& kept);

// The shared names of categories (trace/categories.h): 2021's "Kernel" is a "kernel".
[[nodiscard]] std::string_view canonicalCategory(std::string_view category);

}  // namespace pleat::importers
