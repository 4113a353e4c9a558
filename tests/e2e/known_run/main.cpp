// A pipeline-parallel run that computes nothing: dp x pp processes sleep through a schedule with
// exactly known durations, exchange real messages and say it in NVTX. Whatever is slow is slow on
// purpose, so the right answer of any analysis is known, and a run without the injection shows what
// a prediction should have been. Prints one line of JSON: the mean length of the iterations but the
// first and the last, from begin to begin on rank 0, and by how much a sleep was too long at worst.
//
//   known_run --schedule 1f1b --pp 4 --microbatches 8 --forward 5 --backward 10 --slow stage:1=1.5
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "e2e/known_run/clock.h"
#include "e2e/known_run/plan.h"
#include "e2e/known_run/rank_run.h"
#include "e2e/known_run/wiring.h"

namespace {

using namespace pleat::test::known;

// No run of these lasts that long; one that does waits for itself.
constexpr unsigned kLongestRunSeconds = 60;

[[noreturn]] void runRank(const Plan& plan, const Wiring& wiring, std::int32_t rank) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::alarm(kLongestRunSeconds);
    if (plan.realTime) {
        if (const std::string reason = becomeRealTime(); !reason.empty() && rank == 0)
            std::fprintf(stderr, "known_run: no real-time priority: %s\n", reason.c_str());
    }
    {
        RankRun run(plan, wiring, rank);
        run.run();
        wiring.lateness(rank) = worstLatenessNs();
    }
    std::fflush(nullptr);
    std::exit(0);  // not _exit: what records this process is told at exit
}

int runAll(const Plan& plan) {
    const Wiring wiring(plan);
    for (std::int32_t rank = 0; rank < plan.worldSize(); ++rank) {
        const pid_t child = ::fork();
        if (child < 0) return 1;
        if (child == 0) runRank(plan, wiring, rank);
    }
    int worst = 0, status = 0;
    while (::wait(&status) > 0) {
        if (WIFSIGNALED(status)) worst = 128 + WTERMSIG(status);
        if (WIFEXITED(status) && WEXITSTATUS(status) != 0 && worst < 128)
            worst = WEXITSTATUS(status);
        if (worst >= 128) ::kill(0, SIGTERM);
    }
    if (worst != 0) return worst;
    const std::int64_t count = plan.iterations - 2;
    const std::int64_t length = wiring.begin(0, plan.iterations - 1) - wiring.begin(0, 1);
    std::int64_t lateness = 0;
    for (std::int32_t rank = 0; rank < plan.worldSize(); ++rank)
        lateness = std::max(lateness, wiring.lateness(rank));
    fmt::print("{{\"iteration_ns\": {}, \"worst_lateness_ns\": {}}}\n",
               count > 0 ? length / count : 0, lateness);
    return 0;
}

}  // namespace

int main(int count, char** values) {
    const auto plan = parsePlan(std::vector<std::string>(values + 1, values + count));
    if (!plan) {
        std::fprintf(stderr, "known_run: %s\n", plan.error().message.c_str());
        return 2;
    }
    return runAll(*plan);
}
