#include "importers/event_decoder.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "importers/event_text.h"
#include "importers/kept_arguments.h"
#include "importers/time_text.h"

namespace pleat::importers {
namespace {

// How many times its size a piece is searched for the ends of damaged events. One that does not end
// is searched to the end of the piece, and so is the next: a piece full of them would take minutes.
constexpr std::size_t kPatience = 16;

namespace ondemand = simdjson::ondemand;

// What an event may be long, whatever it reads like: it is read again with every piece that it goes
// on into.
constexpr std::size_t kLongestEvent = 16 << 20;

// A value as it is written, without the quotes of a string and without space behind it.
std::string_view tokenOf(ondemand::value value) {
    std::string_view token = value.raw_json_token();
    while (!token.empty() && static_cast<unsigned char>(token.back()) <= 0x20)
        token.remove_suffix(1);
    if (token.size() >= 2 && token.front() == '"' && token.back() == '"')
        token = token.substr(1, token.size() - 2);
    return token;
}

// A string as it is meant; another value as it is written. Valid while the document is.
std::string_view textOf(ondemand::value value) {
    const std::string_view token = tokenOf(value);
    std::string_view text;
    if (token.find('\\') != kNowhere && value.get_string().get(text) == simdjson::SUCCESS)
        return text;
    return token;
}

bool timeOf(std::string_view token, std::int64_t& ns) {
    const std::optional<std::int64_t> time = nanosecondsOf(token);
    if (time) ns = *time;
    return time.has_value();
}

// Does what follows a "]" look like the rest of a file, not like damage?
bool endsList(std::string_view piece, std::size_t behind) {
    const std::size_t next = skipSpace(piece, behind);
    if (next >= piece.size()) return true;
    const std::size_t after = skipSpace(piece, next + 1);
    if (piece[next] == '}') return after >= piece.size();  // else it ends some event's arguments
    return piece[next] == ',' && after < piece.size() && piece[after] == '"';
}

// What stands in an event; texts without data are absent.
struct Read {
    std::string_view name, category, pid, tid, id, start, duration;
    std::string_view arguments;  // a JSON object as it is written
    bool relativeTime = false;   // "rel_ts"
    bool anything = false;
};

// Flow and async ids: "id", or "id2": {"local": …} or {"global": …}.
simdjson::error_code readId2(ondemand::value value, Read& read) {
    ondemand::object object;
    if (const auto error = value.get_object().get(object)) return error;
    for (auto field : object) {
        ondemand::value id;
        if (const auto error = field.value().get(id)) return error;
        read.id = tokenOf(id);
    }
    return simdjson::SUCCESS;
}

// Comparing with a constant length takes no call.
template <std::size_t n>
bool is(std::string_view key, const char (&name)[n]) {
    return key.size() == n - 1 && std::memcmp(key.data(), name, n - 1) == 0;
}

simdjson::error_code readField(std::string_view key, ondemand::value value, ChromeEvent& event,
                               Read& read) {
    if (is(key, "ph")) {
        const std::string_view phase = tokenOf(value);
        event.phase = phase.empty() ? '\0' : phase.front();
    } else if (is(key, "cat")) {
        read.category = textOf(value);
    } else if (is(key, "name")) {
        read.name = textOf(value);
    } else if (is(key, "pid")) {
        read.pid = tokenOf(value);
    } else if (is(key, "tid")) {
        read.tid = tokenOf(value);
    } else if (is(key, "ts")) {
        read.start = tokenOf(value);
    } else if (is(key, "dur")) {
        read.duration = tokenOf(value);
    } else if (is(key, "args")) {
        ondemand::object object;
        if (value.get_object().get(object) == simdjson::SUCCESS)
            return object.raw_json().get(read.arguments);
    } else if (is(key, "id")) {
        read.id = tokenOf(value);
    } else if (is(key, "id2")) {
        return readId2(value, read);
    } else if (is(key, "rel_ts")) {
        read.relativeTime = true;
    }
    return simdjson::SUCCESS;
}

void keepArguments(const Read& read, EventBatch& batch, ChromeEvent& event) {
    const CategoryTraits traits =
        event.category == kNoText ? CategoryTraits() : batch.traits[event.category];
    event.correlation = correlationOf(traits, read.arguments);
    const std::size_t before = batch.argumentText.size();
    const KeptArguments kept = appendKeptArguments(
        event.phase, traits, batch.traitsOfName(event.name), read.arguments, batch.argumentText);
    if (kept.tooLarge) {
        batch.diagnostics.add("arguments_dropped", [&] {
            return fmt::format("\"{}\": more than {} bytes of arguments", read.name,
                               kMaximumArgumentBytes);
        });
    }
    if (kept.quotedWords > 0) {
        batch.diagnostics.add(
            "unquoted_word",
            [&] {
                return fmt::format(
                    "\"{}\": its arguments contain words that are not valid JSON; kept as text",
                    read.name);
            },
            static_cast<std::int64_t>(kept.quotedWords));
    }
    event.arguments = static_cast<std::uint32_t>(before);
    event.argumentBytes = static_cast<std::uint32_t>(batch.argumentText.size() - before);
}

bool isFlow(char phase) { return phase == 's' || phase == 't' || phase == 'f'; }

void keepEvent(const Read& read, ChromeEvent& event, EventBatch& batch) {
    if (read.category.data() != nullptr) event.category = batch.internCategory(read.category);
    if (isFlow(event.phase) && event.category != kNoText &&
        batch.traits[event.category].launchArrow) {
        ++batch.launchArrows;
        return;
    }
    const ChromeEvent previous = batch.events.empty() ? ChromeEvent() : batch.events.back();
    if (read.name.data() != nullptr) event.name = batch.internName(read.name);
    if (read.pid.data() != nullptr) event.pid = batch.texts.intern(read.pid, previous.pid);
    if (read.tid.data() != nullptr) event.tid = batch.texts.intern(read.tid, previous.tid);
    if (read.id.data() != nullptr) event.id = batch.texts.intern(read.id);
    event.hasStart = timeOf(read.start, event.startNs);
    event.hasDuration = timeOf(read.duration, event.durationNs);
    if (!read.arguments.empty()) keepArguments(read, batch, event);
    if (read.relativeTime && !event.hasStart)
        batch.diagnostics.add("relative_time", "an event has rel_ts but no ts");
    batch.events.push_back(event);
}

// A key as it is meant, valid while the document is.
simdjson::error_code keyOf(ondemand::field& field, std::string_view& key) {
    const char* begin = field.key().raw();
    const char* end = begin;
    while (*end != '"' && *end != '\\') ++end;  // stage 1 of the parser saw that it ends
    if (*end == '\\') return field.unescaped_key().get(key);
    key = {begin, static_cast<std::size_t>(end - begin)};
    return simdjson::SUCCESS;
}

simdjson::error_code readEvent(ondemand::object object, EventBatch& batch) {
    ChromeEvent event;
    Read read;
    for (auto element : object) {
        ondemand::field field;
        if (const auto error = std::move(element).get(field)) return error;
        std::string_view key;
        if (const auto error = keyOf(field, key)) return error;
        read.anything = true;
        if (const auto error = readField(key, field.value(), event, read)) return error;
    }
    if (read.anything) keepEvent(read, event, batch);  // {} closes some writers' lists
    return simdjson::SUCCESS;
}

}  // namespace

struct EventDecoder::Parser {
    ondemand::parser parser;
};

EventDecoder::EventDecoder() : m_parser(std::make_unique<Parser>()) {}
EventDecoder::~EventDecoder() = default;

// Everything in one go; false, with the batch half filled, where the piece is not a whole list of
// objects.
bool EventDecoder::decodeWhole(TextBuffer& bracketed, EventBatch& batch) {
    const std::string_view text = bracketed.view();
    std::size_t end = text.size();
    while (end > 1 && (static_cast<unsigned char>(text[end - 1]) <= 0x20 || text[end - 1] == ','))
        --end;
    char& behind = bracketed.data()[end];  // at most one behind the text: the buffer has room
    const char kept = std::exchange(behind, ']');
    const bool whole = decodeList(text.data(), end + 1, batch);
    behind = kept;
    const std::string_view piece = text.substr(1);
    if (!batch.listEnded) {
        batch.consumed = piece.size();
        return whole;
    }
    batch.consumed = std::min(batch.consumed, end - 1);
    return whole && endsList(piece, batch.consumed);
}

bool EventDecoder::decodeList(const char* list, std::size_t size, EventBatch& batch) {
    static_assert(TextBuffer::kPadding > simdjson::SIMDJSON_PADDING);
    ondemand::document document;
    if (m_parser->parser.iterate(list, size, size + simdjson::SIMDJSON_PADDING).get(document))
        return false;
    ondemand::array elements;
    if (document.get_array().get(elements)) return false;
    for (auto element : elements) {
        ondemand::object object;
        if (element.get_object().get(object) || readEvent(object, batch)) return false;
    }
    const char* stopped = nullptr;
    if (!document.current_location().get(stopped)) {
        // The list ended before the piece did: behind it are other members of the file.
        batch.listEnded = true;
        batch.consumed = static_cast<std::size_t>(stopped - list) - 1;
    }
    return true;
}

bool EventDecoder::decodeOne(std::string_view event, std::uint64_t offset, EventBatch& batch) {
    const auto parse = [&](std::string_view text) {
        const std::size_t events = batch.events.size();
        m_whole.assign(text);
        m_whole.reserve(text.size() + simdjson::SIMDJSON_PADDING);
        ondemand::document document;
        ondemand::object object;
        const bool read =
            !m_parser->parser.iterate(m_whole.data(), m_whole.size(), m_whole.capacity())
                 .get(document) &&
            !document.get_object().get(object) && !readEvent(object, batch);
        if (!read) batch.events.resize(events);
        return read;
    };
    if (parse(event)) return true;
    const Repairs repairs = repairText(event, m_repaired);
    if (!repairs.any() || !parse(m_repaired)) return false;
    if (repairs.controlCharacters > 0) {
        batch.diagnostics.add(
            "control_character",
            [&] { return fmt::format("raw control characters in the event at byte {}", offset); },
            static_cast<std::int64_t>(repairs.controlCharacters));
    }
    if (repairs.invalidUtf8 > 0) {
        batch.diagnostics.add(
            "invalid_utf8",
            [&] {
                return fmt::format("invalid UTF-8 in the event at byte {}; replaced by U+FFFD",
                                   offset);
            },
            static_cast<std::int64_t>(repairs.invalidUtf8));
    }
    return true;
}

void EventDecoder::decodeEach(std::string_view piece, std::uint64_t offset, bool last,
                              EventBatch& batch) {
    std::size_t at = 0, searched = 0;
    while (true) {
        at = skipSpace(piece, at);
        while (at < piece.size() && piece[at] == ',') at = skipSpace(piece, at + 1);
        batch.consumed = at;
        if (at >= piece.size()) return;
        if (piece[at] == ']' && endsList(piece, at + 1)) {
            batch.consumed = at + 1;
            batch.listEnded = true;
            return;
        }
        // Out of patience, an event ends where the next seems to begin.
        const std::string_view room = searched > kPatience * piece.size()
                                          ? piece.substr(0, findEventStart(piece, at + 1))
                                          : piece;
        const std::size_t end = piece[at] == '{' ? objectEnd(room, at) : kNowhere;
        if (end != kNowhere && decodeOne(piece.substr(at, end - at), offset + at, batch)) {
            at = end;
            continue;
        }
        searched += (end == kNowhere ? room.size() : end) - at;
        const std::size_t next = findEventStart(piece, at + 1);
        // More of it may follow, even where something within it looks like the next event.
        const auto mayBeCut = [&] {
            return piece.size() - at < kLongestEvent && piece[at] == '{' &&
                   readsLikeJson(piece, at);
        };
        if (end == kNowhere && !last && (next == kNowhere || mayBeCut())) return;
        const bool cut = next == kNowhere && end == kNowhere;
        const std::string_view lost = piece.substr(at, next == kNowhere ? next : next - at);
        batch.diagnostics.add(
            cut ? base::DiagnosticCode("truncated") : base::DiagnosticCode("damaged_event"),
            cut ? fmt::format("the file ends within the event at byte {}", offset + at)
                : fmt::format(
                      "the event at byte {} is not valid JSON{}; continued with the next event",
                      offset + at,
                      lost.find('}') == kNowhere ? ", and another event starts inside it (did two "
                                                   "programs write to one file?)"
                                                 : ""));
        at = next != kNowhere ? next : end != kNowhere ? end : piece.size();
    }
}

void EventDecoder::decode(TextBuffer& bracketed, std::uint64_t offset, bool last,
                          EventBatch& batch) {
    batch.clear();
    if (decodeWhole(bracketed, batch)) return;
    batch.clear();
    decodeEach(bracketed.view().substr(1), offset, last, batch);
}

}  // namespace pleat::importers
