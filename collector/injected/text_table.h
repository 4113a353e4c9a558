// Numbered texts of the program the library lives in. Their memory is mapped from the system: the
// program's own allocator may fail, throw, or be what is being traced. Not thread-safe. Zero is the
// initial value of every member.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pleat::collector {

// Zeroed, and never the program's; null where there is none. Whole pages: for much at a time.
[[nodiscard]] void* mapMemory(std::size_t bytes);
void unmapMemory(void* memory, std::size_t bytes);

class TextTable {
  public:
    struct Entry {
        const char* text;  // NUL-terminated copy, which stays where it is
        std::uint32_t bytes;
        std::uint32_t id;
    };
    // Null for a text that was not added.
    [[nodiscard]] const Entry* find(std::string_view text) const;
    // A text that is not there yet. Null where there is no memory for it.
    [[nodiscard]] const Entry* add(std::string_view text, std::uint32_t id);

  private:
    [[nodiscard]] Entry* slotOf(std::string_view text) const;
    [[nodiscard]] bool grow();
    [[nodiscard]] const char* copyOf(std::string_view text);

    Entry* m_slots;  // a power of two of them, at most half of them used; open addressing
    std::size_t m_capacity, m_count;
    char* m_chunk;  // what is left of the last memory for texts
    std::size_t m_left;
};

}  // namespace pleat::collector
