#include "collector/payload_layout.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>

#include "collector/text.h"

namespace pleat::collector {
namespace {

bool takeNumber(std::string_view& line, std::size_t& number) {
    if (line.empty() || line.front() != ' ') return false;
    line.remove_prefix(1);
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
    line.remove_prefix(static_cast<std::size_t>(end - line.data()));
    return error == std::errc();
}

template <class T>
T load(std::string_view bytes) {
    T value{};
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
}

void appendNumber(std::string& json, const PayloadField& field, std::string_view bytes) {
    auto out = std::back_inserter(json);
    if (field.type == PayloadFieldType::Real) {
        const double value = field.bytes == 4 ? double{load<float>(bytes)} : load<double>(bytes);
        if (std::isfinite(value)) {
            fmt::format_to(out, "{}", value);
        } else {
            json += "null";
        }
        return;
    }
    const bool isSigned = field.type == PayloadFieldType::Signed;
    switch (field.bytes) {
        case 1:
            isSigned ? fmt::format_to(out, "{}", int{load<std::int8_t>(bytes)})
                     : fmt::format_to(out, "{}", unsigned{load<std::uint8_t>(bytes)});
            return;
        case 2:
            isSigned ? fmt::format_to(out, "{}", load<std::int16_t>(bytes))
                     : fmt::format_to(out, "{}", load<std::uint16_t>(bytes));
            return;
        case 4:
            isSigned ? fmt::format_to(out, "{}", load<std::int32_t>(bytes))
                     : fmt::format_to(out, "{}", load<std::uint32_t>(bytes));
            return;
        default:
            isSigned ? fmt::format_to(out, "{}", load<std::int64_t>(bytes))
                     : fmt::format_to(out, "{}", load<std::uint64_t>(bytes));
            return;
    }
}

bool knownSize(const PayloadField& field) {
    if (field.type == PayloadFieldType::Text) return field.bytes > 0;
    if (field.type == PayloadFieldType::Real) return field.bytes == 4 || field.bytes == 8;
    return field.bytes == 1 || field.bytes == 2 || field.bytes == 4 || field.bytes == 8;
}

}  // namespace

std::vector<PayloadField> parsePayloadLayout(std::string_view text) {
    std::vector<PayloadField> fields;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        PayloadField field;
        if (line.empty() || std::string_view("iuft").find(line.front()) == std::string_view::npos)
            continue;
        field.type = static_cast<PayloadFieldType>(line.front());
        line.remove_prefix(1);
        if (!takeNumber(line, field.offset) || !takeNumber(line, field.bytes) || line.size() < 2)
            continue;
        field.name = line.substr(1);
        if (knownSize(field)) fields.push_back(std::move(field));
    }
    return fields;
}

void appendJsonString(std::string& json, std::string_view text) {
    json += '"';
    for (const char c : toValidUtf8(text)) {
        const auto code = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            json += '\\';
            json += c;
        } else if (code < 0x20) {
            fmt::format_to(std::back_inserter(json), "\\u{:04x}", code);
        } else {
            json += c;
        }
    }
    json += '"';
}

void appendPayloadMembers(std::string& json, const std::vector<PayloadField>& fields,
                          std::string_view payload) {
    for (const PayloadField& field : fields) {
        if (field.offset > payload.size() || field.bytes > payload.size() - field.offset) continue;
        const std::string_view bytes = payload.substr(field.offset, field.bytes);
        if (!json.empty() && json.back() != '{') json += ',';
        appendJsonString(json, field.name);
        json += ':';
        if (field.type == PayloadFieldType::Text) {
            appendJsonString(json, bytes.substr(0, bytes.find('\0')));
        } else {
            appendNumber(json, field, bytes);
        }
    }
}

}  // namespace pleat::collector
