// Validates JSON against the part of JSON Schema (draft 2020-12) that our schemas use: $ref into
// $defs, oneOf, const, enum, type, required, properties, additionalProperties, items, minimum,
// maximum. A keyword outside that part is a violation too, so that a schema cannot promise what
// nobody checks. Pure.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace pleat::testing {

// One line for each violation, with its place in the instance; empty when it is valid.
[[nodiscard]] std::vector<std::string> schemaViolations(const nlohmann::json& instance,
                                                        const nlohmann::json& schema);

}  // namespace pleat::testing
