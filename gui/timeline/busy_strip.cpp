#include "timeline/busy_strip.h"

#include <algorithm>

namespace pleat::timeline {

BusyStrip::BusyStrip(base::Interval whole, std::size_t parts)
    : m_whole(fitted(whole, static_cast<std::int32_t>(parts))), m_busy(parts, 0), m_any(parts) {
    for (std::size_t part = 0; part <= parts; ++part)
        m_bounds.push_back(timeAt(m_whole, static_cast<double>(part)));
}

void BusyStrip::add(std::size_t part, base::Duration busy) {
    m_any[part] = true;
    m_busy[part] += static_cast<double>(busy.ns);
}

void BusyStrip::add(base::Interval work) {
    const auto last = static_cast<std::int32_t>(m_busy.size()) - 1;
    const std::int32_t from = std::clamp(columnAt(m_whole, work.begin), 0, last);
    const std::int32_t to = std::clamp(columnAt(m_whole, work.end), from, last);
    for (auto part = static_cast<std::size_t>(from); part <= static_cast<std::size_t>(to); ++part) {
        const base::Interval within = intersect(work, {m_bounds[part], m_bounds[part + 1]});
        // Work that ends where a part begins has no share in it.
        if (within.empty() && part > static_cast<std::size_t>(from)) continue;
        add(part, within.empty() ? base::Duration() : within.length());
    }
}

std::vector<std::uint8_t> BusyStrip::shares(std::size_t rows) const {
    std::vector<std::uint8_t> strip(m_busy.size(), 0);
    for (std::size_t part = 0; part < strip.size(); ++part) {
        if (!m_any[part]) continue;
        const auto length = static_cast<double>((m_bounds[part + 1] - m_bounds[part]).ns);
        const double share =
            length > 0 && rows > 0 ? m_busy[part] / length / static_cast<double>(rows) : 0;
        strip[part] = static_cast<std::uint8_t>(std::clamp(share * 255, 1.0, 255.0));
    }
    return strip;
}

}  // namespace pleat::timeline
