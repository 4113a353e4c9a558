// Searching events by name, by a regular expression, or by microbatch. Every distinct name is
// looked at once; then a pass over the events' names, on the pool's threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "timeline/worker_pool.h"
#include "trace/trace.h"

namespace pleat::timeline {

enum class SearchBy : std::uint8_t {
    Text,        // the name holds the text; ASCII letters in either case
    Expression,  // the name matches a Perl-compatible expression (PCRE2), in either case
    Microbatch,  // a task or transfer of the microbatch whose number the text is
};

struct SearchQuery {
    SearchBy by = SearchBy::Text;
    std::string text;
};

// What a person types: "mb:3" (or "microbatch:3") for a microbatch, "/…/" for an expression, else
// text.
[[nodiscard]] SearchQuery parseQuery(const std::string& typed);

struct SearchHits {
    std::vector<trace::EventId> events;  // the earliest, by start
    std::size_t count = 0;               // of all
    std::size_t undecided = 0;           // names on which the expression took too many steps
};

// At most `most` events. Empty text finds nothing. Errors (Usage): an expression or number that
// cannot be read, with the place.
[[nodiscard]] base::Result<SearchHits> searchEvents(const trace::Trace& trace,
                                                    const SearchQuery& query, std::size_t most,
                                                    WorkerPool& pool);

}  // namespace pleat::timeline
