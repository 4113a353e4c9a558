// What has to hold whatever the input: checks shared by the targets.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>

#include "base/result.h"
#include "fuzz/fuzz_targets.h"
#include "trace/trace.h"

namespace pleat::fuzz {

struct BrokenProperty : std::logic_error {
    using std::logic_error::logic_error;
};

inline void require(bool holds, const std::string& property) {
    if (!holds) throw BrokenProperty(property);
}

// One line for a person.
void checkError(const base::Error& error);

// The invariants of trace.h, of events and of annotations.
void checkTrace(const trace::Trace& trace);

// Everything the command line does with an annotated trace: describes, analyses, renders and
// exports it; parts must sum, JSON must parse. With `stored` it is also written and loaded again.
void useTrace(const trace::Trace& annotated, bool stored);

// The same with a trace as it was read.
void annotateAndUse(const trace::Trace& events, bool stored);

// A place in memory for a file of this name, the same at every call.
std::filesystem::path scratchFile(const std::string& name);
// With what SQLite may have left beside it, so that no input sees the one before.
void removeDatabase(const std::filesystem::path& file);
void writeScratch(const std::filesystem::path& file, Bytes bytes);

}  // namespace pleat::fuzz
