#include "models/cited_places.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace pleat::models {
namespace {

using trace::EventId;

struct Citation {
    std::vector<base::StringId> names;
    std::vector<std::int64_t> times;
    std::int32_t rank = -1, iteration = -1;
};

// Those that a quotation may be: itself, or, where it was cut, what begins so.
void addNames(const base::StringPool& strings, std::string_view quoted,
              std::vector<base::StringId>& names) {
    constexpr std::string_view kCut = "…";
    constexpr std::size_t kMost = 100;
    if (const auto id = strings.find(quoted)) return names.push_back(*id);
    if (!quoted.ends_with(kCut)) return;
    quoted.remove_suffix(kCut.size());
    for (std::size_t i = 0; i < strings.size() && names.size() < kMost; ++i)
        if (strings.text(base::StringId::at(i)).starts_with(quoted))
            names.push_back(base::StringId::at(i));
}

// What stands in quotes and is the name of something.
std::vector<base::StringId> quotedNames(const base::StringPool& strings, std::string_view text) {
    std::vector<base::StringId> names;
    std::size_t at = text.find('"');
    while (at != std::string_view::npos) {
        const std::size_t end = text.find('"', at + 1);
        if (end == std::string_view::npos) break;
        addNames(strings, text.substr(at + 1, end - at - 1), names);
        at = text.find('"', end + 1);
    }
    return names;
}

// The number behind the first `word` that has one; -1 without.
std::int32_t numberAfter(std::string_view text, std::string_view word) {
    for (std::size_t at = text.find(word); at != std::string_view::npos;
         at = text.find(word, at + 1)) {
        const std::string_view rest = text.substr(at + word.size());
        std::int32_t number = -1;
        if (std::from_chars(rest.data(), rest.data() + rest.size(), number).ec == std::errc() &&
            number >= 0)
            return number;
    }
    return -1;
}

// Every number that stands alone, "at 1500 ns": which of them is a time, events tell.
std::vector<std::int64_t> numbersIn(std::string_view text) {
    std::vector<std::int64_t> numbers;
    const auto isDigit = [](char c) { return c >= '0' && c <= '9'; };
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (!isDigit(text[at]) || (at > 0 && text[at - 1] != ' ' && text[at - 1] != '-')) continue;
        const std::size_t first = at > 0 && text[at - 1] == '-' ? at - 1 : at;
        std::int64_t number = 0;
        const char* const end = text.data() + text.size();
        if (std::from_chars(text.data() + first, end, number).ec == std::errc())
            numbers.push_back(number);
        while (at < text.size() && isDigit(text[at])) ++at;
    }
    return numbers;
}

Citation citationOf(const trace::Trace& trace, const base::Diagnostic& diagnostic) {
    const std::string_view text = diagnostic.example;
    return {quotedNames(trace.columns().strings, text), numbersIn(text), numberAfter(text, "rank "),
            numberAfter(text, "iteration ")};
}

class Finder {
  public:
    Finder(const trace::Trace& trace, std::span<const base::Diagnostic> diagnostics)
        : m_trace(trace), m_events(diagnostics.size()), m_worth(diagnostics.size(), 0) {
        for (std::size_t i = 0; i < diagnostics.size(); ++i) {
            m_citations.push_back(citationOf(trace, diagnostics[i]));
            for (const base::StringId name : m_citations.back().names) m_wanted[name].push_back(i);
        }
    }

    std::vector<Place> run() {
        const trace::EventColumns& columns = m_trace.columns();
        for (std::size_t i = 0; !m_wanted.empty() && i < columns.name.size(); ++i) {
            const auto wanted = m_wanted.find(columns.name[i]);
            if (wanted == m_wanted.end()) continue;
            for (const std::size_t diagnostic : wanted->second) offer(diagnostic, EventId::at(i));
        }
        std::vector<Place> places;
        for (std::size_t i = 0; i < m_citations.size(); ++i) places.push_back(placeOf(i));
        return places;
    }

  private:
    void offer(std::size_t diagnostic, EventId event) {
        const Citation& cited = m_citations[diagnostic];
        const trace::EventColumns& columns = m_trace.columns();
        const std::int64_t start = columns.startNs[event.index()];
        int worth = 1;
        if (rankOf(event) == cited.rank) worth += 1;
        if (std::find(cited.times.begin(), cited.times.end(), start) != cited.times.end())
            worth += 2;
        if (worth <= m_worth[diagnostic]) return;
        m_worth[diagnostic] = worth;
        m_events[diagnostic] = event;
    }

    [[nodiscard]] std::int32_t rankOf(EventId event) const {
        const trace::LaneId lane = m_trace.columns().lane[event.index()];
        return m_trace.ranks()[m_trace.lanes()[lane].rank].number;
    }

    [[nodiscard]] Place placeOf(std::size_t i) const {
        const Citation& cited = m_citations[i];
        Place place;
        place.event = m_events[i];
        if (place.event.valid()) {
            place.rank = rankOf(place.event);
            return place;
        }
        const auto& iterations = m_trace.annotations().iterations;
        if (std::any_of(iterations.begin(), iterations.end(),
                        [&](const auto& one) { return one.iteration == cited.iteration; }))
            place.iteration = cited.iteration;
        for (const trace::Rank& rank : m_trace.ranks())
            if (rank.number == cited.rank) place.rank = cited.rank;
        return place;
    }

    const trace::Trace& m_trace;
    std::vector<Citation> m_citations;
    std::unordered_map<base::StringId, std::vector<std::size_t>> m_wanted;  // by name
    std::vector<EventId> m_events;
    std::vector<int> m_worth;  // of the event found
};

}  // namespace

std::vector<Place> citedPlaces(const trace::Trace& trace,
                               std::span<const base::Diagnostic> diagnostics) {
    return Finder(trace, diagnostics).run();
}

}  // namespace pleat::models
