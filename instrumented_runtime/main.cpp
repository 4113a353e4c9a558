// pleat-train: either one rank of a run that another program started, or the launcher of its own
// ranks.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <variant>

#include "base/exceptions.h"
#include "base/say.h"
#include "instrumented_runtime/environment.h"
#include "instrumented_runtime/launcher.h"
#include "instrumented_runtime/options.h"
#include "instrumented_runtime/trainer.h"
#include "instrumented_runtime/training_plan.h"

namespace {

using namespace pleat;

constexpr int kUsageStatus = 2;
constexpr int kUnusableStatus = 3;

void say(std::string_view line) { base::say(fmt::format("pleat-train: {}", line)); }

int trainAsRank(const runtime::TrainingPlan& plan, const runtime::RankEnvironment& environment) {
    const auto trained = runtime::trainRank(plan, environment);
    if (trained) return 0;
    if (trained.error().code == base::ErrorCode::Usage) {
        say(trained.error().message);
        return kUsageStatus;
    }
    say(fmt::format("rank {}: {}", environment.rank, trained.error().message));
    // No return from main: its clean-up would wait for threads that are stuck with the rank that is
    // gone.
    std::fflush(nullptr);
    std::_Exit(trained.error().code == base::ErrorCode::Io ? runtime::kPeerLostStatus
                                                           : kUnusableStatus);
}

int launch(const runtime::TrainingPlan& plan, int count, char** arguments) {
    if (plan.layout.worldSize() == 1) return trainAsRank(plan, {});
    const runtime::LaunchRequest request{
        "/proc/self/exe", {arguments, arguments + count}, plan.layout.worldSize()};
    const auto status = runtime::launchRanks(request, say);
    if (!status) {
        say(status.error().message);
        return kUnusableStatus;
    }
    return *status;
}

int run(int count, char** arguments) {
    const auto parsed = runtime::parseOptions(count, arguments);
    if (parsed && std::holds_alternative<runtime::HelpText>(*parsed)) {
        fmt::print("{}", std::get<runtime::HelpText>(*parsed).text);
        return 0;
    }
    if (!parsed) {
        say(parsed.error().message);
        return kUsageStatus;
    }
    const auto plan = runtime::makePlan(std::get<runtime::TrainOptions>(*parsed));
    if (!plan) {
        say(plan.error().message);
        return plan.error().code == base::ErrorCode::Usage ? kUsageStatus : kUnusableStatus;
    }
    const auto environment = runtime::readEnvironment(runtime::processVariables());
    if (!environment) {
        say(environment.error().message);
        return kUsageStatus;
    }
    if (*environment) return trainAsRank(*plan, **environment);
    return launch(*plan, count, arguments);
}

}  // namespace

int main(int count, char** arguments) {
    int status = kUnusableStatus;
    const base::Result<void> done = base::contained([&] { status = run(count, arguments); });
    if (!done) base::say(done.error().within("pleat-train").message);
    return status;
}
