// pleat record: runs a command with the injected library in every process of its tree and writes
// what they mark into a
// *.pleat file. The command's behaviour and exit status are its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "base/result.h"

namespace pleat::collector {

struct RecordOptions {
    std::filesystem::path output;
    std::vector<std::string> command;  // argv of the program; not empty
    std::filesystem::path
        injectedLibrary;  // libpleat_inject.so; empty: beside this program (../lib, ../lib/pleat)
    std::vector<std::string> domains;  // record only these NVTX domains; empty: all
    bool nvtx = true;
    std::chrono::duration<double> delay{0};  // start recording this long after the command started
    std::optional<std::chrono::duration<double>>
        duration;                              // stop recording (not the command) after this long
    std::optional<std::int64_t> maximumBytes;  // stop recording when the file reaches this size
    std::chrono::milliseconds flushInterval{100};  // how often rows are committed
};

struct RecordOutcome {
    int exitStatus =
        0;  // the command's; 126/127 when it could not be started; 128+signal when killed
    bool started = true;            // the command; where it was not, no file is left
    std::int64_t events = 0;        // in the file
    std::int64_t processes = 0;     // that loaded the injected library
    base::Diagnostics diagnostics;  // also stored in the file
};

// An error only where nothing was run, and nothing is left then: the output cannot be made, the
// injected library is missing. Everything that fails once the command runs, exceptions too, is a
// diagnostic, and the command goes on.
[[nodiscard]] base::Result<RecordOutcome> record(const RecordOptions& options);

}  // namespace pleat::collector
