// How a registered payload schema travels from the program to the recorder: one line of text per
// field, "type offset bytes name", and how a payload of that layout becomes a flat JSON object. One
// home for both directions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pleat::collector {

enum class PayloadFieldType : char { Signed = 'i', Unsigned = 'u', Real = 'f', Text = 't' };

struct PayloadField {
    PayloadFieldType type = PayloadFieldType::Signed;
    std::size_t offset = 0;
    std::size_t bytes = 0;  // 1, 2, 4, 8; any for text (NUL-padded)
    std::string name;
};

// The fields of a layout's text; lines that do not fit are left out.
[[nodiscard]] std::vector<PayloadField> parsePayloadLayout(std::string_view text);

// Appends `"name":value` members, comma-separated, to `json`. Fields beyond the payload's end are
// left out.
void appendPayloadMembers(std::string& json, const std::vector<PayloadField>& fields,
                          std::string_view payload);

// Appends a JSON string, quotes included; the text becomes valid UTF-8.
void appendJsonString(std::string& json, std::string_view text);

}  // namespace pleat::collector
