// The fields of one event: a flat JSON object as the collector writes it, read without building a
// document. Nested values are skipped. One object is meant to be reused for many events; not
// thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pleat::annotate {

class Arguments {
  public:
    // False when `json` is no JSON object; then there are no fields. Empty text has none either,
    // and is readable.
    bool read(std::string_view json);

    [[nodiscard]] std::optional<std::int64_t> integer(std::string_view name) const;
    // Nothing when the value does not fit into 32 bits.
    [[nodiscard]] std::optional<std::int32_t> integer32(std::string_view name) const;
    [[nodiscard]] std::optional<std::string_view> text(std::string_view name) const;

    struct Field {
        std::string name;
        bool isText = false;
        std::int64_t integer = 0;
        std::string text;
    };

  private:
    [[nodiscard]] const Field* find(std::string_view name, bool isText) const;

    std::vector<Field> m_fields;  // those beyond m_count are kept for their memory
    std::size_t m_count = 0;
};

}  // namespace pleat::annotate
