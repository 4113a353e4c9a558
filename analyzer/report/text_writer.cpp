#include "report/text_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

namespace pleat::report {
namespace {

constexpr std::size_t kBufferBytes = 64 * 1024;

using Json = nlohmann::json;

// Nearly every text of a trace: nothing in it needs a second look.
bool isPlain(std::string_view text) {
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return c >= ' ' && c < '\x7f' && c != '"' && c != '\\'; });
}

// Quoted; valid UTF-8.
std::string quotedJson(std::string_view text) {
    std::string quoted =
        Json(std::string(text)).dump(-1, ' ', false, Json::error_handler_t::replace);
    // Perfetto's tokenizer takes DEL for a control character and refuses it.
    for (std::size_t at = quoted.find('\x7f'); at != std::string::npos; at = quoted.find('\x7f'))
        quoted.replace(at, 1, "\\u007f");
    return quoted;
}

}  // namespace

TextWriter::TextWriter(const TextSink& sink) : m_sink(sink) { m_buffer.reserve(2 * kBufferBytes); }

TextWriter& TextWriter::raw(std::string_view text) {
    if (failed()) return *this;
    m_buffer += text;
    if (m_buffer.size() >= kBufferBytes) {
        m_result = m_sink(m_buffer);
        m_buffer.clear();
    }
    return *this;
}

TextWriter& TextWriter::number(std::int64_t value) { return raw(fmt::format_int(value).c_str()); }

TextWriter& TextWriter::json(std::string_view text) {
    if (isPlain(text)) return raw("\"").raw(text).raw("\"");
    return raw(quotedJson(text));
}

TextWriter& TextWriter::csv(std::string_view text) {
    if (isPlain(text) && text.find(',') == std::string_view::npos) return raw(text);
    const std::string valid = Json::parse(quotedJson(text)).get<std::string>();
    if (valid.find_first_of(",\"\r\n") == std::string::npos) return raw(valid);
    raw("\"");
    for (const char& c : valid) raw(c == '"' ? std::string_view("\"\"") : std::string_view(&c, 1));
    return raw("\"");
}

TextWriter& TextWriter::microseconds(std::uint64_t ns) {
    fmt::memory_buffer text;
    fmt::format_to(std::back_inserter(text), "{}.{:03}", ns / 1'000, ns % 1'000);
    return raw({text.data(), text.size()});
}

base::Result<void> TextWriter::flush() {
    if (!failed() && !m_buffer.empty()) {
        m_result = m_sink(m_buffer);
        m_buffer.clear();
    }
    return m_result;
}

}  // namespace pleat::report
