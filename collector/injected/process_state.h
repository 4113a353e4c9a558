// What the injected library knows about the program it lives in: where the rings are, the process
// ring with the definitions, interned strings, domains. It lies in memory that a fork wipes, so a
// forked child starts anew under its own process id and never writes into its parent's rings; what
// its parent had defined (the program still holds those handles) it copies from the parent's ring.
#pragma once

#include <cstdint>
#include <string_view>

#include "collector/ring.h"

namespace pleat::collector {

inline constexpr std::uint16_t kDefaultDomain = 0;
inline constexpr std::uint16_t kMaximumDomains = 64;     // numbered below this
inline constexpr std::uint16_t kIgnoredDomain = 0xffff;  // filtered out, or one too many

// False where there is no recorder to write for (no ring folder in the environment): every callback
// is inert then.
[[nodiscard]] bool recorderPresent();

// A file of `slots` records in the ring folder, or of fewer (down to 512) where there is no room
// for so many, mapped and touched; null with errno when none can be made. `number` names the thread
// in its process.
[[nodiscard]] RingHeader* makeRing(RingKind kind, std::uint32_t number, std::uint64_t slots);

// A text's id, and its own copy, which lives as long as the process. Id 0: it is not numbered and
// has to travel with the event, because a program that makes up names without end has used up the
// room for them.
struct InternedText {
    std::uint32_t id = 0;
    const char* copy = nullptr;
};
enum class TextUse {
    Event,
    Handle
};  // a handle has no event to travel with: it may use the reserve

// Takes a lock: callers cache it.
[[nodiscard]] InternedText internText(std::string_view text, TextUse use);

[[nodiscard]] std::uint16_t defineDomain(std::string_view name);
[[nodiscard]] bool isRecorded(std::uint16_t domain);
void defineSchema(std::uint64_t id, std::string_view layout);
void defineCategory(std::uint16_t domain, std::uint32_t category, std::string_view name);
void defineThreadName(std::int64_t threadId, std::string_view name);
void sayGoodbye();

// Numbers the threads of the process from 1, schemas from far above the ids programs choose, ranges
// uniquely over a process and those it forked from.
[[nodiscard]] std::uint32_t nextThreadNumber();
[[nodiscard]] std::uint64_t nextSchemaId();
[[nodiscard]] std::uint64_t nextRangeId();
// An event for which the thread has no ring.
void countDroppedEvent();
// Changes in a forked child: whatever a thread cached before belongs to the parent.
[[nodiscard]] std::uint64_t generation();

}  // namespace pleat::collector
