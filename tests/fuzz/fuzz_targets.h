// What the fuzzers run, one function per target: the bytes of a file in, and everything Pleat would
// do with it. Each returns for any bytes whatever, or throws BrokenProperty. The replay test runs
// the same functions on the files of corpus/. One thread at a time.
#pragma once

#include <span>
#include <string_view>

namespace pleat::fuzz {

using Bytes = std::span<const unsigned char>;

void traceEvents(Bytes bytes);   // a file of trace events: JSON, plain, gzip or zstd
void databaseFile(Bytes bytes);  // a *.pleat file or an Nsight export, damaged at will
void databaseRows(Bytes bytes);  // instructions to change the rows of a sound one
void scheduleText(Bytes bytes);  // a schedule CSV
void names(Bytes bytes);         // names and arguments of events, and rules for them

struct Target {
    std::string_view name;  // of its program, its dictionary and its corpus
    void (*run)(Bytes bytes);
};
inline constexpr Target kTargets[] = {{"trace_events", traceEvents},
                                      {"database_file", databaseFile},
                                      {"database_rows", databaseRows},
                                      {"schedule_text", scheduleText},
                                      {"names", names}};

}  // namespace pleat::fuzz
