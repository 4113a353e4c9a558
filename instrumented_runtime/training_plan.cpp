#include "instrumented_runtime/training_plan.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "instrumented_runtime/engine.h"
#include "instrumented_runtime/file_text.h"
#include "schedule/generators.h"
#include "schedule/lower.h"
#include "schedule/schedule_csv.h"
#include "schedule/validate.h"

namespace pleat::runtime {
namespace {

base::Error usage(std::string message) { return {base::ErrorCode::Usage, std::move(message)}; }

base::Result<schedule::Schedule> readScheduleFile(const TrainOptions& options) {
    const auto text = readFileOf("--schedule", options.schedule);
    if (!text) return text.error();
    auto read = schedule::readCsv(*text, options.schedule);
    if (!read) return read.error();
    const schedule::Schedule& found = read->schedule;
    if (found.ranks() != options.pp) {
        return usage(fmt::format("schedule {} is for {} pipeline ranks, but --pp is {}",
                                 options.schedule, found.ranks(), options.pp));
    }
    if (options.microbatches.value_or(found.microbatches) != found.microbatches) {
        return usage(fmt::format("schedule {} is for {} microbatches, but --microbatches is {}",
                                 options.schedule, found.microbatches, *options.microbatches));
    }
    const std::int32_t chunks = found.placement.stages() / found.ranks();
    if (options.chunks.value_or(chunks) != chunks) {
        return usage(fmt::format("schedule {} has {} stages per rank, but --chunks is {}",
                                 options.schedule, chunks, *options.chunks));
    }
    return std::move(read->schedule);
}

base::Result<schedule::Schedule> findSchedule(const TrainOptions& options) {
    if (options.schedule.ends_with(".csv")) return readScheduleFile(options);
    return schedule::makeSchedule(
        options.schedule,
        {options.pp, options.microbatches.value_or(TrainOptions::kDefaultMicrobatches),
         options.chunks.value_or(1), options.group});
}

base::Result<void> checkPlacement(const TrainOptions& options, const schedule::Schedule& schedule) {
    const std::int32_t stages = schedule.placement.stages();
    for (std::int32_t rank = 0; rank < schedule.ranks(); ++rank) {
        if (schedule.placement.stagesOf(rank).empty()) {
            return usage(
                fmt::format("schedule {} gives pipeline rank {} no stage", schedule.name, rank));
        }
    }
    if (options.layers % stages != 0) {
        return usage(fmt::format(
            "--layers {} is not divisible by the {} stages of --pp {} with {} per rank; use a "
            "multiple of {}",
            options.layers, stages, options.pp, stages / schedule.ranks(), stages));
    }
    return {};
}

base::Result<void> checkLossLog(const std::string& file) {
    if (file.empty()) return {};
    const bool existed = std::filesystem::exists(file);
    errno = 0;
    if (!std::ofstream(file, std::ios::app)) {
        return usage(
            fmt::format("--loss-log {}: cannot be written: {}", file, std::strerror(errno)));
    }
    std::error_code ignored;  // it was only a trial
    if (!existed) std::filesystem::remove(file, ignored);
    return {};
}

}  // namespace

base::Result<TrainingPlan> makePlan(const TrainOptions& options) {
    auto corpus = Corpus::load(options.dataFile, options.sequence);
    if (!corpus) return corpus.error();
    auto found = findSchedule(options);
    if (!found) return usage(found.error().message);
    if (auto runnable = checkRunnable(*found); !runnable) return usage(runnable.error().message);
    auto lowered = schedule::lower(*found);
    if (!lowered)
        return usage(fmt::format("--schedule {}: {}", options.schedule, lowered.error().message));
    if (auto fits = checkPlacement(options, *lowered); !fits) return fits.error();
    if (auto writable = checkLossLog(options.lossLog); !writable) return writable.error();
    TrainingPlan plan{options, std::move(*corpus), std::move(*lowered),
                      Layout(options.dp, options.pp)};
    plan.options.microbatches = plan.schedule.microbatches;
    plan.options.chunks = plan.schedule.placement.stages() / plan.schedule.ranks();
    return plan;
}

}  // namespace pleat::runtime
