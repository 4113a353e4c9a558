#include "trace/arguments.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace pleat::trace {
namespace {

// Receives the parser's tokens; keeps the integers and texts of the outermost object.
class FieldSink : public nlohmann::json_sax<nlohmann::json> {
  public:
    FieldSink(std::vector<Arguments::Field>& fields, std::size_t& count)
        : m_fields(fields), m_count(count) {}

    bool null() override { return unusable(); }
    bool boolean(bool) override { return unusable(); }
    bool number_integer(number_integer_t value) override {
        if (m_depth == 1) {
            Arguments::Field& field = next(Arguments::Type::Integer);
            field.integer = value;
        }
        return m_depth > 0;
    }
    bool number_unsigned(number_unsigned_t value) override {
        if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
            return unusable();
        }
        return number_integer(static_cast<std::int64_t>(value));
    }
    bool number_float(number_float_t value, const string_t&) override {
        // Beyond 2^53 a double does not say which whole number was meant.
        if (std::trunc(value) == value && std::abs(value) <= 0x1p53)
            return number_integer(static_cast<std::int64_t>(value));
        return unusable();
    }
    bool string(string_t& value) override {
        if (m_depth == 1) next(Arguments::Type::Text).text = value;
        return m_depth > 0;
    }
    bool binary(binary_t&) override { return false; }
    bool start_object(std::size_t) override {
        if (m_depth == 1) (void)unusable();
        return ++m_depth > 0;
    }
    bool key(string_t& value) override {
        if (m_depth == 1) m_key = value;
        return true;
    }
    bool end_object() override { return --m_depth >= 0; }
    bool start_array(std::size_t) override {
        if (m_depth == 1) (void)unusable();
        return m_depth++ > 0;
    }
    bool end_array() override { return --m_depth >= 0; }
    bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override {
        return false;
    }

  private:
    Arguments::Field& next(Arguments::Type type) {
        if (m_count == m_fields.size()) m_fields.emplace_back();
        Arguments::Field& field = m_fields[m_count++];
        field.name = m_key;
        field.type = type;
        return field;
    }
    bool unusable() {
        if (m_depth == 1) (void)next(Arguments::Type::Unusable);
        return m_depth > 0;
    }

    std::vector<Arguments::Field>& m_fields;
    std::size_t& m_count;
    std::string m_key;
    int m_depth = 0;
};

}  // namespace

bool Arguments::read(std::string_view json) {
    m_count = 0;
    if (json.empty()) return true;
    FieldSink sink(m_fields, m_count);
    const bool readable = nlohmann::json::sax_parse(json.begin(), json.end(), &sink);
    if (!readable) m_count = 0;
    return readable;
}

const Arguments::Field* Arguments::find(std::string_view name, Type type) const {
    for (std::size_t i = 0; i < m_count; ++i) {
        if (m_fields[i].type == type && m_fields[i].name == name) return &m_fields[i];
    }
    return nullptr;
}

bool Arguments::has(std::string_view name) const {
    return std::any_of(m_fields.begin(), m_fields.begin() + static_cast<std::ptrdiff_t>(m_count),
                       [&](const Field& field) { return field.name == name; });
}

std::optional<std::int64_t> Arguments::integer(std::string_view name) const {
    if (const Field* field = find(name, Type::Integer)) return field->integer;
    const Field* field = find(name, Type::Text);
    if (field == nullptr) return std::nullopt;
    std::int64_t value = 0;
    const char* const end = field->text.data() + field->text.size();
    const auto [last, error] = std::from_chars(field->text.data(), end, value);
    return error == std::errc() && last == end ? std::optional(value) : std::nullopt;
}

std::optional<std::int32_t> Arguments::integer32(std::string_view name) const {
    const auto value = integer(name);
    if (!value || *value < std::numeric_limits<std::int32_t>::min() ||
        *value > std::numeric_limits<std::int32_t>::max()) {
        return std::nullopt;
    }
    return static_cast<std::int32_t>(*value);
}

std::optional<std::string_view> Arguments::text(std::string_view name) const {
    const Field* field = find(name, Type::Text);
    return field ? std::optional<std::string_view>(field->text) : std::nullopt;
}

}  // namespace pleat::trace
