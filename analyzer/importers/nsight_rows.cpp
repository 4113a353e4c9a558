#include "importers/nsight_rows.h"

#include <utility>

namespace pleat::importers {
namespace {

// The finaliser of splitmix64 (Steele, Lea, Flood 2014).
std::uint64_t mixed(std::uint64_t value) {
    value = (value ^ (value >> 30)) * 0xbf58'476d'1ce4'e5b9U;
    value = (value ^ (value >> 27)) * 0x94d0'49bb'1331'11ebU;
    return value ^ (value >> 31);
}

}  // namespace

bool SeenRows::isNew(const store::Statement& row, int columns) {
    Fingerprint print{0x9e37'79b9'7f4a'7c15U, 0xc2b2'ae3d'27d4'eb4fU};
    for (int column = 0; column < columns; ++column) {
        // NULL is no number: it must differ from 0.
        const std::uint64_t isNull = row.isNull(column) ? 1 : 0;
        const auto value = static_cast<std::uint64_t>(row.integer(column));
        print.low = mixed(print.low + value + isNull);
        print.high = mixed((print.high ^ value) + 0x9e37'79b9'7f4a'7c15U + (isNull << 32));
    }
    if (print == Fingerprint{}) print.low = 1;
    if (2 * (m_count + 1) > m_slots.size()) grow();
    Fingerprint& slot = m_slots[slotOf(print)];
    if (slot == print) return false;
    slot = print;
    ++m_count;
    return true;
}

std::size_t SeenRows::slotOf(const Fingerprint& fingerprint) const {
    const std::size_t mask = m_slots.size() - 1;
    std::size_t slot = fingerprint.low & mask;
    while (m_slots[slot] != Fingerprint{} && m_slots[slot] != fingerprint) slot = (slot + 1) & mask;
    return slot;
}

void SeenRows::grow() {
    const std::vector<Fingerprint> old = std::exchange(
        m_slots, std::vector<Fingerprint>(m_slots.empty() ? 1024 : 2 * m_slots.size()));
    for (const Fingerprint& print : old) {
        if (print != Fingerprint{}) m_slots[slotOf(print)] = print;
    }
}

}  // namespace pleat::importers
