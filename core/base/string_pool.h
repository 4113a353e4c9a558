// Interned text: each distinct string once, named by a 32-bit id in order of first use. Not
// thread-safe while interning; a frozen pool may be read from any thread.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/id.h"

namespace pleat::base {

using StringId = Id<struct StringTag>;

class StringPool {
  public:
    StringPool() = default;
    StringPool(const StringPool&) = delete;  // the index holds views into m_texts
    StringPool& operator=(const StringPool&) = delete;
    StringPool(StringPool&&) = default;
    StringPool& operator=(StringPool&&) = default;

    StringId intern(std::string_view text);
    [[nodiscard]] std::optional<StringId> find(std::string_view text) const;
    [[nodiscard]] std::string_view text(StringId id) const;  // empty for an invalid id
    [[nodiscard]] std::size_t size() const { return m_texts.size(); }

  private:
    std::deque<std::string> m_texts;  // a deque keeps the addresses of its strings
    std::unordered_map<std::string_view, StringId> m_index;
};

}  // namespace pleat::base
