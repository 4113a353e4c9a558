#include "instrumented_runtime/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <vector>

#include "base/nearest_name.h"
#include "schedule/family.h"

namespace pleat::runtime {
namespace {

constexpr std::int64_t kLargestWorld = 1024;

base::Error usage(std::string message) { return {base::ErrorCode::Usage, std::move(message)}; }

void addModelOptions(CLI::App& app, TrainOptions& options) {
    app.add_option("--data", options.dataFile,
                   "Text file to train on, read as bytes (default: a built-in text)")
        ->type_name("FILE");
    app.add_option("--layers", options.layers, "Transformer blocks; a multiple of pp x chunks")
        ->capture_default_str();
    app.add_option("--hidden", options.hidden, "Width; a multiple of --heads")
        ->capture_default_str();
    app.add_option("--heads", options.heads, "Attention heads")->capture_default_str();
    app.add_option("--sequence", options.sequence, "Bytes per sample")->capture_default_str();
    app.add_option("--microbatches", options.microbatches,
                   "Microbatches per step and replica (default: 4, or the schedule file's)");
    app.add_option("--microbatch-size", options.microbatchSize, "Samples per microbatch")
        ->capture_default_str();
    app.add_option("--steps", options.steps, "Optimizer steps")->capture_default_str();
    app.add_option("--learning-rate", options.learningRate, "Learning rate of Adam")
        ->capture_default_str();
    app.add_option("--seed", options.seed, "Seed of the parameters and of the data order")
        ->capture_default_str();
    app.add_flag("--tied-head", options.tiedHead, "Use the token embedding as the output matrix");
    app.add_option("--loss-log", options.lossLog, "Write step,loss to this CSV file")
        ->type_name("FILE");
}

void addLayoutOptions(CLI::App& app, TrainOptions& options) {
    app.add_option("--dp", options.dp, "Data-parallel replicas")->capture_default_str();
    app.add_option("--pp", options.pp, "Pipeline ranks per replica")->capture_default_str();
    app.add_option("--schedule", options.schedule,
                   schedule::familyNamesInWords() + ", or a schedule CSV")
        ->type_name("NAME|FILE.csv")
        ->capture_default_str();
    app.add_option("--chunks", options.chunks,
                   "Stages per rank (default: 1, or the schedule file's)");
    app.add_option("--group", options.group,
                   "interleaved: microbatches per group (0: as many as --pp)")
        ->capture_default_str();
    app.add_option("--device", options.device, "Device to compute on: cpu")->capture_default_str();
    app.add_option("--link-bandwidth", options.linkBandwidth,
                   "Limit every link to this rate (0: no limit)")
        ->type_name("BYTES/S")
        ->capture_default_str();
    app.add_option("--link-latency", options.linkLatencyNs, "Latency added to every transfer")
        ->type_name("NS")
        ->capture_default_str();
}

base::Error unknownOption(const CLI::App& app, const std::string& given) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options()) names.push_back(option->get_name());
    const std::vector<std::string_view> views(names.begin(), names.end());
    const std::string nearest = base::nearestName(given.substr(0, given.find('=')), views);
    if (nearest.empty())
        return usage(fmt::format("unknown argument '{}'; --help lists the options", given));
    return usage(fmt::format("unknown argument '{}'; did you mean {}?", given, nearest));
}

base::Result<void> checkNumbers(const TrainOptions& options) {
    struct Bound {
        const char* name;
        std::int64_t value, least, most;
    };
    constexpr std::int64_t kLargest = 1 << 20;
    const Bound bounds[] = {
        {"--layers", options.layers, 1, kLargest},
        {"--hidden", options.hidden, 1, kLargest},
        {"--heads", options.heads, 1, kLargest},
        {"--sequence", options.sequence, 1, kLargest},
        {"--microbatches", options.microbatches.value_or(1), 1, kLargest},
        {"--microbatch-size", options.microbatchSize, 1, kLargest},
        {"--steps", options.steps, 1, INT32_MAX},
        {"--dp", options.dp, 1, kLargestWorld},
        {"--pp", options.pp, 1, kLargestWorld},
        {"--chunks", options.chunks.value_or(1), 1, kLargest},
        {"--group", options.group, 0, kLargest},
        {"--seed", options.seed, 0, INT64_MAX},
        {"--link-latency", options.linkLatencyNs, 0, 60'000'000'000},
    };
    for (const Bound& bound : bounds) {
        if (bound.value < bound.least || bound.value > bound.most) {
            return usage(fmt::format("{} must be from {} to {}, not {}", bound.name, bound.least,
                                     bound.most, bound.value));
        }
    }
    if (std::int64_t{options.dp} * options.pp > kLargestWorld) {
        return usage(fmt::format("--dp {} x --pp {} is more than {} processes", options.dp,
                                 options.pp, kLargestWorld));
    }
    if (!std::isfinite(options.linkBandwidth) || options.linkBandwidth < 0) {
        return usage("--link-bandwidth must be a number of bytes per second, 0 or more");
    }
    if (!std::isfinite(options.learningRate) || options.learningRate <= 0) {
        return usage("--learning-rate must be a number above 0");
    }
    return {};
}

base::Result<void> checkCombinations(const TrainOptions& options) {
    if (options.hidden % options.heads != 0) {
        return usage(fmt::format("--hidden {} is not divisible by --heads {}", options.hidden,
                                 options.heads));
    }
    if (options.device != "cpu") {
        return usage(fmt::format("--device {} is not supported; use cpu", options.device));
    }
    return {};
}

constexpr const char* kFooter =
    "Example: pleat-train --dp 2 --pp 2 --schedule folded --chunks 2 --microbatches 8 --steps 10 "
    "--loss-log loss.csv\n"
    "starts four processes on this machine. Under torchrun, mpirun or srun it is one of their "
    "ranks.";

}  // namespace

base::Result<std::variant<TrainOptions, HelpText>> parseOptions(int count,
                                                                const char* const* arguments) {
    TrainOptions options;
    CLI::App app(
        "Trains a byte-level GPT under a pipeline schedule and marks what it does with NVTX "
        "ranges.",
        "pleat-train");
    app.footer(kFooter);
    app.allow_extras();
    addModelOptions(app, options);
    addLayoutOptions(app, options);
    try {
        app.parse(count, arguments);
    } catch (const CLI::CallForHelp&) {
        return std::variant<TrainOptions, HelpText>(HelpText{app.help()});
    } catch (const CLI::ParseError& error) {
        std::string line = error.what();
        std::replace(line.begin(), line.end(), '\n', ' ');
        return usage(line);
    }
    if (!app.remaining().empty()) return unknownOption(app, app.remaining().front());
    if (auto checked = checkNumbers(options); !checked) return checked.error();
    if (auto checked = checkCombinations(options); !checked) return checked.error();
    return std::variant<TrainOptions, HelpText>(options);
}

}  // namespace pleat::runtime
