// The schedule families: one table with everything that is known about each. The generators, the
// command line, the recogniser and the documentation all take names and limits from here. The table
// is constant, so any thread may read it.
//
// In the formulas: p ranks, v chunks per rank, M microbatches, g microbatches per group, r a rank;
// t_f, t_b and t_w the forward, backward (input gradient where the order splits it) and weight time
// of one microbatch over a rank's whole share; M_a the activations of one microbatch for that
// share.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "schedule/generators.h"
#include "schedule/schedule.h"

namespace pleat::schedule {

// Over which time idleness is counted: the common window of all ranks, or each rank's own span from
// its first start to its last end.
enum class IdleWindow : std::uint8_t { Common, OwnSpan };
[[nodiscard]] std::string_view toString(IdleWindow window);  // "common", "own span"

// Times of one microbatch over a rank's whole share, in any one unit.
struct ShareTimes {
    double forward = 1;
    double backward = 2;  // input gradient where the order splits it
    double weight = 0;    // only where the order splits it
};

// What theory says of equal stages and messages that take no time.
struct ClosedForms {
    std::string_view idle;  // the formula of `idleTime` as a reader writes it; empty: none is known
    IdleWindow window = IdleWindow::Common;
    // Idle time of a rank in one iteration, in the unit of the times; null without a formula.
    double (*idleTime)(const GeneratorOptions& options, const ShareTimes& times) = nullptr;
    std::string_view peak;  // the formula of `peakChunks`, in M_a
    // Largest number of chunk activations alive at once on a rank: v times that of M_a.
    std::int64_t (*peakChunks)(const GeneratorOptions& options, std::int32_t rank) = nullptr;
};

struct Family {
    std::string_view name;
    std::vector<std::string_view> aliases;  // other projects' names; upper and lower case are alike
    std::int32_t chunks = 0;                // the only number of chunks possible; 0: any
    std::string_view withMoreChunks;        // where `chunks` is 1: the family for more of them
    bool takesGroup = false;
    std::string_view constraint;    // what the sizes have to fulfil, in words; empty: nothing
    std::string_view order;         // on one rank, in words
    std::string_view placement;     // looped, v
    std::int32_t weightCopies = 1;  // of a rank's parameters
    bool splitsBackward = false;    // input and weight gradient apart: activations live until W
    ClosedForms forms;
    std::string_view source;

    // Usage error for sizes that cannot be served; the limits common to all are checked before.
    base::Result<void> (*check)(const GeneratorOptions& options);
    Placement (*place)(const GeneratorOptions& options);
    // The compute actions of one rank.
    std::vector<Action> (*makeOrder)(const GeneratorOptions& options, const Placement& placement,
                                     std::int32_t rank);
};

[[nodiscard]] std::span<const Family> families();
// By name or alias; null when there is none.
[[nodiscard]] const Family* findFamily(std::string_view nameOrAlias);
// "a, b, c or d", for help and messages.
[[nodiscard]] std::string familyNamesInWords();
// The sizes as the family takes them: its own number of chunks and its default group filled in.
[[nodiscard]] GeneratorOptions completed(const Family& family, GeneratorOptions options);

}  // namespace pleat::schedule
