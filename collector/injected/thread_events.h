// One thread's way into its ring: push, pop, start, end, mark. No lock, no allocation and no system
// call once a text has been seen from this thread; when the ring is full whole pairs are dropped
// and counted, and nothing ever waits.
#pragma once

#include <cstdint>
#include <string_view>

#include "collector/injected/process_state.h"

namespace pleat::collector {

// What an event is called: an id, or the text itself where it has none.
struct EventName {
    std::uint32_t id = 0;
    std::string_view text;
};

// An event as the callbacks give it. `payload` are PayloadBlocks with their bytes.
struct EventInput {
    std::uint16_t domain = kDefaultDomain;
    EventName name;
    std::uint32_t category = 0;
    std::string_view payload;
    bool payloadCut = false;  // some of its payload was too large to take
};

// The name that a C string is, cached by its address; the contents are compared, because programs
// reuse buffers. A text without an id is that of the caller.
[[nodiscard]] EventName nameOf(const char* text);
[[nodiscard]] EventName nameOf(std::string_view text);

int push(const EventInput& event);  // the level of the range, counted from 0
// The level of the range that ends, negative without one; `end` may bring a payload.
int pop(const EventInput& end);
std::uint64_t start(const EventInput& event);  // the id that ends it; 0 when it is not recorded
void end(std::uint64_t range, const EventInput& more);  // `more`: a payload that came with the end
void mark(const EventInput& event);

}  // namespace pleat::collector
