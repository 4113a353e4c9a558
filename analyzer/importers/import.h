// Other people's traces: any number of files, of any format we know, as one trace.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/progress.h"
#include "base/result.h"
#include "trace/trace.h"

namespace pleat::importers {

struct ImportOptions {
    // Rank numbers that the caller knows better, by file as it was named: of its first rank, or of
    // each.
    std::map<std::filesystem::path, std::vector<std::int32_t>> ranks;
    unsigned threads = 0;     // 0: as many as there are processors
    base::Progress progress;  // in bytes of all files
};

// The files as they are, or those of a folder that may be traces (*.json, *.json.gz, *.json.zst,
// *.sqlite), by name.
[[nodiscard]] base::Result<std::vector<std::filesystem::path>> traceFiles(
    std::span<const std::filesystem::path> given);

// Reads all files into one trace whose earliest event is at 0; a single timeline of pipeline timers
// that counts from the begin of its first step keeps its zero. Every process of every file is a
// rank of its own, or one for each of the devices it worked on (device_ranks.h); its number is what
// `options` says, else what its file says, else what rank_numbers.h finds. Input error in one line
// naming the file: unknown format (and what was tried), nothing in it, the same rank number twice,
// ranks that cannot be told among several files.
[[nodiscard]] base::Result<trace::Trace> importTraces(std::span<const std::filesystem::path> files,
                                                      const ImportOptions& options = {});

}  // namespace pleat::importers
