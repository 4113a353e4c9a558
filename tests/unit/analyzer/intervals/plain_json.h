// Chrome events of a JSON file, plain or gzipped, without their meaning. Times keep their last
// digit: they are read as text. Pure but for reading the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace pleat::testing {

struct PlainEvent {
    std::map<std::string, std::string> fields;     // as they stand in the file, "args" left out
    std::map<std::string, std::string> arguments;  // one level
    [[nodiscard]] std::string text(const char* field) const;
    [[nodiscard]] std::int64_t number(const char* argument, std::int64_t missing) const;
    [[nodiscard]] std::int64_t begin() const;  // ns
    [[nodiscard]] std::int64_t end() const;
};

[[nodiscard]] std::vector<PlainEvent> readEvents(const std::filesystem::path& file);

}  // namespace pleat::testing
