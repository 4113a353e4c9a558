// A stretch of trace events, decoded: what one worker makes of one piece of a file. Texts are
// numbered within the batch, so that the trace's own string pool sees each of them once per batch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "importers/kept_arguments.h"

namespace pleat::importers {

// Distinct texts in order of first use. `clear` keeps the memory.
class LocalTexts {
  public:
    std::uint32_t intern(std::string_view text);
    // The same where the text is likely that of number `guess`.
    std::uint32_t intern(std::string_view text, std::uint32_t guess) {
        return guess < size() && this->text(guess) == text ? guess : intern(text);
    }
    [[nodiscard]] std::string_view text(std::uint32_t number) const {
        const Place& place = m_places[number];
        return std::string_view(m_characters).substr(place.offset, place.length);
    }
    [[nodiscard]] std::size_t size() const { return m_places.size(); }
    void clear();

  private:
    struct Place {
        std::uint32_t offset, length;
        std::uint32_t hash;
    };
    void grow();
    std::string m_characters;
    std::vector<Place> m_places;
    std::vector<std::uint32_t> m_slots;  // open addressing; number + 1, 0 for free
};

inline constexpr std::uint32_t kNoText = ~std::uint32_t{0};

// One event of Chrome's format. Times are nanoseconds.
struct ChromeEvent {
    std::int64_t startNs = 0;
    std::int64_t durationNs = 0;
    std::uint32_t correlation = 0;  // of host call and device work; 0: none
    std::uint32_t name = kNoText;
    std::uint32_t category = kNoText;                // in EventBatch::categories
    std::uint32_t pid = kNoText, tid = kNoText;      // as written, without quotes
    std::uint32_t id = kNoText;                      // of flows and async events
    std::uint32_t arguments = 0, argumentBytes = 0;  // a JSON object in EventBatch::argumentText
    char phase = 0;
    bool hasStart = false, hasDuration = false;
};

struct EventBatch {
    std::vector<ChromeEvent> events;
    LocalTexts texts;
    LocalTexts categories;
    std::vector<CategoryTraits> traits;  // of each category
    // Arrows from calls to their work, which nothing needs: they are a third of a file.
    std::size_t launchArrows = 0;
    std::string argumentText;
    base::Diagnostics diagnostics;
    // Where, in the piece given, decoding ended: behind the last whole event, or behind the "]"
    // that ends the list.
    std::size_t consumed = 0;
    bool listEnded = false;

    void clear();
    std::uint32_t internCategory(std::string_view category);
    // What often follows the event before is looked at first: programs repeat themselves.
    std::uint32_t internName(std::string_view name);
    NameTraits traitsOfName(std::uint32_t name);  // in `texts`

  private:
    std::vector<std::optional<NameTraits>> m_nameTraits;  // of those asked for
    std::vector<std::uint32_t> m_nameAfter;               // name -> the one that followed it last
};

}  // namespace pleat::importers
