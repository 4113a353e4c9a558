// The command line of pleat-train (docs/training.md lists it for people). Parsing checks each
// option by itself and those combinations that need no file; training_plan.h checks the rest. No
// process has been started by then.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "base/result.h"

namespace pleat::runtime {

struct TrainOptions {
    std::string dataFile;  // empty: the text built into the program
    std::int32_t layers = 4;
    std::int32_t hidden = 64;
    std::int32_t heads = 4;
    std::int32_t sequence = 64;
    std::optional<std::int32_t>
        microbatches;  // absent: the schedule file's, or kDefaultMicrobatches
    std::int32_t microbatchSize = 2;
    std::int32_t steps = 20;
    std::int32_t dp = 1;
    std::int32_t pp = 1;
    std::string schedule = "1f1b";
    std::optional<std::int32_t> chunks;  // absent: the schedule file's, or 1
    std::int32_t group = 0;              // 0: as many as pipeline ranks
    std::string device = "cpu";
    double linkBandwidth = 0;  // bytes per second; 0: not limited
    std::int64_t linkLatencyNs = 0;
    std::int64_t seed = 1;
    double learningRate = 5e-4;
    bool tiedHead = false;
    std::string lossLog;  // empty: none

    static constexpr std::int32_t kDefaultMicrobatches = 4;
    [[nodiscard]] std::int32_t worldSize() const { return dp * pp; }
};

struct HelpText {
    std::string text;
};

// A usage error is one line that names the option, and for an unknown one the nearest known.
[[nodiscard]] base::Result<std::variant<TrainOptions, HelpText>> parseOptions(
    int count, const char* const* arguments);

}  // namespace pleat::runtime
