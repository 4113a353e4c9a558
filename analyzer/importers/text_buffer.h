// Characters that are read into and parsed where they lie: unlike a std::string it does not fill
// what it makes room for, and there is always room behind the text for one more character and for
// what simdjson reads beyond the end. One thread at a time.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

namespace pleat::importers {

class TextBuffer {
  public:
    static constexpr std::size_t kPadding = 65;  // simdjson's 64, and a closing bracket

    [[nodiscard]] std::size_t size() const { return m_size; }
    [[nodiscard]] char* data() { return m_characters.get(); }
    [[nodiscard]] std::string_view view() const { return {m_characters.get(), m_size}; }

    void clear() { m_size = 0; }
    // Characters beyond the present size are undefined. Keeps its memory.
    void resize(std::size_t size) {
        if (size > m_room) grow(size);
        m_size = size;
    }
    void dropFront(std::size_t count) {
        m_size -= count;
        std::memmove(data(), data() + count, m_size);
    }
    void assign(std::string_view text) {
        clear();
        insert(0, text);
    }
    void insert(std::size_t at, std::string_view text) {
        const std::size_t before = m_size;
        resize(before + text.size());
        std::memmove(data() + at + text.size(), data() + at, before - at);
        std::memcpy(data() + at, text.data(), text.size());
    }

  private:
    void grow(std::size_t size) {
        m_room = std::max(size, m_room + m_room / 2);
        auto larger = std::make_unique_for_overwrite<char[]>(m_room + kPadding);
        if (m_size > 0) std::memcpy(larger.get(), data(), m_size);
        m_characters = std::move(larger);
    }

    std::unique_ptr<char[]> m_characters = std::make_unique_for_overwrite<char[]>(kPadding);
    std::size_t m_size = 0, m_room = 0;
};

}  // namespace pleat::importers
