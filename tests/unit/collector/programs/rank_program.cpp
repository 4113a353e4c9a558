// One rank of a pipeline whose stages do nothing but sleep: two iterations of one forward and one
// backward of the stage that RANK names, in Pleat's vocabulary. It does not say its rank itself.
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "instrumented_runtime/markers.h"

int main() {
    using namespace pleat::runtime;
    const char* number = std::getenv("RANK");
    const int stage = number == nullptr ? 0 : std::atoi(number);
    const auto markers = makeNvtxMarkers();
    const auto action = [&](int iteration, const char* kind) {
        const std::string name = std::to_string(stage) + kind + "0";
        markers->pushTask(markers->taskName(name), {iteration, stage, 0, 0});
        usleep(2'000);
        markers->popTask();
    };
    for (int iteration = 0; iteration < 2; ++iteration) {
        markers->pushPhase(markers->taskName(std::string(pleat::schedule::markers::kIteration)),
                           {iteration});
        action(iteration, "F");
        action(iteration, "B");
        markers->popTask();
    }
    return 0;
}
