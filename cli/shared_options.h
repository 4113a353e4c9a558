// The options that several commands take. Each is registered here and nowhere else, so that it has
// one name, one meaning, one sentence of help and one check in all commands. Values go straight
// into the request that the library wants; a wrong one ends parsing with CLI::ValidationError.
// The references must stay valid until the command has run.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/iterations.h"
#include "opening/open_trace.h"

namespace pleat::cli {

// TRACE…, and how to read it.
void addTrace(CLI::App& command, opening::OpenRequest& request);
// --rank and --rules, where a command names its traces in its own way.
void addReadingOptions(CLI::App& command, opening::OpenRequest& request);

enum class Format : std::uint8_t { Text, Json, Markdown, Chrome, Csv };
// `format` holds the default.
void addFormat(CLI::App& command, Format& format, const std::vector<Format>& known);

// Where the answer goes; "" and "-" are standard output.
void addOutput(CLI::App& command, std::string& output);
// The *.pleat file to make, which standard output cannot be; required where `output` is empty.
void addNewTrace(CLI::App& command, std::string& output);

// "A:B" or "A"; several, repeated or with commas between them.
void addIterations(CLI::App& command, std::vector<analysis::IterationRange>& iterations);
// The same of the second trace, for a command that reads two.
void addNewIterations(CLI::App& command, std::vector<analysis::IterationRange>& iterations);

}  // namespace pleat::cli
