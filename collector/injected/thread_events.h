// One thread's way into its ring: push, pop, start, end, mark. No lock, no allocation and no system
// call once a text has been seen from this thread; when the ring is full whole pairs are dropped
// and counted, and nothing ever waits.
#pragma once

#include <cstdint>
#include <string_view>

#include "collector/injected/process_state.h"

namespace pleat::collector {

// An event as the callbacks give it. `payload` are PayloadBlocks with their bytes.
struct EventInput {
    std::uint16_t domain = kDefaultDomain;
    std::uint32_t name = 0;
    std::uint32_t category = 0;
    std::string_view payload;
};

// The id of a C string, cached by its address; the contents are compared, because programs reuse
// buffers.
[[nodiscard]] std::uint32_t nameOf(const char* text);

int push(const EventInput& event);  // the level of the range, counted from 0
int pop(std::uint16_t domain);      // the level of the range that ends; negative without one
std::uint64_t start(const EventInput& event);  // the id that ends it; 0 when it is not recorded
void end(std::uint64_t range);
void mark(const EventInput& event);

}  // namespace pleat::collector
