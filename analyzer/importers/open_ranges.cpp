#include "importers/open_ranges.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace pleat::importers {
namespace {

// Two flat JSON objects as one; what the end says again is kept as the beginning said it.
std::string merged(std::string_view first, std::string_view second) {
    if (first.size() <= 2) return std::string(second);
    if (second.size() <= 2 || first == second) return std::string(first);
    return fmt::format("{},{}", first.substr(0, first.size() - 1), second.substr(1));
}

}  // namespace

void OpenRanges::emit(const HalfRange& begin, base::TraceTime end, std::string_view more,
                      trace::EventFlag flag) {
    m_builder.addEvent({begin.lane,
                        begin.name,
                        begin.domain,
                        trace::EventKind::Range,
                        flag,
                        {begin.time, std::max(begin.time, end)}},
                       merged(begin.arguments, more));
}

void OpenRanges::end(Open& open, const HalfRange& half) {
    const bool named = half.name.valid() && !m_builder.text(half.name).empty();
    if (open.stack.empty() || (named && open.ofName[half.name].empty())) {
        m_builder.diagnostics().add(base::Severity::Info, "unmatched_end",
                                    fmt::format("\"{}\" ends at {} ns and never began",
                                                m_builder.text(half.name), half.time.ns));
        return;
    }
    const std::size_t top = open.stack.size() - 1;
    const std::size_t at = named ? open.ofName[half.name].back() : top;
    if (at != top) {
        m_builder.diagnostics().add(
            base::Severity::Info, "crossing_ranges",
            fmt::format("\"{}\" ends at {} ns before \"{}\", which began inside it",
                        m_builder.text(half.name), half.time.ns,
                        m_builder.text(open.stack[top].name)));
    }
    emit(open.stack[at], half.time, half.arguments, trace::EventFlag::None);
    open.ofName[open.stack[at].name].pop_back();
    open.closed[at] = true;
    while (!open.closed.empty() && open.closed.back()) {
        open.closed.pop_back();
        open.stack.pop_back();
    }
}

void OpenRanges::finish() {
    std::stable_sort(m_halves.begin(), m_halves.end(), [](const auto& a, const auto& b) {
        return std::tie(a.lane, a.id, a.time) < std::tie(b.lane, b.id, b.time);
    });
    for (std::size_t first = 0; first < m_halves.size();) {
        Open open;
        std::size_t at = first;
        for (; at < m_halves.size() && m_halves[at].lane == m_halves[first].lane &&
               m_halves[at].id == m_halves[first].id;
             ++at) {
            if (m_halves[at].begins) {
                open.ofName[m_halves[at].name].push_back(open.stack.size());
                open.stack.push_back(m_halves[at]);
                open.closed.push_back(false);
            } else {
                end(open, m_halves[at]);
            }
        }
        for (std::size_t i = 0; i < open.stack.size(); ++i) {
            if (open.closed[i]) continue;
            const HalfRange& one = open.stack[i];
            m_builder.diagnostics().add(base::Severity::Info, "open_range",
                                        fmt::format("\"{}\" began at {} ns and never ended",
                                                    m_builder.text(one.name), one.time.ns));
            emit(one, m_halves[at - 1].time, {}, trace::EventFlag::OpenAtEnd);
        }
        first = at;
    }
    m_halves = {};
}

}  // namespace pleat::importers
