// Names, domains and arguments of events, one event a line, and optionally a file of rules for them
// in the first line: "{...}". A line is "PLACE NAME \t DOMAIN \t ARGUMENTS", where the bits of the
// character PLACE say its rank, its thread, and whether it lies within the event before.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "annotate/annotate.h"
#include "annotate/rules.h"
#include "fuzz/properties.h"
#include "trace/trace_builder.h"

namespace pleat::fuzz {
namespace {

std::string_view cutAt(std::string_view& text, char end) {
    const std::size_t at = std::min(text.find(end), text.size());
    const std::string_view part = text.substr(0, at);
    text.remove_prefix(std::min(at + 1, text.size()));
    return part;
}

class NamedEvents {
  public:
    NamedEvents() {
        for (std::int32_t number = 0; number < 2; ++number) {
            trace::Rank rank;
            rank.number = number;
            const trace::RankId id = m_builder.addRank(rank);
            m_lanes[static_cast<std::size_t>(number)] =
                m_builder.addLane({id, trace::LaneKind::HostThread, 1, {}});
            m_lanes[static_cast<std::size_t>(number) + 2] =
                m_builder.addLane({id, trace::LaneKind::DeviceStream, 7, {}});
        }
    }
    void add(std::string_view line) {
        if (line.empty()) return;
        const auto place = static_cast<unsigned char>(line.front());
        line.remove_prefix(1);
        const std::string_view name = cutAt(line, '\t'), domain = cutAt(line, '\t');
        const bool within = (place & 4U) != 0 && m_now > 0;
        if (!within) m_now += 1'000;
        const std::int64_t begin = within ? m_now - 900 + (m_inner++ % 8) * 100 : m_now;
        m_builder.addEvent({m_lanes[place & 3U],
                            m_builder.intern(name),
                            domain.empty() ? base::StringId() : m_builder.intern(domain),
                            (place & 8U) != 0 ? trace::EventKind::Mark : trace::EventKind::Range,
                            trace::EventFlag::None,
                            {{begin}, {begin + (within ? 90 : 990)}}},
                           line);
    }
    trace::Trace build() && { return std::move(m_builder).build().trace; }

  private:
    trace::TraceBuilder m_builder;
    std::array<trace::LaneId, 4> m_lanes;
    std::int64_t m_now = 0, m_inner = 0;
};

}  // namespace

void names(Bytes bytes) {
    std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    std::string_view rulesText;
    if (text.starts_with('{')) rulesText = cutAt(text, '\n');
    NamedEvents events;
    constexpr int kMostEvents = 400;
    for (int n = 0; n < kMostEvents && !text.empty(); ++n) events.add(cutAt(text, '\n'));
    const trace::Trace trace = std::move(events).build();
    const bool stored = bytes.size() % 8 == 0;
    annotateAndUse(trace, stored);
    if (rulesText.empty()) return;
    const auto rules = annotate::Rules::parse(rulesText, "rules.json");
    if (!rules) return checkError(rules.error());
    const auto annotated = annotate::annotate(trace, *rules);
    if (!annotated) return checkError(annotated.error());
    checkTrace(*annotated);
    useTrace(*annotated, stored);
}

}  // namespace pleat::fuzz
