// One rule of a rules file (docs/importing.md): which names it fits and what an event of such a
// name means. Reading a rule and trying it on a name are here; what comes of the events that fit is
// rules.h. Immutable after reading.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "schedule/action.h"
#include "trace/arguments.h"
#include "trace/model.h"

struct pcre2_real_code_8;

namespace pleat::annotate {

// Numbers that a rule may find: in named groups of the pattern, else in the event's arguments.
enum RuleNumber : std::size_t {
    Iteration,
    Stage,
    Chunk,
    Microbatch,
    Bytes,
    Peer,
    Sequence,
    RankNumber,
    DpPlace,
    PpPlace,
    TpPlace
};
inline constexpr std::array<std::string_view, 11> kRuleNumbers = {
    "iteration", "stage", "chunk", "microbatch", "bytes", "peer",
    "sequence",  "rank",  "dp",    "pp",         "tp"};
using RuleNumbers = std::array<std::int64_t, kRuleNumbers.size()>;  // -1: not known

enum class RuleKind : std::uint8_t { Task, Transfer, Phase, Iteration };

// Which side of a range an instant is; None: the rule is for ranges.
enum class RuleEdge : std::uint8_t { None, Begin, End };

// How a stage comes from a chunk and the rank's place in its pipeline (schedule/placement.h).
enum class StageRule : std::uint8_t { Recorded, Looped, VShaped };

struct FreePattern {
    void operator()(pcre2_real_code_8* code) const;
};

struct Rule {
    // What a transfer may be; a batch of two messages in one range is two.
    struct Message {
        trace::Operation operation = trace::Operation::Other;
        std::optional<schedule::ActionKind> action;
    };

    std::string pattern, domain;
    std::unique_ptr<pcre2_real_code_8, FreePattern> code;
    RuleKind kind = RuleKind::Task;
    RuleEdge edge = RuleEdge::None;
    StageRule stageRule = StageRule::Recorded;
    bool counts = false;       // a task may lack its stage and microbatch
    bool rankFromPid = false;  // the process id is the rank
    schedule::ActionKind action = schedule::ActionKind::Forward;  // of a task
    std::vector<Message> messages;                                // of a transfer
    trace::Dimension dimension = trace::Dimension::Other;
    trace::PhaseKind phase = trace::PhaseKind::Optimizer;
    std::vector<RuleNumber> needs;                              // fits only events that say these
    std::map<std::string, std::string, std::less<>> arguments;  // field -> the program's name of it

    // Input error naming what is wrong.
    [[nodiscard]] static base::Result<Rule> read(const nlohmann::json& json);

    // The numbers in the name's groups; nothing where the name does not fit. `tooSlow`: it could
    // not be told within kMostRuleSteps.
    [[nodiscard]] std::optional<RuleNumbers> match(std::string_view name, bool& tooSlow) const;
    // The same with what the arguments say beside; nothing where one that is needed is not known.
    [[nodiscard]] std::optional<RuleNumbers> completed(RuleNumbers numbers,
                                                       const trace::Arguments& arguments) const;
};

inline constexpr std::uint32_t kMostRuleSteps = 200'000;  // of a pattern on one name

}  // namespace pleat::annotate
