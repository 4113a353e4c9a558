#include "importers/event_batch.h"

#include <cstring>
#include <functional>

namespace pleat::importers {

std::uint32_t LocalTexts::intern(std::string_view text) {
    if (2 * (m_places.size() + 1) > m_slots.size()) grow();
    const auto hash = static_cast<std::uint32_t>(std::hash<std::string_view>()(text));
    const std::size_t mask = m_slots.size() - 1;
    for (std::size_t slot = hash & mask;; slot = (slot + 1) & mask) {
        if (m_slots[slot] == 0) {
            m_places.push_back({static_cast<std::uint32_t>(m_characters.size()),
                                static_cast<std::uint32_t>(text.size()), hash});
            m_characters.append(text);
            m_slots[slot] = static_cast<std::uint32_t>(m_places.size());
            return m_slots[slot] - 1;
        }
        const std::uint32_t number = m_slots[slot] - 1;
        if (m_places[number].hash == hash && this->text(number) == text) return number;
    }
}

void LocalTexts::grow() {
    m_slots.assign(m_slots.empty() ? 256 : 2 * m_slots.size(), 0);
    const std::size_t mask = m_slots.size() - 1;
    for (std::uint32_t number = 0; number < m_places.size(); ++number) {
        std::size_t slot = m_places[number].hash & mask;
        while (m_slots[slot] != 0) slot = (slot + 1) & mask;
        m_slots[slot] = number + 1;
    }
}

void LocalTexts::clear() {
    m_characters.clear();
    m_places.clear();
    std::fill(m_slots.begin(), m_slots.end(), 0);
}

void EventBatch::clear() {
    events.clear();
    texts.clear();
    categories.clear();
    traits.clear();
    m_nameTraits.clear();
    m_nameAfter.clear();
    launchArrows = 0;
    argumentText.clear();
    diagnostics = {};
    consumed = 0;
    listEnded = false;
}

std::uint32_t EventBatch::internCategory(std::string_view category) {
    const std::uint32_t guess = events.empty() ? kNoText : events.back().category;
    const std::uint32_t number = categories.intern(category, guess);
    if (number == traits.size()) traits.emplace_back(category);
    return number;
}

std::uint32_t EventBatch::internName(std::string_view name) {
    const std::uint32_t before = events.empty() ? kNoText : events.back().name;
    const bool known = before < m_nameAfter.size();
    const std::uint32_t number = texts.intern(name, known ? m_nameAfter[before] : kNoText);
    if (before == kNoText) return number;
    if (!known) m_nameAfter.resize(before + 1, kNoText);
    m_nameAfter[before] = number;
    return number;
}

NameTraits EventBatch::traitsOfName(std::uint32_t name) {
    if (name == kNoText) return {};
    if (name >= m_nameTraits.size()) m_nameTraits.resize(texts.size());
    std::optional<NameTraits>& known = m_nameTraits[name];
    if (!known) known = NameTraits(texts.text(name));
    return *known;
}

}  // namespace pleat::importers
