#include "importers/event_decoder.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <charconv>

#include "importers/event_text.h"
#include "importers/kept_arguments.h"
#include "importers/time_text.h"

namespace pleat::importers {
namespace {

using base::Severity;
namespace ondemand = simdjson::ondemand;

// A value as it is written, without the quotes of a string and without space behind it.
std::string_view tokenOf(ondemand::value value) {
    std::string_view token = value.raw_json_token();
    while (!token.empty() && static_cast<unsigned char>(token.back()) <= 0x20)
        token.remove_suffix(1);
    if (token.size() >= 2 && token.front() == '"' && token.back() == '"')
        token = token.substr(1, token.size() - 2);
    return token;
}

bool textOf(ondemand::value value, EventBatch& batch, std::uint32_t& number) {
    std::string_view text;
    if (value.get_string().get(text) != simdjson::SUCCESS) text = tokenOf(value);
    number = batch.texts.intern(text);
    return true;
}

bool timeOf(ondemand::value value, std::int64_t& ns) {
    const std::optional<std::int64_t> time = nanosecondsOf(value.raw_json_token());
    if (time) ns = *time;
    return time.has_value();
}

// Flow and async ids: "id", or "id2": {"local": …} or {"global": …}.
simdjson::error_code readId2(ondemand::value value, EventBatch& batch, ChromeEvent& event) {
    ondemand::object object;
    if (const auto error = value.get_object().get(object)) return error;
    for (auto field : object) {
        ondemand::value id;
        if (const auto error = field.value().get(id)) return error;
        event.id = batch.texts.intern(tokenOf(id));
    }
    return simdjson::SUCCESS;
}

// Does what follows a "]" look like the rest of a file, not like damage?
bool endsList(std::string_view piece, std::size_t behind) {
    const std::size_t next = skipSpace(piece, behind);
    if (next >= piece.size() || piece[next] == '}') return true;
    const std::size_t key = skipSpace(piece, next + 1);
    return piece[next] == ',' && key < piece.size() && piece[key] == '"';
}

struct Read {
    std::string_view arguments;  // a JSON object as it is written
    bool relativeTime = false;   // "rel_ts"
    bool anything = false;
};

simdjson::error_code readField(std::string_view key, ondemand::value value, EventBatch& batch,
                               ChromeEvent& event, Read& read) {
    if (key == "ph") {
        const std::string_view phase = tokenOf(value);
        event.phase = phase.empty() ? '\0' : phase.front();
    } else if (key == "name") {
        textOf(value, batch, event.name);
    } else if (key == "cat") {
        textOf(value, batch, event.category);
    } else if (key == "pid") {
        event.pid = batch.texts.intern(tokenOf(value));
    } else if (key == "tid") {
        event.tid = batch.texts.intern(tokenOf(value));
    } else if (key == "ts") {
        event.hasStart = timeOf(value, event.startNs);
    } else if (key == "dur") {
        event.hasDuration = timeOf(value, event.durationNs);
    } else if (key == "args") {
        ondemand::object object;
        if (value.get_object().get(object) == simdjson::SUCCESS)
            return object.raw_json().get(read.arguments);
    } else if (key == "id") {
        event.id = batch.texts.intern(tokenOf(value));
    } else if (key == "id2") {
        return readId2(value, batch, event);
    } else if (key == "bp") {
        event.bindsEnclosing = tokenOf(value) == "e";
    } else if (key == "rel_ts") {
        read.relativeTime = true;
    }
    return simdjson::SUCCESS;
}

void keepArguments(std::string_view arguments, EventBatch& batch, ChromeEvent& event) {
    const std::string_view category =
        event.category == kNoText ? std::string_view() : batch.texts.text(event.category);
    const std::string_view name =
        event.name == kNoText ? std::string_view() : batch.texts.text(event.name);
    event.correlation = correlationOf(category, arguments);
    const std::size_t before = batch.argumentText.size();
    if (!appendKeptArguments(event.phase, category, name, arguments, batch.argumentText)) {
        batch.diagnostics.add(
            Severity::DataLoss, "arguments_dropped",
            fmt::format("\"{}\": more than {} bytes of arguments", name, kMaximumArgumentBytes));
    }
    event.arguments = static_cast<std::uint32_t>(before);
    event.argumentBytes = static_cast<std::uint32_t>(batch.argumentText.size() - before);
}

simdjson::error_code readEvent(ondemand::object object, EventBatch& batch) {
    ChromeEvent event;
    Read read;
    for (auto field : object) {
        std::string_view key;
        ondemand::value value;
        if (const auto error = field.unescaped_key().get(key)) return error;
        if (const auto error = field.value().get(value)) return error;
        read.anything = true;
        if (const auto error = readField(key, value, batch, event, read)) return error;
    }
    if (!read.anything) return simdjson::SUCCESS;  // {} closes some writers' lists
    if (!read.arguments.empty()) keepArguments(read.arguments, batch, event);
    if (read.relativeTime && !event.hasStart)
        batch.diagnostics.add(Severity::DataLoss, "relative_time", "an event has rel_ts and no ts");
    batch.events.push_back(event);
    return simdjson::SUCCESS;
}

}  // namespace

struct EventDecoder::Parser {
    ondemand::parser parser;
};

EventDecoder::EventDecoder() : m_parser(std::make_unique<Parser>()) {}
EventDecoder::~EventDecoder() = default;

// Everything in one go; false, with the batch as it was, where the piece is not a whole list of
// objects.
bool EventDecoder::decodeWhole(std::string_view piece, EventBatch& batch) {
    std::size_t end = piece.size();
    while (end > 0 && (static_cast<unsigned char>(piece[end - 1]) <= 0x20 || piece[end - 1] == ','))
        --end;
    m_whole.clear();
    m_whole.reserve(end + 2 + simdjson::SIMDJSON_PADDING);
    m_whole += '[';
    m_whole.append(piece, 0, end);
    m_whole += ']';
    ondemand::document document;
    if (m_parser->parser.iterate(m_whole.data(), m_whole.size(), m_whole.capacity()).get(document))
        return false;
    ondemand::array list;
    if (document.get_array().get(list)) return false;
    for (auto element : list) {
        ondemand::object object;
        if (element.get_object().get(object) || readEvent(object, batch)) return false;
    }
    const char* stopped = nullptr;
    if (!document.current_location().get(stopped)) {
        // The list ended before the piece did: behind it are other members of the file.
        batch.listEnded = true;
        batch.consumed = std::min(static_cast<std::size_t>(stopped - m_whole.data()) - 1, end);
        return endsList(piece, batch.consumed);
    }
    batch.consumed = piece.size();
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
        batch.diagnostics.add(Severity::Info, "control_character",
                              fmt::format("raw control characters in the event at byte {}", offset),
                              static_cast<std::int64_t>(repairs.controlCharacters));
    }
    if (repairs.invalidUtf8 > 0) {
        batch.diagnostics.add(Severity::Info, "invalid_utf8",
                              fmt::format("bytes that are no UTF-8 in the event at byte {}; "
                                          "replaced by U+FFFD",
                                          offset),
                              static_cast<std::int64_t>(repairs.invalidUtf8));
    }
    return true;
}

void EventDecoder::decodeEach(std::string_view piece, std::uint64_t offset, bool last,
                              EventBatch& batch) {
    std::size_t at = 0;
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
        const std::size_t end = piece[at] == '{' ? objectEnd(piece, at) : kNowhere;
        if (end != kNowhere && decodeOne(piece.substr(at, end - at), offset + at, batch)) {
            at = end;
            continue;
        }
        const std::size_t next = findEventStart(piece, at + 1);
        if (next == kNowhere && end == kNowhere && !last) return;  // more of it may follow
        const bool cut = next == kNowhere && end == kNowhere;
        batch.diagnostics.add(
            Severity::DataLoss, cut ? "truncated" : "damaged_event",
            cut ? fmt::format("the file ends within the event at byte {}", offset + at)
                : fmt::format("the event at byte {} is no JSON; reading went on at the next",
                              offset + at));
        at = next != kNowhere ? next : end != kNowhere ? end : piece.size();
    }
}

void EventDecoder::decode(std::string_view piece, std::uint64_t offset, bool last,
                          EventBatch& batch) {
    batch.clear();
    if (decodeWhole(piece, batch)) return;
    batch.clear();
    decodeEach(piece, offset, last, batch);
}

}  // namespace pleat::importers
