// The names in a folder and its removal, for the recorder's folder of rings. The standard library's
// iterator ends the program where it finds no memory (libstdc++ 12), and a recorder must not.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace pleat::collector {

// In alphabetical order; none of a folder that cannot be read.
[[nodiscard]] std::vector<std::string> namesIn(const std::filesystem::path& folder);

// The folder and the files in it, as far as that is possible. Takes no memory.
void removeFolder(const std::filesystem::path& folder) noexcept;

}  // namespace pleat::collector
