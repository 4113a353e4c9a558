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

std::optional<std::size_t> OpenRanges::endedBy(Open& open, const HalfRange& half) {
    if (open.stack.empty()) return std::nullopt;
    const std::size_t top = open.stack.size() - 1;
    const bool named = half.name.valid() && !m_builder.text(half.name).empty();
    if (named && !open.ofName[half.name].empty()) return open.ofName[half.name].back();
    std::int64_t& missing = open.endsMissing[open.stack[top].name];
    if (named && missing <= 0) return std::nullopt;
    --missing;
    if (!named) return top;
    m_builder.diagnostics().add("end_of_other_name", [&] {
        return fmt::format(
            "\"{}\", which began at {} ns, ends at {} ns as \"{}\"; paired by nesting",
            m_builder.text(open.stack[top].name), open.stack[top].time.ns, half.time.ns,
            m_builder.text(half.name));
    });
    return top;
}

void OpenRanges::end(Open& open, const HalfRange& half) {
    const std::optional<std::size_t> at = endedBy(open, half);
    if (!at) {
        m_builder.diagnostics().add("unmatched_end", [&] {
            return fmt::format("\"{}\" ends at {} ns without a begin", m_builder.text(half.name),
                               half.time.ns);
        });
        return;
    }
    const std::size_t top = open.stack.size() - 1;
    if (*at != top) {
        m_builder.diagnostics().add("crossing_ranges", [&] {
            return fmt::format("\"{}\" ends at {} ns before \"{}\", which began inside it",
                               m_builder.text(half.name), half.time.ns,
                               m_builder.text(open.stack[top].name));
        });
    }
    emit(open.stack[*at], half.time, half.arguments, trace::EventFlag::None);
    open.ofName[open.stack[*at].name].pop_back();
    open.closed[*at] = true;
    while (!open.closed.empty() && open.closed.back()) {
        open.closed.pop_back();
        open.stack.pop_back();
    }
}

// The halves of one lane or id, which begin at `first`; returns where the next ones do.
std::size_t OpenRanges::pairGroup(std::size_t first) {
    Open open;
    std::size_t last = first;
    for (; last < m_halves.size() && m_halves[last].lane == m_halves[first].lane &&
           m_halves[last].id == m_halves[first].id;
         ++last)
        open.endsMissing[m_halves[last].name] += m_halves[last].begins ? 1 : -1;
    for (std::size_t at = first; at < last; ++at) {
        if (!m_halves[at].begins) {
            end(open, m_halves[at]);
            continue;
        }
        open.ofName[m_halves[at].name].push_back(open.stack.size());
        open.stack.push_back(m_halves[at]);
        open.closed.push_back(false);
    }
    for (std::size_t i = 0; i < open.stack.size(); ++i) {
        if (open.closed[i]) continue;
        const HalfRange& one = open.stack[i];
        m_builder.diagnostics().add("open_range", [&] {
            return fmt::format("\"{}\" began at {} ns without an end", m_builder.text(one.name),
                               one.time.ns);
        });
        emit(one, m_halves[last - 1].time, {}, trace::EventFlag::OpenAtEnd);
    }
    return last;
}

void OpenRanges::finish() {
    std::stable_sort(m_halves.begin(), m_halves.end(), [](const auto& a, const auto& b) {
        return std::tie(a.lane, a.id, a.time) < std::tie(b.lane, b.id, b.time);
    });
    for (std::size_t first = 0; first < m_halves.size();) first = pairGroup(first);
    m_halves = {};
}

}  // namespace pleat::importers
