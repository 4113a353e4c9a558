// How every TRACE is opened, on the command line and in the viewer: a recording of ours, or files
// of other tools (importers); annotated where that was not done before. Pure but for reading the
// files; callable from any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/progress.h"
#include "base/result.h"
#include "trace/trace.h"

namespace pleat::opening {

struct OpenRequest {
    std::vector<std::filesystem::path> files;  // folders stand for the trace files in them
    // Of files that do not say theirs: the number of the first rank, or of each.
    std::map<std::filesystem::path, std::vector<std::int32_t>> ranks;
    std::string rules;  // JSON file: what names mean (docs/importing.md); empty: none

    // "FILE=N" or "FILE=4,5,6,7"; Usage error for anything else.
    [[nodiscard]] base::Result<void> addRank(std::string_view given);
    // Usage error where `output` is one of the files that would be read, in folders too.
    [[nodiscard]] base::Result<void> mayWriteTo(const std::filesystem::path& output) const;
    // For words: the one file, or "a.json and 7 more".
    [[nodiscard]] std::string name() const;
};

// The ranks of `given` to each of the runs that reads their file, where a command or the viewer
// reads several. Usage error for a file that none reads.
[[nodiscard]] base::Result<void> shareRanks(const OpenRequest& given,
                                            std::span<OpenRequest* const> runs);

struct OpenedTrace {
    trace::Trace trace;
    // The one *.pleat file it came from; empty where it was imported.
    std::filesystem::path database;
    bool finished = true;  // false: the recording is still running or was interrupted
};

// Input or Io error in one line naming the file; Usage error for a rank of a file that is not read;
// Cancelled where `progress` ended it. Progress counts bytes or rows, whatever is read.
[[nodiscard]] base::Result<OpenedTrace> openTrace(const OpenRequest& request,
                                                  const base::Progress& progress = {});

}  // namespace pleat::opening
