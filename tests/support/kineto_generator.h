// Made traces of PyTorch's profiler: text as Kineto writes it (line breaks, other members before
// and behind the events, microseconds with three decimals beside baseTimeNanoseconds), and what a
// reader has to find in it. Kineto's order: first what hosts did, thread by thread, then calls and
// device work as the driver handed them over, so not by time. The same options give the same text.
// Memory depends on iterationsPerBlock, not on the length.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/interval_set.h"

namespace pleat::testing {

struct KinetoOptions {
    std::int32_t ranks = 2;  // an even number: every two form a process group
    std::int32_t iterations = 3;
    std::int32_t operationsPerIteration = 64;  // about nine objects each
    // Host events of so many iterations precede their device work; 0: of all.
    std::int32_t iterationsPerBlock = 0;
    std::uint64_t seed = 1;
};

// One member's part of a collective. Parts with equal group and sequence belong together.
struct KinetoCollective {
    std::string group;
    std::int64_t sequence = 0;
    friend auto operator<=>(const KinetoCollective&, const KinetoCollective&) = default;
};

// What one rank's file holds.
struct KinetoTruth {
    std::size_t objects = 0;                      // in the list: events, flow ends, names
    std::map<std::string, std::size_t> events;    // by category
    std::map<std::string, base::Duration> time;   // their durations, summed
    std::map<std::int64_t, std::size_t> kernels;  // by stream
    std::size_t launches = 0;                     // calls with device work
    std::size_t iterations = 0;                   // ProfilerStep ranges
    std::vector<KinetoCollective> collectives;    // sorted
    base::Interval span;                          // Unix time
};

// Writes the file of one rank.
KinetoTruth writeKinetoTrace(const KinetoOptions& options, std::int32_t rank, std::ostream& out);

// How many collectives every member of their group took part in.
[[nodiscard]] std::size_t matchedCollectives(
    const std::vector<std::vector<KinetoCollective>>& ofRanks);

}  // namespace pleat::testing
