// Opening a file as a Pleat trace: the first bytes decide whether it is one and whether this Pleat
// understands it, so that every other file gets words of its own. Internal to the store.
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/result.h"
#include "store/database.h"

namespace pleat::store {

enum class Access : std::uint8_t { Read, Write };

// Input error naming the file and what is wrong with it.
[[nodiscard]] base::Result<Database> openTrace(const std::filesystem::path& file, Access access);

// Does the file begin as an SQLite database with our application id?
[[nodiscard]] bool hasPleatHeader(const std::filesystem::path& file);

}  // namespace pleat::store
