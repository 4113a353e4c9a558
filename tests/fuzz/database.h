// What both database targets do with a file.
#pragma once

#include <filesystem>

namespace pleat::fuzz {

// Reads the file as the command line would and uses what it holds.
void useDatabase(const std::filesystem::path& file);

}  // namespace pleat::fuzz
