// Which of an event's arguments are worth their memory. A profiler writes hundreds of bytes with
// each of millions of events (grid sizes, tensor shapes); what analyses need of them is a
// correlation id, the size of a copy, what was waited for and what describes a communication.
// Events of programs that we do not know keep everything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pleat::importers {

inline constexpr std::size_t kMaximumArgumentBytes = 4'096;

// What a category says of its events. Texts are compared here, once per category of a batch and not
// for every event.
struct CategoryTraits {
    CategoryTraits() = default;
    explicit CategoryTraits(std::string_view category);

    bool profiler = false;    // PyTorch's profiler writes it, in any of its generations
    bool onDevice = false;    // device work or waiting: such an event lies on a device stream
    bool deviceWork = false;  // the stream works while it lasts
    bool deviceSync = false;  // a wait, as the device recorded it
    bool kernel = false, copy = false;
    bool call = false;                // of a runtime or a driver
    bool annotation = false;          // may describe communication, whatever its name
    bool unknownAccelerator = false;  // of a device whose categories of work we do not know
    bool launchArrow = false;         // from a call to its work: correlation ids say that too
};

// What a name says of its events, likewise.
struct NameTraits {
    NameTraits() = default;
    explicit NameTraits(std::string_view name);

    bool communicationCall = false;    // NCCL's and PyTorch's names of host calls
    bool communicationKernel = false;  // if a kernel is called so
    bool ordersStreams = false;        // if a call is: it waits, or records an event to wait for
};

// "correlation" of a host call or of device work; 0 where there is none, or it does not fit.
[[nodiscard]] std::uint32_t correlationOf(const CategoryTraits& category,
                                          std::string_view arguments);

struct KeptArguments {
    bool tooLarge = false;        // nothing was kept, for that reason
    std::size_t quotedWords = 0;  // values that JSON does not have (0x7f40, NaN), kept as strings
};

// Appends what is kept of `arguments` (a JSON object as written) as one JSON object without line
// breaks; nothing where nothing is kept.
[[nodiscard]] KeptArguments appendKeptArguments(char phase, const CategoryTraits& category,
                                                NameTraits name, std::string_view arguments,
                                                std::string& kept);

// The shared names of categories (trace/categories.h): 2021's "Kernel" is a "kernel".
[[nodiscard]] std::string_view canonicalCategory(std::string_view category);

}  // namespace pleat::importers
