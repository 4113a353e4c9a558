#include "support/json_schema.h"

#include <set>

namespace pleat::testing {
namespace {

using nlohmann::json;

bool hasType(const json& value, const std::string& type) {
    if (type == "integer") return value.is_number_integer();
    if (type == "number") return value.is_number();
    if (type == "string") return value.is_string();
    if (type == "array") return value.is_array();
    if (type == "object") return value.is_object();
    if (type == "boolean") return value.is_boolean();
    return type == "null" && value.is_null();
}

class Validator {
  public:
    explicit Validator(const json& root) : m_root(root) {}

    void check(const json& value, const json& schema, const std::string& place) {
        if (schema.is_boolean()) {
            if (!schema.get<bool>()) report(place, "is not allowed");
            return;
        }
        for (const auto& [keyword, argument] : schema.items())
            apply(keyword, argument, value, schema, place);
    }

    std::vector<std::string> violations;

  private:
    void report(const std::string& place, const std::string& what) {
        violations.push_back(place + " " + what);
    }

    void apply(const std::string& keyword, const json& argument, const json& value,
               const json& schema, const std::string& place) {
        static const std::set<std::string> kSilent = {"$schema", "title", "description", "$defs"};
        if (kSilent.contains(keyword)) return;
        if (keyword == "$ref") {
            check(value, m_root.at(json::json_pointer(argument.get<std::string>().substr(1))),
                  place);
        } else if (keyword == "oneOf") {
            checkOneOf(value, argument, place);
        } else if (keyword == "const") {
            if (value != argument) report(place, "is not " + argument.dump());
        } else if (keyword == "enum") {
            bool known = false;
            for (const json& one : argument) known = known || one == value;
            if (!known) report(place, "is none of " + argument.dump());
        } else if (keyword == "type") {
            bool fits = argument.is_string() && hasType(value, argument);
            if (argument.is_array()) {
                for (const json& one : argument) fits = fits || hasType(value, one);
            }
            if (!fits) report(place, "is not of type " + argument.dump());
        } else if (keyword == "minimum" || keyword == "maximum") {
            if (value.is_number() && (keyword == "minimum" ? value < argument : value > argument))
                report(place, "is beyond the " + keyword + " " + argument.dump());
        } else {
            applyToChildren(keyword, argument, value, schema, place);
        }
    }

    void applyToChildren(const std::string& keyword, const json& argument, const json& value,
                         const json& schema, const std::string& place) {
        if (keyword == "required") {
            for (const json& key : argument) {
                if (value.is_object() && !value.contains(key.get<std::string>()))
                    report(place, "lacks " + key.dump());
            }
        } else if (keyword == "properties") {
            for (const auto& [key, child] : argument.items()) {
                if (value.is_object() && value.contains(key))
                    check(value.at(key), child, place + "/" + key);
            }
        } else if (keyword == "additionalProperties") {
            if (!value.is_object()) return;
            const json known = schema.value("properties", json::object());
            for (const auto& [key, child] : value.items()) {
                if (!known.contains(key)) check(child, argument, place + "/" + key);
            }
        } else if (keyword == "items") {
            if (!value.is_array()) return;
            for (std::size_t i = 0; i < value.size(); ++i)
                check(value[i], argument, place + "/" + std::to_string(i));
        } else {
            report(place, "has a schema with the unknown keyword " + keyword);
        }
    }

    void checkOneOf(const json& value, const json& choices, const std::string& place) {
        std::size_t fitting = 0;
        std::string closest;
        std::size_t fewest = static_cast<std::size_t>(-1);
        for (const json& choice : choices) {
            Validator one(m_root);
            one.check(value, choice, place);
            if (one.violations.empty()) ++fitting;
            if (!one.violations.empty() && one.violations.size() < fewest) {
                fewest = one.violations.size();
                closest = one.violations.front();
            }
        }
        if (fitting != 1) {
            report(place,
                   "fits " + std::to_string(fitting) + " of its choices; the closest: " + closest);
        }
    }

    const json& m_root;
};

}  // namespace

std::vector<std::string> schemaViolations(const json& instance, const json& schema) {
    Validator validator(schema);
    validator.check(instance, schema, "");
    return validator.violations;
}

}  // namespace pleat::testing
