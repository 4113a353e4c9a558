// The fields of one event: a flat JSON object as the collector writes it, read without building a
// document. Nested values are skipped. A field that is null, of another type or out of range costs
// that field only: it is present and has no value. One object is meant to be reused for many
// events; not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pleat::trace {

class Arguments {
  public:
    // False when `json` is no JSON object; then there are no fields. Empty text has none either,
    // and is readable.
    bool read(std::string_view json);

    // Whole numbers, also those written as texts ("3") or with a point (3.0), as other programs do.
    [[nodiscard]] std::optional<std::int64_t> integer(std::string_view name) const;
    // Nothing when the value does not fit into 32 bits.
    [[nodiscard]] std::optional<std::int32_t> integer32(std::string_view name) const;
    [[nodiscard]] std::optional<std::string_view> text(std::string_view name) const;
    // Whether the object names such a field, whatever its value.
    [[nodiscard]] bool has(std::string_view name) const;

    enum class Type : std::uint8_t { Integer, Text, Unusable };
    struct Field {
        std::string name;
        Type type = Type::Unusable;
        std::int64_t integer = 0;
        std::string text;
    };

  private:
    [[nodiscard]] const Field* find(std::string_view name, Type type) const;

    std::vector<Field> m_fields;  // those beyond m_count are kept for their memory
    std::size_t m_count = 0;
};

}  // namespace pleat::trace
