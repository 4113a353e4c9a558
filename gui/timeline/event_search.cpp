#define PCRE2_CODE_UNIT_WIDTH 8
#include "timeline/event_search.h"

#include <fmt/format.h>
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <string_view>
#include <utility>

namespace pleat::timeline {
namespace {

using trace::EventId;

constexpr std::uint32_t kMostSteps = 200'000;  // of an expression on one name

struct FreeCode {
    void operator()(pcre2_code* code) const { pcre2_code_free(code); }
};
struct FreeContext {
    void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
};
struct FreeMatch {
    void operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }
};

PCRE2_SPTR bytes(std::string_view text) { return reinterpret_cast<PCRE2_SPTR>(text.data()); }

class Expression {
  public:
    static base::Result<Expression> compile(const std::string& text) {
        int code = 0;
        PCRE2_SIZE offset = 0;
        Expression made;
        made.m_code.reset(pcre2_compile(
            bytes(text), text.size(),
            PCRE2_UTF | PCRE2_CASELESS | PCRE2_NEVER_BACKSLASH_C | PCRE2_MATCH_INVALID_UTF, &code,
            &offset, nullptr));
        if (!made.m_code) {
            std::array<PCRE2_UCHAR, 200> why{};
            pcre2_get_error_message(code, why.data(), why.size());
            return base::Error{base::ErrorCode::Usage,
                               fmt::format("invalid expression at character {}: {}", offset,
                                           reinterpret_cast<const char*>(why.data()))};
        }
        made.m_match.reset(pcre2_match_data_create_from_pattern(made.m_code.get(), nullptr));
        made.m_context.reset(pcre2_match_context_create(nullptr));
        pcre2_set_match_limit(made.m_context.get(), kMostSteps);
        return made;
    }
    // Negative: neither way, within the steps allowed.
    [[nodiscard]] int matches(std::string_view name) const {
        const int found = pcre2_match(m_code.get(), bytes(name), name.size(), 0, 0, m_match.get(),
                                      m_context.get());
        if (found == PCRE2_ERROR_NOMATCH) return 0;
        return found >= 0 ? 1 : -1;
    }

  private:
    std::unique_ptr<pcre2_code, FreeCode> m_code;
    std::unique_ptr<pcre2_match_data, FreeMatch> m_match;
    std::unique_ptr<pcre2_match_context, FreeContext> m_context;
};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool holds(std::string_view name, std::string_view text) {
    return std::search(name.begin(), name.end(), text.begin(), text.end(),
                       [](char a, char b) { return lower(a) == lower(b); }) != name.end();
}

// The earliest `most` of what is offered. A heap with the latest on top.
class Earliest {
  public:
    Earliest(const trace::Trace& trace, std::size_t most) : m_trace(&trace), m_most(most) {}
    void offer(EventId event) {
        ++m_count;
        if (m_events.size() == m_most) {
            if (m_most == 0 || !before(event, m_events.front())) return;
            std::pop_heap(m_events.begin(), m_events.end(), Order{this});
            m_events.pop_back();
        }
        m_events.push_back(event);
        std::push_heap(m_events.begin(), m_events.end(), Order{this});
    }
    void addTo(SearchHits& hits) const {
        hits.count += m_count;
        hits.events.insert(hits.events.end(), m_events.begin(), m_events.end());
    }
    [[nodiscard]] bool before(EventId a, EventId b) const {
        const auto& starts = m_trace->columns().startNs;
        return starts[a.index()] != starts[b.index()] ? starts[a.index()] < starts[b.index()]
                                                      : a < b;
    }

  private:
    struct Order {
        const Earliest* of;
        bool operator()(EventId a, EventId b) const { return of->before(a, b); }
    };
    const trace::Trace* m_trace;
    std::size_t m_most, m_count = 0;
    std::vector<EventId> m_events;
};

void sortAndCut(SearchHits& hits, const trace::Trace& trace, std::size_t most) {
    const Earliest order(trace, most);
    std::sort(hits.events.begin(), hits.events.end(),
              [&](EventId a, EventId b) { return order.before(a, b); });
    if (hits.events.size() > most) hits.events.resize(most);
}

// wanted: by string id.
SearchHits eventsNamed(const trace::Trace& trace, const std::vector<char>& wanted, std::size_t most,
                       WorkerPool& pool) {
    SearchHits hits;
    if (std::find(wanted.begin(), wanted.end(), 1) == wanted.end()) return hits;
    constexpr std::size_t kPieces = 16;
    const std::vector<base::StringId>& names = trace.columns().name;
    std::vector<Earliest> found(kPieces, Earliest(trace, most));
    pool.forEach(kPieces, [&](std::size_t piece) {
        const std::size_t last = names.size() * (piece + 1) / kPieces;
        for (std::size_t i = names.size() * piece / kPieces; i < last; ++i)
            if (names[i].valid() && wanted[names[i].index()] != 0)
                found[piece].offer(EventId::at(i));
    });
    for (const Earliest& one : found) one.addTo(hits);
    sortAndCut(hits, trace, most);
    return hits;
}

base::Result<SearchHits> eventsOfMicrobatch(const trace::Trace& trace, const std::string& text,
                                            std::size_t most) {
    std::int32_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) {
        return base::Error{base::ErrorCode::Usage,
                           fmt::format("\"{}\" is not a microbatch number", text)};
    }
    std::vector<EventId> events;
    for (const trace::Task& task : trace.annotations().tasks)
        if (task.microbatch == number && task.event.valid()) events.push_back(task.event);
    for (const trace::Transfer& part : trace.annotations().transfers)
        if (part.microbatch == number && part.event.valid()) events.push_back(part.event);
    std::sort(events.begin(), events.end());
    events.erase(std::unique(events.begin(), events.end()), events.end());
    SearchHits hits{std::move(events), 0, 0};
    hits.count = hits.events.size();
    sortAndCut(hits, trace, most);
    return hits;
}

}  // namespace

SearchQuery parseQuery(const std::string& typed) {
    for (const std::string_view prefix : {"mb:", "microbatch:"})
        if (typed.starts_with(prefix)) return {SearchBy::Microbatch, typed.substr(prefix.size())};
    if (typed.size() > 2 && typed.front() == '/' && typed.back() == '/')
        return {SearchBy::Expression, typed.substr(1, typed.size() - 2)};
    return {SearchBy::Text, typed};
}

base::Result<SearchHits> searchEvents(const trace::Trace& trace, const SearchQuery& query,
                                      std::size_t most, WorkerPool& pool) {
    if (query.text.empty()) return SearchHits{};
    if (query.by == SearchBy::Microbatch) return eventsOfMicrobatch(trace, query.text, most);
    const base::StringPool& strings = trace.columns().strings;
    std::vector<char> wanted(strings.size(), 0);
    std::size_t undecided = 0;
    if (query.by == SearchBy::Text) {
        for (std::size_t i = 0; i < wanted.size(); ++i)
            wanted[i] = holds(strings.text(base::StringId::at(i)), query.text) ? 1 : 0;
    } else {
        const auto expression = Expression::compile(query.text);
        if (!expression) return expression.error();
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            const int found = expression->matches(strings.text(base::StringId::at(i)));
            wanted[i] = found > 0 ? 1 : 0;
            if (found < 0) ++undecided;
        }
    }
    SearchHits hits = eventsNamed(trace, wanted, most, pool);
    hits.undecided = undecided;
    return hits;
}

}  // namespace pleat::timeline
