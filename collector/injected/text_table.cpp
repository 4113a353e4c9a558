#include "collector/injected/text_table.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace pleat::collector {
namespace {

constexpr std::size_t kFewestSlots = 1'024;
constexpr std::size_t kChunkBytes = std::size_t{1} << 16;

// FNV-1a.
std::uint64_t hashOf(std::string_view text) {
    std::uint64_t hash = 0xcbf2'9ce4'8422'2325;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100'0000'01b3;
    return hash ^ hash >> 32;
}

}  // namespace

void* mapMemory(std::size_t bytes) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? nullptr : memory;
}

void unmapMemory(void* memory, std::size_t bytes) { (void)munmap(memory, bytes); }

// Its own, or the free one where it belongs.
TextTable::Entry* TextTable::slotOf(std::string_view text) const {
    for (std::size_t i = hashOf(text);; ++i) {
        Entry& slot = m_slots[i & (m_capacity - 1)];
        if (slot.text == nullptr || std::string_view(slot.text, slot.bytes) == text) return &slot;
    }
}

const TextTable::Entry* TextTable::find(std::string_view text) const {
    if (m_capacity == 0) return nullptr;
    const Entry* slot = slotOf(text);
    return slot->text == nullptr ? nullptr : slot;
}

bool TextTable::grow() {
    TextTable larger{};
    larger.m_capacity = std::max(kFewestSlots, 2 * m_capacity);
    larger.m_slots = static_cast<Entry*>(mapMemory(larger.m_capacity * sizeof(Entry)));
    if (larger.m_slots == nullptr) return false;
    for (std::size_t i = 0; i < m_capacity; ++i) {
        const Entry& entry = m_slots[i];
        if (entry.text != nullptr) *larger.slotOf({entry.text, entry.bytes}) = entry;
    }
    if (m_slots != nullptr) unmapMemory(m_slots, m_capacity * sizeof(Entry));
    m_slots = larger.m_slots;
    m_capacity = larger.m_capacity;
    return true;
}

const char* TextTable::copyOf(std::string_view text) {
    const std::size_t bytes = text.size() + 1;
    if (bytes > m_left) {
        const std::size_t chunk = std::max(kChunkBytes, bytes);
        void* memory = mapMemory(chunk);
        if (memory == nullptr) return nullptr;
        m_chunk = static_cast<char*>(memory);
        m_left = chunk;
    }
    char* copy = m_chunk;
    if (!text.empty()) std::memcpy(copy, text.data(), text.size());
    m_chunk += bytes;
    m_left -= bytes;
    return copy;
}

const TextTable::Entry* TextTable::add(std::string_view text, std::uint32_t id) {
    if (2 * (m_count + 1) > m_capacity && !grow()) return nullptr;
    const char* copy = copyOf(text);
    if (copy == nullptr) return nullptr;
    Entry* slot = slotOf(text);
    *slot = {copy, static_cast<std::uint32_t>(text.size()), id};
    ++m_count;
    return slot;
}

}  // namespace pleat::collector
