#include "base/string_pool.h"

namespace pleat::base {

StringId StringPool::intern(std::string_view text) {
    if (const auto known = m_index.find(text); known != m_index.end()) return known->second;
    const StringId id = StringId::at(m_texts.size());
    m_index.emplace(m_texts.emplace_back(text), id);
    return id;
}

std::optional<StringId> StringPool::find(std::string_view text) const {
    const auto known = m_index.find(text);
    return known == m_index.end() ? std::nullopt : std::optional(known->second);
}

std::string_view StringPool::text(StringId id) const {
    return id.valid() ? std::string_view(m_texts[id.index()]) : std::string_view();
}

}  // namespace pleat::base
