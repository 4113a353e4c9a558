// One rank of a known run: sleeps through its part of the schedule, iteration after iteration,
// carries its messages as the plan's engine does and says all of it in Pleat's NVTX vocabulary.
// Used by one thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "e2e/known_run/lane.h"
#include "e2e/known_run/plan.h"
#include "e2e/known_run/wiring.h"
#include "instrumented_runtime/markers.h"
#include "schedule/action.h"

namespace pleat::test::known {

class RankRun {
  public:
    RankRun(const Plan& plan, const Wiring& wiring, std::int32_t rank);
    void run();

  private:
    using Action = schedule::Action;

    void announce();
    void runIteration();
    void phase(std::string_view name);
    void step(const std::vector<Action>& order, std::size_t position);
    void compute(const std::vector<Action>& order, std::size_t position);
    void finish(const std::vector<Action>& order, std::size_t position);
    void receiveFor(const Action& action);
    void communicate(const std::vector<Action>& order, std::size_t position);
    void reduce(const Action& action);

    // The transfer itself, on the thread that calls.
    void carry(const Action& action, std::int32_t iteration, std::int64_t sequence);
    void carryNext(const Action& action) {
        carry(action, m_iteration, m_sequence.at(channelOf(action).group)++);
    }
    void carrySync(const Action& action, std::int32_t iteration);
    Board::Ticket post(const std::string& lane, const Action& action);

    // In the order of the sequence numbers, though every receive has a thread.
    void takeInTurn(const Channel& channel, std::int64_t sequence);

    [[nodiscard]] const Channel& channelOf(const Action& action) const;
    [[nodiscard]] bool computesAndCommunicatesOnOneThread() const;
    [[nodiscard]] std::string laneOf(const Action& action) const;
    [[nodiscard]] Work workOf(std::string_view operation, const Action& action) const;
    [[nodiscard]] runtime::payload::TransferPayload describe(const Action& action,
                                                             std::int32_t iteration) const;

    const Plan& m_plan;
    const Wiring& m_wiring;
    std::int32_t m_rank, m_dp, m_pp;
    std::int32_t m_iteration = 0;
    std::unique_ptr<runtime::Markers> m_markers = runtime::makeNvtxMarkers();
    Board m_board;
    std::map<std::string, std::unique_ptr<Lane>> m_lanes;
    std::map<std::string, Board::Ticket> m_arriving;  // by the receive's text
    std::vector<Board::Ticket> m_batch;
    // By process group; each is counted on one thread alone, so its place is made ahead.
    std::map<std::int32_t, std::int64_t> m_sequence;
    std::mutex m_turnMutex;  // guards m_taken
    std::condition_variable m_turn;
    std::map<std::int32_t, std::int64_t> m_taken;  // by process group
};

}  // namespace pleat::test::known
