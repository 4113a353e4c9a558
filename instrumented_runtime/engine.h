// Runs one rank's part of any valid schedule: its list of actions, iteration after iteration.
// Compute runs on the calling thread in the list's order. The receives of an iteration are posted
// when it begins, in order, to the threads of their links; sends and gradient syncs are posted when
// their place in the list comes, to threads of their own. So compute waits only for a message it
// needs, and a chunk's gradient sync runs under the chunks after it. A hop between two stages of
// this rank hands the buffer over. Used by one thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "base/result.h"
#include "instrumented_runtime/layout.h"
#include "instrumented_runtime/markers.h"
#include "instrumented_runtime/stage.h"
#include "instrumented_runtime/transfer_thread.h"
#include "instrumented_runtime/transport.h"
#include "schedule/schedule.h"

namespace pleat::runtime {

// Unsupported error, one line, when the schedule holds actions the engine cannot run (I, W,
// OVERLAP_F_B).
[[nodiscard]] base::Result<void> checkRunnable(const schedule::Schedule& schedule);

class Engine {
  public:
    struct Setup {
        schedule::Schedule schedule;  // validated and lowered
        Layout layout{1, 1};
        std::int32_t rank = 0;
        bool tiedHead = false;
        LinkLimit limit;
        std::vector<std::unique_ptr<Stage>> stages;  // by chunk, ascending
    };
    // Joins this rank's groups; every rank of the run must be doing the same.
    static base::Result<std::unique_ptr<Engine>> create(Setup setup, Transport& transport,
                                                        Markers& markers);

    // One pass over the list: all microbatches forward and backward, and all gradients summed over
    // replicas and tied copies. After an error the engine must not be used or destroyed: its
    // threads may be stuck with a peer that is gone, so the process has to end.
    [[nodiscard]] base::Result<void> run(std::int32_t iteration);

    [[nodiscard]] std::vector<std::unique_ptr<Stage>>& stages() { return m_setup.stages; }

  private:
    struct Step {
        schedule::Action action;
        MarkerName name = nullptr;
        std::int32_t chunk = 0;
        TransferThread* thread = nullptr;  // of a transfer
    };
    using LinkKey =
        std::tuple<GroupKind, std::int32_t, std::int32_t>;     // kind, pp of sender, pp of receiver
    using MessageKey = std::pair<std::int32_t, std::int32_t>;  // stage that uses it, microbatch
    // Messages on their way to (or waiting for) the forward or backward that uses them.
    struct Inbox {
        std::map<MessageKey, TransferHandle> arriving;  // from another rank
        std::map<MessageKey, Buffer> local;             // from another stage of this rank
    };

    Engine(Setup setup, Markers& markers);
    [[nodiscard]] base::Result<void> joinGroups(Transport& transport);
    void buildSteps();
    [[nodiscard]] Step makeStep(const schedule::Action& action);
    [[nodiscard]] TransferThread* linkOf(const schedule::Action& action);
    void postReceives(std::int32_t iteration);
    [[nodiscard]] base::Result<void> runSteps(std::int32_t iteration);
    [[nodiscard]] base::Result<void> runStep(const Step& step, std::int32_t iteration);
    [[nodiscard]] base::Result<void> compute(const Step& step, std::int32_t iteration);
    [[nodiscard]] base::Result<Buffer> takeMessage(Inbox& inbox, MessageKey key);
    void handOver(const schedule::Action& action, Buffer result);
    void postSend(const Step& step, std::int32_t iteration);
    void postSync(const Step& step, std::int32_t iteration);
    [[nodiscard]] base::Result<void> waitForPending();
    [[nodiscard]] base::Result<void> syncTied(std::int32_t iteration);
    [[nodiscard]] std::int32_t rankOf(std::int32_t stage) const {
        return m_setup.schedule.placement.rankOf(stage);
    }

    Setup m_setup;
    Coordinates m_at;
    Markers& m_markers;
    TransferBoard m_board;
    std::map<LinkKey, TransferThread*> m_links;
    TransferThread* m_dataParallel = nullptr;
    TransferThread* m_tied = nullptr;
    std::vector<Step> m_steps;
    Inbox m_activations, m_gradients;
    std::map<MessageKey, Buffer> m_forwardResults,
        m_backwardResults;                  // until sent; by the stage that made them
    std::vector<TransferHandle> m_pending;  // sends and syncs of this iteration
    std::vector<std::unique_ptr<TransferThread>> m_threads;  // last: they use m_board
};

}  // namespace pleat::runtime
