// Gives the ranks of several files their global numbers. In this order: the caller's (--rank), what
// the file says (the rank that was recorded, a launcher's variables), the place in the communicator
// that all processes share, the file's name, and for files of several ranks their order: by the
// node that the file or its name says, else as given, and within a file by device, else by process
// id. All but the first three are guesses and said ("rank_guessed").
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "importers/file_facts.h"

namespace pleat::importers {

// By file, as it was named: the number of its first rank, or of each.
using GivenRanks = std::map<std::filesystem::path, std::vector<std::int32_t>>;

// Input error in one line: all files of one rank that do not say it, numbers that are taken twice
// with both files, or a list that does not fit a file's ranks.
[[nodiscard]] base::Result<void> numberRanks(std::span<const ReadFile> files,
                                             const GivenRanks& given, trace::TraceBuilder& builder);

// The number behind the last `word` of a file's name that begins there: rank3.json,
// trace_rank_3.json.gz, run-dp0-pp1.json; any letters' case.
[[nodiscard]] std::optional<std::int32_t> numberInFileName(const std::filesystem::path& file,
                                                           std::string_view word);

}  // namespace pleat::importers
