#include "annotate/arguments.h"

#include <limits>
#include <nlohmann/json.hpp>

namespace pleat::annotate {
namespace {

// Receives the parser's tokens; keeps the integers and texts of the outermost object.
class FieldSink : public nlohmann::json_sax<nlohmann::json> {
  public:
    FieldSink(std::vector<Arguments::Field>& fields, std::size_t& count)
        : m_fields(fields), m_count(count) {}

    bool null() override { return m_depth > 0; }
    bool boolean(bool value) override { return number_integer(value ? 1 : 0); }
    bool number_integer(number_integer_t value) override {
        if (m_depth == 1) {
            next().integer = value;
            m_fields[m_count++].isText = false;
        }
        return m_depth > 0;
    }
    bool number_unsigned(number_unsigned_t value) override {
        if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
            return m_depth > 0;
        }
        return number_integer(static_cast<std::int64_t>(value));
    }
    bool number_float(number_float_t, const string_t&) override { return m_depth > 0; }
    bool string(string_t& value) override {
        if (m_depth == 1) {
            next().text = value;
            m_fields[m_count++].isText = true;
        }
        return m_depth > 0;
    }
    bool binary(binary_t&) override { return false; }
    bool start_object(std::size_t) override { return ++m_depth > 0; }
    bool key(string_t& value) override {
        if (m_depth == 1) m_key = value;
        return true;
    }
    bool end_object() override { return --m_depth >= 0; }
    bool start_array(std::size_t) override { return m_depth++ > 0; }
    bool end_array() override { return --m_depth >= 0; }
    bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override {
        return false;
    }

  private:
    Arguments::Field& next() {
        if (m_count == m_fields.size()) m_fields.emplace_back();
        m_fields[m_count].name = m_key;
        return m_fields[m_count];
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

const Arguments::Field* Arguments::find(std::string_view name, bool isText) const {
    for (std::size_t i = 0; i < m_count; ++i) {
        if (m_fields[i].name == name && m_fields[i].isText == isText) return &m_fields[i];
    }
    return nullptr;
}

std::optional<std::int64_t> Arguments::integer(std::string_view name) const {
    const Field* field = find(name, false);
    return field ? std::optional(field->integer) : std::nullopt;
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
    const Field* field = find(name, true);
    return field ? std::optional<std::string_view>(field->text) : std::nullopt;
}

}  // namespace pleat::annotate
